"""Initcheck: detects reads of unwritten bytes, as native code that runs beside the kernel."""
