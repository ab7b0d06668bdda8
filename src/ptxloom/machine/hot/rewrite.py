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
from ptxloom.machine.hot.forms import two_forms
from ptxloom.machine.hot.homes import homes
from ptxloom.machine.hot.liveness import needs
from ptxloom.machine.hot.nans import Nans
from ptxloom.machine.hot.questions import questions
from ptxloom.machine.hot.slots import slots_of
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.memory import quick_access

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from ptxloom.machine.hot.accesses import Warpwide
    from ptxloom.machine.hot.code import Block
    from ptxloom.machine.hot.facts import Facts
    from ptxloom.machine.hot.forms import Forms
    from ptxloom.machine.hot.homes import Homes
    from ptxloom.machine.hot.slots import Slot, Slots
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
    def __init__(self, forms: Forms, slots: Slots, homes_: Homes, register_bytes: int, strong: frozenset[int]) -> None:
        self._code = forms.code
        self._forms = forms
        self._slots = slots
        self._homes = homes_
        self._reader = Touches(register_bytes)
        self._strong = strong
        self._asks = questions(forms.code.blocks.values(), register_bytes, forms.other)
        self._nans = Nans(forms.code.blocks.values(), forms.other.values())
        self._edges: list[str] = []  # blocks between an access and where the second form goes on
        self._quick: dict[str, str] = {}
        self._count = 0

    def text(self) -> str:
        """All of it."""
        lines = [line for block in self._code.blocks.values() for line in self._block(block)]
        entries = [line for number in sorted(self._entered()) for line in self._entry(number)]
        first, *rest = lines
        rooms = [f"{_name(n)} = alloca [{one.size} x i8], align 64" for n, one in self._kept(-1)]
        rooms += [f"store {one.type} zeroinitializer, ptr {_name(n)}, align 4" for n, one in self._kept(-1)]
        start = self._code.head.rindex("define ")
        made = [line for text in self._quick.values() for line in text.splitlines()]
        before = [*self._code.head[:start].splitlines(), *made]
        declared = dict.fromkeys(line for line in before if line.startswith("declare "))
        defined = [line for line in before if not line.startswith("declare ")]
        head = "\n".join((*declared, *defined, self._code.head[start:]))
        return head + "\n".join((first, *rooms, *rest, *self._edges, *entries)) + self._code.tail

    def _kept(self, chosen: int) -> Iterator[tuple[int, Slot]]:
        """The slots of a set that are on the stack."""
        return ((n, one) for n, one in enumerate(self._slots.slots) if chosen >> n & 1 and not one.apart)

    def _entered(self) -> set[int]:
        blocks = (block for block in self._code.blocks.values() if block.part == OUTSIDE)
        return {int(number) for block in blocks for number in _ENTERED.findall(block.lines[-1])}

    def _entry(self, number: int) -> Iterator[str]:
        """The entry of the function for a block of the program."""
        yield f"E{number}:"
        for n, slot in self._kept(self._homes.entered[number]):
            yield from self._moved(slot, (self._home(slot), _name(n)))
        yield f"br label %B{number}"

    def _block(self, block: Block) -> Iterator[str]:
        yield f"{block.label}:"
        if block.part == OUTSIDE:
            yield from (_ENTERED.sub(r"label %E\1", line) for line in block.lines)
            return
        *lines, last = block.lines
        label = block.label
        if label == f"B{block.part}":
            for n, slot in self._kept(self._homes.again[block.part]):
                yield from self._moved(slot, (self._home(slot), _name(n)))
        self._nans.begin(label)
        for line in lines:
            for at in self._nans.seen(line, list(self._reader.of(line))):
                yield from self._settled(at)
            one = warpwide(line)
            if one is None:
                yield from self._line(self._nans.line(line))
            else:
                label = yield from self._access(one, label)
        for at in self._nans.end(last):
            yield from self._settled(at)
        if self._code.leaves(block):
            for n, slot in self._kept(self._homes.left[block.part]):
                yield from self._moved(slot, (_name(n), self._home(slot)))
        yield from self._firm(last)

    def _settled(self, at: int) -> Iterator[str]:
        """Canonicalise the contents of a slot at a place of the file."""
        number, place = self._slots.number(at), self._value()
        yield f"{place} = getelementptr i8, ptr {_name(number)}, i64 {at - self._slots.slots[number].at}"
        yield from self._nans.settled(at, place)

    def _edge(self, other: str) -> str:
        """The label that enters the second form after deferred canonicalisations."""
        several = self._nans.open()
        if not several:
            return other
        label = self._fresh()
        lines = [line for at in several for line in self._settled(at)]
        self._edges += [f"{label}:", *lines, f"br label %{other}"]
        return label

    def _firm(self, last: str) -> Iterator[str]:
        """The branch of a block, with a frozen condition."""
        found = _CONDITION.match(last)
        if found is None:
            yield last
            return
        firm = self._value()
        yield f"{firm} = freeze {found[2]} {found[3]}"
        yield f"{found[1]} {found[2]} {firm}{last[found.end() :]}"

    def _line(self, line: str) -> Iterator[str]:
        """A line, with pointers to slots instead of registers; values stored in slots are frozen."""
        name = line.partition(" = ")[0]
        stored = _STORED.match(line)
        if stored is not None and self._slots.holds(self._reader.places.get(stored[3], -1)):
            at = self._reader.places[stored[3]]
            if not self._goes_home(at):
                line = self._nans.stored(line, at)
                stored = _STORED.match(line) or stored
            firm = stored[2]
            if firm[0] == "%":
                firm = self._value()
                yield f"{firm} = freeze {stored[1]} {stored[2]}"
            yield f"store {stored[1]} {firm}{line[stored.end(2) :]}"
            if self._goes_home(at):
                home = self._value()
                yield f"{home} = getelementptr i8, ptr %w, i64 {state.REGISTERS + at}"
                yield f"store {stored[1]} {firm}, ptr {home}{line[stored.end(3) :]}"
        elif " = getelementptr " in line and self._slots.holds(self._reader.places.get(name, -1)):
            at = self._reader.places[name]
            number = self._slots.number(at)
            yield f"{name} = getelementptr i8, ptr {_name(number)}, i64 {at - self._slots.slots[number].at}"
        else:
            yield line

    def _access(self, one: Warpwide, label: str) -> Generator[str, None, str]:
        """An access: inline if it is usual, else a call with its registers in the warp."""
        done, seldom = self._fresh(), self._fresh()
        if not quick_access.has_quick(one.name) or one.site in self._strong or one.result in self._forms.called:
            yield from self._called(one, one.result)
            return label
        other = self._forms.other.get(one.result)
        yield from self._tried(one, done, seldom if other is None else self._edge(other))
        if other is not None:
            yield f"{done}:"
            yield f"{one.result} = add i32 0, 0"
        else:
            failed = f"{one.result}.failed"
            yield f"{seldom}:"
            yield from self._called(one, failed)
            yield f"br label %{done}"
            yield f"{done}:"
            yield f"{one.result} = phi i32 [ 0, %{label} ], [ {failed}, %{seldom} ]"
        yield from self._loaded_home(one)
        return done

    def _tried(self, one: Warpwide, done: str, other: str) -> Iterator[str]:
        """The inline path of an access; jumps to `other` if it is unusual."""
        quick, self._quick[one.name] = quick_access.quick_access(one.name)
        if one.result in self._asks:
            yield from self._ask(one, self._asks[one.result], other)
        tried = f"{one.result}.quick"
        yield f"{tried} = call i32 @{quick}({', '.join(one.arguments)})"
        yield f"{tried}.good = icmp eq i32 {tried}, 0"
        yield f"br i1 {tried}.good, label %{done}, label %{other}"

    def _called(self, one: Warpwide, failed: str) -> Iterator[str]:
        """The call of an access, with its registers in the warp meanwhile; `failed` is its result."""
        places = self._reader.places
        given, into = list(one.arguments), list[tuple[str, str, str]]()
        for number, (place, argument) in enumerate(zip(one.places, (1, *range(6, len(given))), strict=True)):
            at = places.get(place, -1)
            if not self._slots.holds(at):
                continue
            slot = self._slots.slots[self._slots.number(at)]
            home = f"{one.result}.home{number}"
            yield f"{home} = getelementptr i8, ptr %w, i64 {state.REGISTERS + at}"
            given[argument] = f"ptr {home}"
            type_ = _row(slot, one.sizes[number])
            if not self._goes_home(at) and (not number or one.stores or not one.is_whole):
                yield from self._moved(slot, (place, home), type_)
            if number and not one.stores:
                into.append((home, place, type_))
        yield f"{failed} = call i32 @{one.name}({', '.join(given)})"
        for home, place, type_ in into:
            yield from self._moved(None, (home, place), type_)

    def _loaded_home(self, one: Warpwide) -> Iterator[str]:
        """After an inline load, write its result home if the home must always be up to date."""
        for place, size in zip(one.places[1:], one.sizes[1:], strict=True):
            at = self._reader.places.get(place, -1)
            if not one.stores and self._slots.holds(at) and self._goes_home(at):
                slot = self._slots.slots[self._slots.number(at)]
                yield from self._moved(slot, (place, str(at)), _row(slot, size))

    def _ask(self, one: Warpwide, offset: int, other: str) -> Iterator[str]:
        """Check several loads at once; if they are unusual, continue in the second form."""
        reach, self._quick[f"{one.name} reach"] = quick_access.reach_of(one.name)
        asked, on = f"{one.result}.reach", self._fresh()
        given = (*one.arguments[:2], f"i64 {offset}", *one.arguments[3:6])
        yield f"{asked} = call i32 @{reach}({', '.join(given)})"
        yield f"{asked}.good = icmp eq i32 {asked}, 0"
        yield f"br i1 {asked}.good, label %{on}, label %{other}"
        yield f"{on}:"

    def _goes_home(self, at: int) -> bool:
        return bool(self._homes.through >> self._slots.number(at) & 1)

    def _home(self, slot: Slot) -> str:
        return f"{slot.at}"

    def _moved(self, slot: Slot | None, way: tuple[str, str], type_: str = "") -> Iterator[str]:
        """Move a slot's contents to or from its home, or between two pointers."""
        named: list[str] = []
        for end in way:
            if end[0] == "%":
                named.append(end)
            else:
                named.append(self._value())
                yield f"{named[-1]} = getelementptr i8, ptr %w, i64 {state.REGISTERS + int(end)}"
        if not type_:
            assert slot is not None
            type_ = slot.type
        value = self._value()
        firm = self._value()
        yield f"{value} = load {type_}, ptr {named[0]}, align 4"
        yield f"{firm} = freeze {type_} {value}"
        yield f"store {type_} {firm}, ptr {named[1]}, align 4"

    def _value(self) -> str:
        return f"%{self._fresh()}"

    def _fresh(self) -> str:
        self._count += 1
        return f"hot{self._count}"


def _name(number: int) -> str:
    return f"%slot{number}"


def _row(slot: Slot, size: int) -> str:
    """The type as which a number of bytes of a slot is moved."""
    if slot.size == size:
        return slot.type
    return f"<{size // 4} x i32>" if size % 4 == 0 else f"<{size} x i8>"
