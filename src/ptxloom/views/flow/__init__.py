"""Control-flow graphs as text and as pictures."""
