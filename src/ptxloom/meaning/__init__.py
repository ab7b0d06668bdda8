"""What instructions do: rows of words, which several readers read; standard library only."""
