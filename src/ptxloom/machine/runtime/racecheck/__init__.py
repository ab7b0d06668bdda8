"""Racecheck: finds unordered accesses of a launch, as native code that runs beside the kernel."""
