"""What a run has to say: hazards, the error that ended it, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptxloom.diagnostics import PtxloomError
from ptxloom.machine.runtime import state

if TYPE_CHECKING:
    from ptxloom.machine.program import Program

_SPACES = {
    state.GENERIC: "generic",
    state.GLOBAL: "global",
    state.SHARED: "shared",
    state.LOCAL: "local",
    state.CONST: "const",
    state.PARAM: "param",
}
_KINDS = {
    state.OUT_OF_BOUNDS: "out-of-bounds",
    state.MISALIGNED: "misaligned",
    state.READ_ONLY: "read-only",
    state.WRONG_SPACE: "wrong-space",
    state.TRAP: "trap",
    state.STACK_OVERFLOW: "stack-overflow",
    state.BAD_CALL: "bad-call",
    state.ASSERTION: "assertion",
    state.INVALID: "invalid",
}


@dataclass(frozen=True, slots=True)
class Hazard:
    """Something a kernel did that it must not do, in compute-sanitizer's words.

    Attributes:
        tool: memcheck, racecheck, initcheck or synccheck.
        kind: Such as `out-of-bounds`.
        message: One sentence, lower case, no full stop.
        line: The PTX line.
        instruction: The instruction as PTX.
        block: The CTA's (x, y, z).
        warp: The warp within the CTA.
        lanes: The lanes that ran the instruction.
        address: The address of the first lane at fault; 0 where there is none.
        count: How often it was seen.
    """

    tool: str
    kind: str
    message: str
    line: int
    instruction: str
    block: tuple[int, int, int]
    warp: int
    lanes: tuple[int, ...]
    address: int = 0
    count: int = 1

    def __str__(self) -> str:
        where = f"block {self.block}, warp {self.warp}, lane{'s' if len(self.lanes) > 1 else ''} {_ranges(self.lanes)}"
        return f"{self.tool}: {self.message}\n  at line {self.line}: {self.instruction}\n  {where}"


class LaunchError(PtxloomError):
    """A kernel ended as it would on hardware: after an illegal access, a trap, a deadlock, or at the time limit.

    Attributes:
        hazards: What went wrong.
    """

    def __init__(self, message: str, hazards: tuple[Hazard, ...] = ()) -> None:
        super().__init__("\n".join([message, *map(str, hazards)]))
        self.hazards = hazards


@dataclass(frozen=True, slots=True)
class LaunchResult:
    """What a launch gives back besides what it wrote into the arrays.

    Attributes:
        instructions: Warp instructions executed.
        hazards: What the kernel did wrong and yet went on.
    """

    instructions: int
    hazards: tuple[Hazard, ...] = ()


def fault_hazard(program: Program, fault: Any) -> Hazard:
    """The hazard that a worker's fault record (a ctypes `Fault`) describes."""
    names = ("kind", "site", "mask", "lane", "address", "space", "size", "write", "warp")
    values: dict[str, int] = {name: int(getattr(fault, name)) for name in names}
    op = program.ops[values["site"]]
    kind = _KINDS[values["kind"]]
    x, y, z = (int(n) for n in fault.block)
    verb = "write" if values["write"] else "read"
    space = _SPACES.get(values["space"], "")
    access = f"{verb} of {values['size']} bytes at {space} address {values['address']:#x}"
    message = {
        "out-of-bounds": f"{access} is out of bounds",
        "misaligned": f"{access} is misaligned",
        "read-only": f"{access}, which is read-only",
        "wrong-space": f"{access}, which lies in another state space",
        "trap": "the kernel executed trap",
        "stack-overflow": "a lane's stack is full",
        "bad-call": f"a call to {values['address']:#x}, which is no function",
        "assertion": "an assertion of the kernel failed",
        "invalid": "the instruction was given what it cannot take",
    }[kind]
    lanes = (values["lane"],) if values["size"] else tuple(n for n in range(32) if values["mask"] >> n & 1)
    return Hazard("memcheck", kind, message, op.line, op.text, (x, y, z), values["warp"], lanes, values["address"])


def _ranges(numbers: tuple[int, ...]) -> str:
    """`0-3, 7` for (0, 1, 2, 3, 7)."""
    parts: list[str] = []
    start = None
    for at, number in enumerate(numbers):
        if start is None:
            start = number
        if at + 1 == len(numbers) or numbers[at + 1] != number + 1:
            parts.append(str(number) if number == start else f"{start}-{number}")
            start = None
    return ", ".join(parts)
