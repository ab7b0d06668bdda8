"""What names, numbers and instructions mean: names resolved, sizes, constants, effects and calls worked out once."""
