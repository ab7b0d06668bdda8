"""One module a verb, in the groups of `--help`; each is imported only when it is used."""
