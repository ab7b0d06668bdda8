"""Makes NaNs canonical only where their bits can be observed: arithmetic does not depend on them.

PTX arithmetic returns one canonical NaN, so each result is compared with itself and replaced. Operands of arithmetic
whose result is canonicalised anyway may keep the processor's NaN. So may slots that nothing else reads: they are
canonicalised before such a read, and where a slow path begins.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.float_formats import FLOAT_FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ptxloom.machine.hot.accesses import RegisterTouch
    from ptxloom.machine.hot.code import Block

_NAME: Final = re.compile(r"%[\w.]+")
_RESULT: Final = re.compile(r"(%[\w.]+) = ")
_FLOATS: Final = r"<\d+ x float>"
_ARITHMETIC: Final = re.compile(
    rf"(%[\w.]+) = (?:f(?:add|sub|mul|div) {_FLOATS} |call {_FLOATS} @llvm\.(?:fma|sqrt)\.v\d+f32\().*$"
)
_UNORDERED: Final = re.compile(rf"(%[\w.]+) = fcmp uno {_FLOATS} (%[\w.]+), (%[\w.]+)$")
_CHOSEN: Final = re.compile(rf"(%[\w.]+) = select (<\d+ x i1>) (%[\w.]+), ({_FLOATS}) (%[\w.]+), {_FLOATS} (%[\w.]+)$")
_LOAD: Final = re.compile(rf"(%[\w.]+) = load ({_FLOATS}), ptr (%[\w.]+), align \d+$")
_STORE: Final = re.compile(rf"store ({_FLOATS}) (%[\w.]+), ptr (%[\w.]+)(, align \d+)$")
_CONSTANT: Final = re.compile(r" = bitcast <\d+ x i32> splat \(i32 (-?\d+)\) to <\d+ x float>$")
_INFINITY: Final = FLOAT_FORMATS["f32"].infinity
_WITHIN: Final = re.compile(r"br (?:label %([\w.]+)|i1 %[\w.]+, label %fault, label %([\w.]+))$")


class Canonical(NamedTuple):
    """A result with the canonical NaN in place of others.

    Attributes:
        plain: The result as the processor left it.
        type: Its type.
        nan: The expression after ` = ` that makes the canonical NaN.
    """

    plain: str
    type: str
    nan: str


class Nans:
    """Tracks which canonicalisations of a block are deferred.

    Attributes:
        canonical: Names of results that are canonical.
    """

    def __init__(self, blocks: Iterable[Block], entered: Iterable[str]) -> None:
        """Read the blocks of a kernel, whose names are unique; those in `entered` have entries from elsewhere."""
        several = list(blocks)
        lines = [line for block in several for line in block.lines]
        self.canonical = _canonical(lines)
        plains = {one.plain for one in self.canonical.values()}
        asked: dict[str, list[str]] = {}
        for line in lines:
            result = _RESULT.match(line)
            for name in _NAME.findall(line[result.end() if result else 0 :]):
                asked.setdefault(name, []).append(line)
        found = (one for one in map(_ARITHMETIC.match, lines) if one)
        #: Arithmetic whose result is only canonicalised.
        self._blind = {
            one[1]
            for one in found
            if one[1] in plains and all(_UNORDERED.match(line) or _CHOSEN.match(line) for line in asked[one[1]])
        }
        self._unseen = {name for name, users in asked.items() if all(map(self._is_blind, users))}
        ways = Counter([*entered, *(label for block in several for label in block.goes)])
        self._single = {label for label, times in ways.items() if times == 1}
        self._count = 0
        self._known: dict[str, dict[int, Canonical]] = {}  # where blocks begin that are reached from one alone
        self._open: dict[int, Canonical] = {}  # by places in the file
        self._put_off: dict[int, Canonical] = {}  # what was last

    def _is_blind(self, line: str) -> bool:
        found = _ARITHMETIC.match(line)
        return found is not None and found[1] in self._blind

    def line(self, line: str) -> str:
        """The line, with uncanonical operands where their bits cannot be observed."""
        if not self._is_blind(line):
            return line
        start = line.index(" = ")
        return line[:start] + _NAME.sub(self._plain, line[start:])

    def _plain(self, name: re.Match[str]) -> str:
        one = self.canonical.get(name[0])
        return name[0] if one is None else one.plain

    def stored(self, line: str, at: int) -> str:
        """A store to a slot, deferring the canonicalisation if possible."""
        found = _STORE.match(line)
        one = self.canonical.get(found[2]) if found else None
        if found is None or one is None:
            return line
        self._open[at] = self._put_off[at] = one
        return f"store {found[1]} {one.plain}, ptr {found[3]}{found[4]}"

    def seen(self, line: str, touches: Sequence[RegisterTouch]) -> list[int]:
        """The places in the file that must be canonical before a line; they count as canonical from there on."""
        loaded = _LOAD.match(line)
        now: list[int] = []
        for at, one in list(self._open.items()):
            size = _size(one.type)
            hits = [t for t in touches if t.at < at + size and at < t.at + t.size]
            if not hits:
                continue
            whole = all((t.at, t.size) == (at, size) for t in hits)
            if whole and loaded is not None and loaded[2] == one.type and loaded[1] in self._unseen:
                continue
            if not (whole and all(t.writes for t in hits)):
                now.append(at)
            del self._open[at]
        return now

    def begin(self, label: str) -> None:
        """Enter a block."""
        self._open = self._known.pop(label, {})

    def end(self, last: str) -> list[int]:
        """Leave a block; the places that must be canonical before."""
        found = _WITHIN.match(last)
        following = (found[1] or found[2]) if found else ""
        if following in self._single:
            self._known[following] = self._open
            return []
        return list(self._open)

    def open(self) -> list[int]:
        """The places that are not canonical now."""
        return list(self._open)

    def settled(self, at: int, place: str) -> Iterator[str]:
        """Canonicalise a place of the file, if that was deferred; `place` points to it."""
        one = self._put_off[at]
        self._count += 1
        value, nan, asked, made = (f"%nan{self._count}.{part}" for part in "vnam")
        yield f"{value} = load {one.type}, ptr {place}, align 4"
        yield f"{nan} = {one.nan}"
        yield f"{asked} = fcmp uno {one.type} {value}, {value}"
        yield f"{made} = select {one.type.replace('float', 'i1')} {asked}, {one.type} {nan}, {one.type} {value}"
        yield f"store {one.type} {made}, ptr {place}, align 4"


def _canonical(lines: Sequence[str]) -> dict[str, Canonical]:
    made = {one[1]: line for line in lines if (one := _RESULT.match(line))}
    compared = {one[1]: one[2] for one in map(_UNORDERED.match, lines) if one and one[2] == one[3]}
    results: dict[str, Canonical] = {}
    for one in map(_CHOSEN.match, lines):
        if one and compared.get(one[3]) == one[6] and _is_nan(made.get(one[5], "")):
            results[one[1]] = Canonical(one[6], one[4], made[one[5]].partition(" = ")[2])
    return results


def _is_nan(line: str) -> bool:
    found = _CONSTANT.search(line)
    return found is not None and int(found[1]) & 0x7FFFFFFF > _INFINITY


def _size(type_: str) -> int:
    return 4 * int(type_[1:].partition(" ")[0])
