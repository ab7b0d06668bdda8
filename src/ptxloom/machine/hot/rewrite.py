"""Rewrites a kernel's code for LLVM to optimise: registers on the function's stack, usual accesses inline.

A register that only the kernel's own code touches is a slot on the stack: it is read from the warp, if needed, where
the function is entered, and written back wherever it is left. Outside the function nothing changes: a warp may continue
in other code wherever it can stop.

LLVM may draw conclusions from poison, so values stored in slots are frozen, slots start as zeros, and branch conditions
are frozen, too. So an instruction that LLVM leaves undefined can cause only a wrong number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.machine.hot.accesses import Touches, warpwide
from ptxloom.machine.hot.code import OUTSIDE, read
from ptxloom.machine.hot.deferred import Deferred
from ptxloom.machine.hot.forms import two_forms
from ptxloom.machine.hot.homes import homes
from ptxloom.machine.hot.inline import Inline
from ptxloom.machine.hot.liveness import needs
from ptxloom.machine.hot.moves import Moves, slot_name
from ptxloom.machine.hot.nans import Nans
from ptxloom.machine.hot.questions import questions
from ptxloom.machine.hot.slots import slots_of
from ptxloom.machine.runtime.memory import quick_access

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.hot.code import Block
    from ptxloom.machine.hot.facts import Facts
    from ptxloom.machine.hot.forms import Forms
    from ptxloom.machine.hot.homes import Homes
    from ptxloom.machine.hot.slots import Slots
    from ptxloom.machine.program.model import Program

_CONDITION: Final = re.compile(r"(br|switch) (i1|i32) (%[\w.]+)(?=, )")
_STORED: Final = re.compile(r"store (<[^>]*>|\w+) (.+), ptr (%[\w.]+), align")
_ENTERED: Final = re.compile(r"label %B(\d+)")


def hot(ir: str, program: Program, facts: Facts) -> str:
    """The code of a kernel for whole warps, made hot.

    Args:
        ir: As emitted by the machine, with unrolled strips.
        program: Its program.
        facts: Further facts.

    Raises:
        NotHot: It accesses registers in an unsupported way.
    """
    code = read(ir)
    slots = slots_of(code, program.register_bytes)
    placed = homes(code, program, slots, needs(code, program, slots, slots.holding(facts.shared)))
    forms = two_forms(
        code, lambda one: one.is_whole and one.site not in facts.strong and quick_access.has_quick(one.name)
    )
    return _Rewriting(forms, slots, placed, program.register_bytes, facts.strong).text()


class _Rewriting:
    """The function's text: its blocks line by line, between the slots' room and the entries from outside."""

    def __init__(self, forms: Forms, slots: Slots, homes_: Homes, register_bytes: int, strong: frozenset[int]) -> None:
        blocks = forms.code.blocks.values()
        self._code = forms.code
        self._homes = homes_
        self._reader = Touches(register_bytes)
        self._moves = Moves(slots, homes_.through, self._reader.places)
        self._nans = Nans(blocks, forms.other.values())
        self._deferred = Deferred(self._nans, self._moves)
        asks = questions(blocks, register_bytes, forms.other)
        self._inline = Inline(forms, asks, strong, self._moves, self._deferred.edge)

    def text(self) -> str:
        """All of it."""
        lines = [line for block in self._code.blocks.values() for line in self._block(block)]
        entries = [line for number in sorted(self._entered()) for line in self._entry(number)]
        first, *rest = lines
        rooms = [f"{slot_name(n)} = alloca [{one.size} x i8], align 64" for n, one in self._moves.kept(-1)]
        rooms += [f"store {one.type} zeroinitializer, ptr {slot_name(n)}, align 4" for n, one in self._moves.kept(-1)]
        start = self._code.head.rindex("define ")
        before = [*self._code.head[:start].splitlines(), *self._inline.functions]
        declared = dict.fromkeys(line for line in before if line.startswith("declare "))
        defined = [line for line in before if not line.startswith("declare ")]
        head = "\n".join((*declared, *defined, self._code.head[start:]))
        return head + "\n".join((first, *rooms, *rest, *self._deferred.edges, *entries)) + self._code.tail

    def _entered(self) -> set[int]:
        blocks = (block for block in self._code.blocks.values() if block.part == OUTSIDE)
        return {int(number) for block in blocks for number in _ENTERED.findall(block.lines[-1])}

    def _entry(self, number: int) -> Iterator[str]:
        """The entry of the function for a block of the program."""
        yield f"E{number}:"
        yield from self._moves.fill(self._homes.entered[number])
        yield f"br label %B{number}"

    def _block(self, block: Block) -> Iterator[str]:
        yield f"{block.label}:"
        if block.part == OUTSIDE:
            yield from (_ENTERED.sub(r"label %E\1", line) for line in block.lines)
            return
        *lines, last = block.lines
        label = block.label
        if label == f"B{block.part}":
            yield from self._moves.fill(self._homes.again[block.part])
        self._nans.begin(label)
        for line in lines:
            yield from self._deferred.settled(self._nans.seen(line, list(self._reader.of(line))))
            one = warpwide(line)
            if one is None:
                yield from self._line(self._nans.line(line))
            else:
                label = yield from self._inline.access(one, label)
        yield from self._deferred.settled(self._nans.end(last))
        if self._code.leaves(block):
            yield from self._moves.empty(self._homes.left[block.part])
        yield from self._firm(last)

    def _firm(self, last: str) -> Iterator[str]:
        """The branch of a block, with a frozen condition."""
        found = _CONDITION.match(last)
        if found is None:
            yield last
            return
        firm = self._moves.value()
        yield f"{firm} = freeze {found[2]} {found[3]}"
        yield f"{found[1]} {found[2]} {firm}{last[found.end() :]}"

    def _line(self, line: str) -> Iterator[str]:
        """A line, with pointers to slots instead of registers; values stored in slots are frozen."""
        stored = _STORED.match(line)
        if stored is not None:
            at = self._moves.held(stored[3])
            yield from (line,) if at is None else self._stored(line, stored, at)
            return
        name, is_pointer, _ = line.partition(" = getelementptr ")
        at = self._moves.held(name) if is_pointer else None
        yield line if at is None else f"{name} = {self._moves.in_slot(at)}"

    def _stored(self, line: str, stored: re.Match[str], at: int) -> Iterator[str]:
        """A store to a slot, and to its home if that must always be up to date."""
        goes_home = self._moves.goes_home(at)
        if not goes_home:
            line = self._nans.stored(line, at)
            stored = _STORED.match(line) or stored
        firm = stored[2]
        if firm[0] == "%":
            firm = self._moves.value()
            yield f"{firm} = freeze {stored[1]} {stored[2]}"
        yield f"store {stored[1]} {firm}{line[stored.end(2) :]}"
        if goes_home:
            home = self._moves.value()
            yield f"{home} = {self._moves.at_home(at)}"
            yield f"store {stored[1]} {firm}, ptr {home}{line[stored.end(3) :]}"
