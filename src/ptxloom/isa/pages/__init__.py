"""Pages made from the data: of an instruction, of its syntax and rules, of directives and registers."""
