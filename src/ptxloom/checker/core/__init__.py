"""What every rule stands on: where it looks, what a name means there, what an operand is and what it should be."""
