"""The syntax of the command line and of launch files, parsed without importing the code that does the work."""
