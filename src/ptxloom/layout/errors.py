"""The error of layout algebra: there is no result, and the message explains why."""

from __future__ import annotations

from ptxloom.diagnostics import PtxloomError


class LayoutError(PtxloomError):
    """No layout fulfils the request, or a shape, stride or coordinate is malformed.

    Example:
        >>> from ptxloom.layout import Layout
        >>> Layout((2, 3), (1,))
        Traceback (most recent call last):
        ptxloom.layout.errors.LayoutError: shape (2, 3) and stride (1,) are not congruent: 2 modes against 1
    """
