"""Rules about the paths through a function: divergence of a warp, and code that is never reached."""
