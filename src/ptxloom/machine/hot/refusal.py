"""Why a kernel has no hot code."""

from __future__ import annotations


class NotHot(Exception):  # noqa: N818 - it is no error
    """Hot code cannot be made of a kernel; its text says why."""
