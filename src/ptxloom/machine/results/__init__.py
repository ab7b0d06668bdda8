"""What a run says of itself: hazards, a profile, a trace, as values."""
