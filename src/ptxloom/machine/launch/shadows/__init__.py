"""What instruments remember of a launch: each makes its own room, which no other module knows."""
