"""From the tree to a program: what may run, and every name, call and parameter given its place."""
