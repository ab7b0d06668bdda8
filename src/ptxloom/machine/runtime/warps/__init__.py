"""Warps and their lanes: scheduling, waiting, exchanges between lanes, calls."""
