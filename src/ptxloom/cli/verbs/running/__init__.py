"""Verbs that run kernels and programs, and look into the run."""
