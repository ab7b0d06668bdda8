"""What instruments remember of a launch: each makes its own room, and nobody else knows of it."""
