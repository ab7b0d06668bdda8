"""Rules about a module as a whole: its head, names, variables, limits and directives."""
