"""What a run has to say: hazards, the error that ended it, and its result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ptxloom.diagnostics import PtxloomError
from ptxloom.isa.matrix import MOVES, matrix_move
from ptxloom.machine.runtime import state

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.machine.program import Op, Program

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
    state.UNINITIALISED: "no-mbarrier",
    state.OVERRUN: "mbarrier-overrun",
}


@dataclass(frozen=True, slots=True)
class EventKind:
    """What an event of native code means.

    Attributes:
        tool: Whose finding it is.
        name: Its kind in reports.
        message: A sentence; `{lanes}` stands for its lanes, `{other}` for the lanes in its `other` mask, `{site}` for
            the PTX line of the site in `other`, `{address}` for the address.
        section: The manual's section.
    """

    tool: str
    name: str
    message: str
    section: str = ""


EVENTS: Final = {
    state.DIVERGENT: EventKind(
        "synccheck", "divergent", "an `.aligned` instruction is reached without lanes {other} of the warp", "9.7.13"
    ),
    state.EXITED: EventKind("synccheck", "exited", "lanes {other} have exited and cannot take part", "9.7.13"),
    state.STUCK: EventKind("synccheck", "stuck", "lanes {lanes} wait for lanes {other}, which never come", "9.7.13"),
    state.ABSENT: EventKind("synccheck", "absent", "lanes {lanes} are not in their own member mask", "9.7.13"),
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
        output: What the kernel printed.
    """

    instructions: int
    hazards: tuple[Hazard, ...] = ()
    output: str = ""


def event_hazard(program: Program, event: Any) -> Hazard:
    """The hazard that an event record (a ctypes `Event`) describes."""
    kind = EVENTS[int(event.kind)]
    op = program.ops[int(event.site)]
    lanes, other = _lanes(int(event.mask)), int(event.other)
    line = program.ops[other].line if other < len(program.ops) else 0
    message = kind.message.format(
        lanes=_ranges(lanes), other=_ranges(_lanes(other)), site=line, address=f"{int(event.address):#x}"
    )
    x, y, z = (int(n) for n in event.block[:3])
    address, count = int(event.address), int(event.count)
    return Hazard(kind.tool, kind.name, message, op.line, op.text, (x, y, z), int(event.warp), lanes, address, count)


def joined(hazards: Iterable[Hazard]) -> tuple[Hazard, ...]:
    """Hazards in the order of the text; those of one kind at one instruction made one, their counts added."""
    found: dict[tuple[str, str, int, str], Hazard] = {}
    for hazard in hazards:
        key = (hazard.tool, hazard.kind, hazard.line, hazard.message)
        seen = found.get(key)
        found[key] = hazard if seen is None else replace(seen, count=seen.count + hazard.count)
    return tuple(sorted(found.values(), key=lambda h: (h.line, h.tool, h.kind)))


def _lanes(mask: int) -> tuple[int, ...]:
    return tuple(lane for lane in range(32) if mask >> lane & 1)


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
        "no-mbarrier": f"there is no initialised mbarrier at {space} address {values['address']:#x}",
        "mbarrier-overrun": f"the mbarrier at {space} address {values['address']:#x} expects fewer arrivals",
        "invalid": "the instruction was given what it cannot take",
    }[kind]
    if values["size"] and op.opcode in MOVES:
        message = f"{message}: {_row(op, values['lane'])}"
    lanes = (values["lane"],) if values["size"] else _lanes(values["mask"])
    return Hazard("memcheck", kind, message, op.line, op.text, (x, y, z), values["warp"], lanes, values["address"])


def _row(op: Op, lane: int) -> str:
    """The row of a matrix move that a lane names."""
    move = matrix_move(f"{op.opcode}.{'.'.join(op.qualifiers)}")
    if lane >= move.address_lanes:
        return "no row is there, but this target wants an address from every lane"
    matrix, row = divmod(lane, move.rows)
    return f"row {row} of matrix {matrix}"


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
