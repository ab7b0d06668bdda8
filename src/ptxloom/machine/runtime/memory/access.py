"""Loads and stores of a whole warp as LLVM functions: fast where addresses are contiguous or equal, checked always.

`ptxloom_load_global_32x2` reads two 32-bit values a lane. All take (warp, addresses, offset, mask, space, site) and an
array of 32 values for each part; they return 0, or 1 after a fault. `global` serves generic and const addresses too.
The fast paths treat each half of the warp separately, because tiles 16 wide are common. In local memory, where every
lane has its own, no two lanes are neighbours.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.machine.runtime.memory.lane_access import move_lanes

if TYPE_CHECKING:
    from collections.abc import Callable

NAME: Final = re.compile(r"ptxloom_(load|store)_(global|shared|local)_(\d+)x(\d+)")


def access_name(verb: str, window: str, bits: int, parts: int) -> str:
    """The name of the function for `parts` values of `bits` bits a lane."""
    return f"ptxloom_{verb}_{window}_{bits}x{parts}"


def access_function(name: str) -> tuple[str, tuple[Callable[..., object], ...]]:
    """The IR of a warp-wide access and the native functions it calls.

    The usual case is a separate function, which needs few registers and saves no others; it jumps to the rest.
    """
    from ptxloom.machine.native.ir import Emitter  # noqa: PLC0415 - a launch of kept code asks for names alone
    from ptxloom.machine.runtime.memory.access_code import PARTS, AccessCode, parameters  # noqa: PLC0415 - likewise

    found = NAME.fullmatch(name)
    assert found is not None
    heads = parameters(int(found[4]))
    declarations: dict[str, str] = {}
    functions: list[str] = []
    for part in PARTS[found[2]]:
        access = AccessCode(found[1] == "store", found[2], int(found[3]), int(found[4]), Emitter())
        part.build(access)
        declarations |= access.e.declarations
        functions.append("\n".join((part.head.format(name=name, parameters=heads), "{", *access.e.lines, "}")))
    ir = "\n".join((*declarations.values(), *functions))
    return ir, (move_lanes,)
