"""Racecheck: which accesses of a launch are in no order, as native code that runs beside the kernel."""
