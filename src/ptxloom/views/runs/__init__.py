"""What a run did: its results, hazards, profile and traces."""
