"""What kernels and their parameters are called in the program that PTX was compiled from.

PTX has mangled names and numbered parameters. `demangling` reads the first as C++, `resolving` finds the function that
a user means by a name, `parameters` reads the names of parameters in the source.
"""
