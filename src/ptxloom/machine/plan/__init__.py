"""From the tree to a program: legality, and places for all names, calls and parameters."""
