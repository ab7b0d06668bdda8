"""The sources of results that depend on more than an instruction's operands, and so have no row of words."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final


class Origin(Enum):
    """The source of a result."""

    MEMORY = auto()  # memory at an address
    BEFORE = auto()  # memory before this lane changed it, lane by lane
    LANE = auto()  # another lane's operand
    ELECTED = auto()  # one lane is elected
    MATCHED = auto()  # lanes with equal operands
    WARP = auto()  # all lanes together: each gets the same
    ELSEWHERE = auto()  # a callee, a tensor core, a counter, the stack


ORIGINS: Final[dict[str, Origin]] = {
    "ld": Origin.MEMORY,
    "ldu": Origin.MEMORY,
    "atom": Origin.BEFORE,
    "shfl": Origin.LANE,
    "elect": Origin.ELECTED,
    "match": Origin.MATCHED,
    **dict.fromkeys(("vote", "redux", "activemask", "bar", "barrier"), Origin.WARP),
    **dict.fromkeys(
        (
            *("alloca", "stacksave", "call", "mbarrier", "tcgen05", "clusterlaunchcontrol"),
            *("ldmatrix", "movmatrix", "mma", "wmma", "wgmma", "multimem"),
        ),
        Origin.ELSEWHERE,
    ),
}
"""By opcode; any other result without a row depends on its operands in an unspecified way."""
