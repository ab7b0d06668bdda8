"""One module a verb; each is imported only when it is asked for."""
