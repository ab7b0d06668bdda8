"""What the values of a function are asked by: where they are written or meet, and what is made of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from ptxloom.flow.registers import Merge, Nothing, Write


@dataclass(frozen=True, slots=True)
class Outlived:
    """A value made inside loops and looked at outside them: lanes may have left with different ones."""

    origin: Origin
    loops: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BranchCondition:
    """What decides where control goes at a block's end."""

    block: int


Origin: TypeAlias = "Write | Merge | Nothing"
FlowNode: TypeAlias = "Write | Merge | Nothing | Outlived | BranchCondition"
