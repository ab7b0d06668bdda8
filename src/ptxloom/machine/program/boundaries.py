"""Where basic blocks start and end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Op


class Boundaries(Protocol):
    """Says which instructions cut the stream of instructions into blocks."""

    def starts(self, op: Op) -> bool:
        """Whether lanes may have to wait before `op`, so that it must be the first of its block."""
        ...

    def ends(self, op: Op) -> bool:
        """Whether `op` may go elsewhere, so that it must be the last of its block."""
        ...
