"""The boundaries of basic blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Op


class Boundaries(Protocol):
    """Decides which instructions start or end basic blocks."""

    def starts(self, op: Op) -> bool:
        """Whether lanes may have to wait before `op`, so that it must be the first of its block."""
        ...

    def ends(self, op: Op) -> bool:
        """Whether `op` may branch, so that it must be the last of its block."""
        ...
