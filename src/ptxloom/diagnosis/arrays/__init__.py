"""How arrays are read: which axes are m, n and k, what they are made of, and which parts products cover."""
