"""Loads and stores: from addresses of lanes to checked ones of the host; whole warps, single lanes, matrices."""
