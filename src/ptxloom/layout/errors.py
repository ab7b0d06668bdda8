"""The one way in which layout algebra refuses: there is no answer, and the message says why."""

from __future__ import annotations

from ptxloom.diagnostics import PtxloomError


class LayoutError(PtxloomError):
    """No layout answers the question, or a shape, stride or coordinate is malformed."""
