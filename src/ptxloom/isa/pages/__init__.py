"""Pages made from the data: an instruction, its syntax and rules, directives, registers."""
