"""Two forms of a block: one for usual accesses only, and one that continues from the first unusual access.

In the first form no slow path returns, so LLVM keeps registers in the processor and merges equal checks of several
accesses. The second can be entered before each access: what it needs there is in the slots, except for pointers to
them, which are computed again.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from ptxloom.machine.hot.accesses import warpwide
from ptxloom.machine.hot.code import OUTSIDE, Block, Code

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.hot.accesses import Warpwide

_NAME = re.compile(r"%[\w.]+")
_RESULT = re.compile(r"(%[\w.]+) = ")


class Forms(NamedTuple):
    """Code with two forms of its blocks.

    Attributes:
        code: All of it.
        other: For accesses of the first form, by their results: the label at which the second one continues.
        called: The results of accesses of the second form.
    """

    code: Code
    other: dict[str, str]
    called: frozenset[str]


def two_forms(code: Code, suits: Callable[[Warpwide], bool]) -> Forms:
    """The code with a second form, where possible, of each block that has an access which `suits`."""
    blocks: dict[str, Block] = {}
    other: dict[str, str] = {}
    called: set[str] = set()
    for part, several in groupby(code.blocks.values(), lambda one: one.part):
        own = list(several)
        blocks |= {one.label: one for one in own}
        if part == OUTSIDE:
            continue
        copy = _Copy(own, suits)
        if copy.made():
            blocks |= {one.label: one for one in copy.blocks}
            other |= copy.entries
            called |= copy.called
    return Forms(code._replace(blocks=blocks), other, frozenset(called))


class _Copy:
    """The second form of one block of the program.

    Attributes:
        blocks: It.
        entries: For each access that suits, by its result in the first form, the label before it in this one.
        called: The results of its accesses.
    """

    def __init__(self, own: list[Block], suits: Callable[[Warpwide], bool]) -> None:
        self.blocks: list[Block] = []
        self.entries: dict[str, str] = {}
        self.called: set[str] = set()
        self._own = own
        self._suits = suits
        self._labels = {one.label for one in own}
        self._made = {found[1]: line for one in own for line in one.lines if (found := _RESULT.match(line))}
        self._here: dict[str, str] = {}  # what has been made since the last entry: its name in this form
        self._count = 0
        self._lines: list[str] = []

    def made(self) -> bool:
        """Make the second form; returns False if it is useless or impossible."""
        for one in self._own:
            self._begin(f"{one.label}.again", one)
            for line in one.lines:
                access = warpwide(line)
                if access is not None and self._suits(access):
                    label = f"{access.result[1:]}.again"
                    self._lines.append(f"br label %{label}")
                    self._begin(label, one)
                    self._here.clear()
                    self.entries[access.result] = label
                changed = self._renamed(line)
                if changed is None:
                    return False
                self._lines.append(changed)
                if access is not None:
                    self.called.add(changed.partition(" = ")[0])
        return bool(self.entries)

    def _begin(self, label: str, one: Block) -> None:
        self._lines = []
        self.blocks.append(replace(one, label=label, lines=self._lines))

    def _renamed(self, line: str) -> str | None:
        """A line with the names of this form; None if it needs an unavailable value."""
        if " = phi " in line:
            return None
        result = _RESULT.match(line)
        start = result.end() if result else 0
        names: dict[str, str] = {}
        for name in _NAME.findall(line[start:]):
            if name[1:] in self._labels and f"label {name}" in line:
                names[name] = f"{name}.again"
            elif name in self._made:
                known = self._here.get(name) or self._anew(name)
                if known is None:
                    return None
                names[name] = known
        rest = _NAME.sub(lambda found: names.get(found[0], found[0]), line[start:])
        return f"{self._name(result[1])} = {rest}" if result else rest

    def _anew(self, name: str) -> str | None:
        """Compute a pointer again; None for anything else."""
        line = self._made[name]
        if " = getelementptr " not in line:
            return None
        changed = self._renamed(line)
        if changed is None:
            return None
        self._lines.append(changed)
        return self._here[name]

    def _name(self, name: str) -> str:
        self._count += 1
        self._here[name] = f"{name}.again{self._count}"
        return self._here[name]
