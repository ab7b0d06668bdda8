"""What all rules use: the context, the meaning of names, what an operand is and what it should be."""
