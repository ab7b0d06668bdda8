"""Warps and their lanes: who runs next, who waits, what lanes exchange, where calls return to."""
