"""Results that others measured on hardware that we do not have: each file says whose they are, and its licence."""
