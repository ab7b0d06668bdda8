"""From what is written to a form of the instruction, or to the reason why there is none."""
