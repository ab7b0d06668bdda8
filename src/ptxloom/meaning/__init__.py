"""The meanings of instructions: rows of words, interpreted by several readers; standard library only."""
