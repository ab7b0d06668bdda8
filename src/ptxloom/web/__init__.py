"""The explorer: one HTML file that opens from disk and computes for itself, with no server and no network."""

from ptxloom.web.assembly import page

__all__ = ["page"]
