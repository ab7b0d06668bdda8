"""The results of a run: hazards, a profile, a trace, as values."""
