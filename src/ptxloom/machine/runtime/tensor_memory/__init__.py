"""What tensor memory needs of native code: who has it, what moves to and from it, and what is multiplied into it."""
