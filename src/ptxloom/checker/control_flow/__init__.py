"""Rules about the paths through a function: what comes together in a warp, and what is never reached."""
