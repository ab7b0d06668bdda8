"""The memory of instruments during a launch: each allocates its own, which no other module knows."""
