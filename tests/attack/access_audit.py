"""The rule of the sandbox, proved on what kernels access memory by: an address is gone through only behind its check.

Loads and stores of a warp, and what looks at them for racecheck and initcheck, are made as LLVM IR. Every address that
they go through is traced back to where its parts come from. Parts that the kernel computed (what lies in its registers,
its memory and the scratch, and numbers passed on from there) need a branch before the access, on all ways to it, that
asks about them: a comparison with a bound, or a function that judges addresses. What is small by its making (`x & 31`,
the number of a bit) needs none. That the bound is the right one is for `test_bounds` to show.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from attack.ir_text import Function, Instruction, split, typed
from ptxloom.machine.native.language import record
from ptxloom.machine.runtime.state import Warp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NAME: Final = re.compile(r"%[\w.$-]+")
_LABELS: Final = re.compile(r"label (%[\w.$-]+)")
#: Functions that say whether an address is inside, or give a host address that is, and 0 if there is none.
GATES: Final = frozenset({"ptxloom_within", "ptxloom_place_rows"})
_STARTS: Final = (
    f"getelementptr i8, ptr %w, i64 {record(Warp).offsets['starts']}"  # where the lanes' addresses are kept
)
_JUMPS: Final = ("br", "switch")
_BOUNDS: Final = re.compile(r"icmp (u|s)(lt|le|gt|ge) ")
_SMALL: Final = 1 << 12
#: Which operands of an intrinsic say what it touches.
_INTRINSICS: Final = {
    "llvm.memcpy": (0, 1, 2),
    "llvm.memset": (0, 2),
    "llvm.prefetch": (0,),
    "llvm.masked.load": (0,),
    "llvm.masked.gather": (0,),
    "llvm.masked.store": (1,),
    "llvm.masked.scatter": (1,),
}


def called(one: Instruction) -> str:
    """The function that an instruction calls; "" if it calls none."""
    if one.opcode != "call" or "@" not in one.text:
        return ""
    return one.text.split("@", 1)[1].split("(", 1)[0]


def arguments(one: Instruction) -> list[str]:
    """The operands of a call."""
    found = one.text.split("@", 1)[1].split("(", 1)[1].rsplit(")", 1)[0]
    return [typed(part)[1] for part in split(found) if part]


@dataclass(slots=False)
class Body:
    """A function as a graph: who makes each value, and which branches stand before each block."""

    function: Function
    made: dict[str, Instruction] = field(init=False)

    def __post_init__(self) -> None:
        self.made = {one.result: one for one in self.function.code if one.result}

    @cached_property
    def parameters(self) -> dict[str, int]:
        """The place of each parameter."""
        return {name: n for n, (_, name) in enumerate(self.function.parameters)}

    @cached_property
    def goes(self) -> dict[str, list[str]]:
        """By block, where it goes on; only of blocks that are ever reached."""
        ends = {o.block: [t[1:] for t in _LABELS.findall(o.text)] for o in self.function.code if o.opcode in _JUMPS}
        first = self.function.code[0].block
        reached, waiting = {first}, [first]
        while waiting:
            for target in ends.get(waiting.pop(), ()):
                if target not in reached:
                    reached.add(target)
                    waiting.append(target)
        return {block: ends.get(block, []) for block in ends if block in reached} | {first: ends.get(first, [])}

    @cached_property
    def before(self) -> dict[str, set[str]]:
        """By block, those that stand before it on every way, and itself."""
        blocks = [b for b in dict.fromkeys(one.block for one in self.function.code) if self.is_reached(b)]
        comes: dict[str, list[str]] = {b: [] for b in blocks}
        for block, targets in self.goes.items():
            for target in targets:
                comes[target].append(block)
        found = {b: set(blocks) for b in blocks} | {blocks[0]: {blocks[0]}}
        changed = True
        while changed:
            changed = False
            for b in blocks[1:]:
                new = found[comes[b][0]].intersection(*(found[p] for p in comes[b])) | {b}
                changed = changed or new != found[b]
                found[b] = new
        return found

    def is_reached(self, block: str) -> bool:
        """Whether a block is ever run."""
        return block in self._reached

    @cached_property
    def _reached(self) -> set[str]:
        return {self.function.code[0].block, *(t for targets in self.goes.values() for t in targets)}

    @cached_property
    def conditions(self) -> dict[str, str]:
        """By block, the condition of the branch at its end."""
        return {
            one.block: typed(split(one.text.removeprefix("br "))[0])[1]
            for one in self.function.code
            if one.opcode == "br" and one.text.startswith("br i1")
        }

    def sources(self, name: str, seen: set[str] | None = None) -> Iterator[str]:
        """The values that a value is computed from, itself included, up to loads, calls and parameters."""
        seen = set() if seen is None else seen
        if name in seen or name[:1] != "%":
            return
        seen.add(name)
        yield name
        one = self.made.get(name)
        if one is None or one.opcode in {"load", "alloca", "atomicrmw", "cmpxchg"} or is_small(one):
            return
        if one.opcode == "call":
            if not called(one).startswith("llvm."):
                return
            inner = arguments(one)
        elif one.opcode == "phi":
            inner = [pair.strip("[] ").split(", ")[0] for pair in re.findall(r"\[[^\]]*\]", one.text)]
        else:
            inner = [n for n in _NAME.findall(one.text) if n in self.made or n in self.parameters]
        for other in inner:
            yield from self.sources(other, seen)

    def asks(self, condition: str) -> set[str]:
        """The values that a condition is about: through comparisons, and the arguments of the functions that judge."""
        waiting, seen = [condition], set[str]()
        while waiting:
            here = waiting.pop()
            if here in seen or here[:1] != "%":
                continue
            seen.add(here)
            one = self.made.get(here)
            if one is None or one.opcode in {"load", "alloca"}:
                continue
            if one.opcode == "call":
                if called(one) in GATES or called(one).startswith("llvm."):
                    waiting += arguments(one)
            else:
                waiting += [n for n in _NAME.findall(one.text) if n in self.made or n in self.parameters]
        return seen


def is_bound(one: Instruction) -> bool:
    """Whether an instruction compares with the end of something: with no constant, or with a small one."""
    if not _BOUNDS.match(one.text):
        return False
    limit = one.text.rsplit(" ", 1)[1].rstrip(")")
    return not limit.lstrip("-").isdecimal() or 0 <= int(limit) < _SMALL


def is_small(one: Instruction) -> bool:
    """Whether a value is below a small number by its making."""
    if one.opcode == "call":
        return called(one).startswith(("llvm.cttz", "llvm.ctlz", "llvm.ctpop"))
    if one.opcode in {"and", "urem"}:
        last = one.text.rsplit(" ", 1)[1].rstrip(")")
        return last.isdecimal() and int(last) < _SMALL
    return one.opcode in {"icmp", "fcmp"}


class Audit:
    """Some functions, and what of their parameters is the kernel's own.

    Attributes:
        forged: (function, parameter) whose value the kernel has a hand in.
        data: (function, parameter) that points to what the kernel computed.
    """

    def __init__(self, code: Iterable[Function], forged: set[tuple[str, int]], data: set[tuple[str, int]]) -> None:
        self.bodies = [Body(f) for f in code]
        self.forged = forged
        self.data = data
        self.errors: list[str] = []

    def run(self) -> list[str]:
        """What breaks the rule."""
        for body in self.bodies:
            self.judge(body)
        return self.errors

    def is_forged(self, body: Body, name: str) -> bool:
        """Whether a source is a value of the kernel: a number passed on, or what lies in its registers or memory."""
        place = body.parameters.get(name)
        if place is not None:
            return (body.function.name, place) in self.forged
        one = body.made.get(name)
        if one is None or is_small(one):
            return False
        if one.opcode in {"load", "atomicrmw", "cmpxchg"}:
            return self.holds_data(body, typed(split(one.text.split(" ", 1)[1])[1])[1])
        return False

    def holds_data(self, body: Body, pointer: str) -> bool:
        """Whether a pointer leads to what the kernel computed: its lanes' places, or host memory that a gate gave."""
        for source in body.sources(pointer):
            place = body.parameters.get(source)
            if place is not None and (body.function.name, place) in self.data:
                return True
            one = body.made.get(source)
            if one is not None and one.text.startswith(_STARTS):
                return True
        return False

    def unguarded(self, body: Body, name: str, block: str) -> list[str]:
        """The sources of a value that are the kernel's and that no branch before a block has asked about."""
        loose = [s for s in body.sources(name) if self.is_forged(body, s)]
        if not loose:
            return []
        for above in body.before[block] - {block}:
            condition = body.conditions.get(above)
            if condition is not None and self.is_check(body, condition):
                asked = body.asks(condition)
                loose = [s for s in loose if asked.isdisjoint((s, *self.lane_of(body, s)))]
        return loose

    def lane_of(self, body: Body, name: str) -> set[str]:
        """Of a value that is loaded for one lane, the mask that the lane was picked out of."""
        one = body.made.get(name)
        if one is None or one.opcode != "load":
            return set()
        masks = set[str]()
        for source in body.sources(typed(split(one.text)[1])[1]):
            made = body.made.get(source)
            if made is not None and called(made).startswith("llvm.cttz"):
                masks.add(arguments(made)[0])
        return masks

    def is_check(self, body: Body, condition: str) -> bool:
        """Whether a condition comes from a bound."""
        made = (body.made.get(source) for source in body.asks(condition))
        return any(one is not None and (called(one) in GATES or is_bound(one)) for one in made)

    def judge(self, body: Body) -> None:
        """Every access, copy and jump of a function."""
        for one in body.function.code:
            for pointer in touched(one) if body.is_reached(one.block) else ():
                loose = self.unguarded(body, pointer, one.block)
                if loose:
                    where = f"{one.result} {one.text[:120]}"
                    self.errors.append(f"{body.function.name}: {', '.join(loose)} unchecked in {where}")


def touched(one: Instruction) -> list[str]:
    """The pointers (and lengths) of what an instruction touches."""
    operands = split(one.text.split(" ", 1)[1]) if " " in one.text else []
    match one.opcode:
        case "load":
            return [typed(operands[1].removeprefix("atomic "))[1]]
        case "store":
            return [typed(operands[1])[1]]
        case "atomicrmw" | "cmpxchg":
            return _NAME.findall(operands[0])[:1]
        case "call":
            name = called(one)
            for start, places in _INTRINSICS.items():
                if name.startswith(start):
                    given = arguments(one)
                    return [given[p] for p in places if given[p][:1] == "%"]
            return []
        case _:
            return []
