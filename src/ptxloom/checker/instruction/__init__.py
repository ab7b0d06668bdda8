"""Rules about one instruction: its opcode, qualifiers, availability and operands."""
