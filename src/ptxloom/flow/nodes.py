"""The keys of a function's values: where they are written or meet, and values derived from these."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from ptxloom.flow.registers import Merge, Nothing, Write


@dataclass(frozen=True, slots=True)
class Outlived:
    """A value computed inside loops and used outside them: lanes may have left with different ones."""

    origin: Origin
    loops: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BranchCondition:
    """The condition that decides where control goes at a block's end."""

    block: int


Origin: TypeAlias = "Write | Merge | Nothing"
FlowNode: TypeAlias = "Write | Merge | Nothing | Outlived | BranchCondition"
