"""Runs a grid: limits, the state of workers and CTAs in memory, Python's services for a running kernel."""
