"""Initcheck: what is read before it was written, as native code that runs beside the kernel."""
