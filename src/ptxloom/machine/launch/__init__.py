"""Running a grid: its limits, the state of workers and CTAs in memory, what Python does for a kernel that runs."""
