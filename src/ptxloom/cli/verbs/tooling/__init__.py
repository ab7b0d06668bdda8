"""Verbs for editors and scripts, and the state of the installation."""
