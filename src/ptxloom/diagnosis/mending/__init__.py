"""Repairs that are changes of the PTX: constants of addresses, vectors of matrix moves, XORs of swizzles."""
