"""Verbs that run kernels and programs, and inspect the run."""
