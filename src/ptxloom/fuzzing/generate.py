"""Generates the program of a case: a pure function of the campaign's seed, the case and the vocabulary."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.fuzzing.banks import cells_in
from ptxloom.fuzzing.nodes import Fork, Invoke, Program, Reach, Repeat, Step, Switch
from ptxloom.fuzzing.statements import register, step
from ptxloom.fuzzing.together import together

if TYPE_CHECKING:
    from ptxloom.fuzzing.nodes import Node, Region
    from ptxloom.fuzzing.vocabulary import Vocabulary

A_KERNEL: Final = 32
"""Programs of one kernel: cases from a multiple of it on; either all of them run on clusters, or none."""
_CLUSTERED: Final = 16
"""One of this many kernels runs on clusters."""
_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of programs.

    Attributes:
        least: The fewest statements of a program.
        most: The most; sizes between them are equally likely.
        control: The probability that a statement is a loop, a branch, a switch or a call.
        shared: The probability that a statement involves all threads, where possible.
    """

    least: int = 4
    most: int = 40
    control: float = 0.15
    shared: float = 0.1


def program(seed: int, case: int, words: Vocabulary, shape: Shape) -> Program:
    """The program of a case."""
    clustered = "tensor" in words.engines and Random(f"{seed} kernel {case // A_KERNEL}").randrange(_CLUSTERED) == 0
    chance = Random(f"{seed} {case}")
    writer = _Writer(chance, words, shape, clustered)
    return Program(seed, case, writer.region(chance.randint(shape.least, shape.most), Reach.CTA, 0), clustered)


@dataclass(slots=True)
class _Writer:
    chance: Random
    words: Vocabulary
    shape: Shape
    clustered: bool
    cells: bool = True

    def region(self, size: int, reach: Reach, depth: int) -> Region:
        nodes: list[Node] = []
        left = size
        while left > 0:
            node, spent = self.node(left, reach, depth)
            nodes.append(node)
            left -= spent
        return tuple(nodes)

    def node(self, left: int, reach: Reach, depth: int) -> tuple[Node, int]:
        chance = self.chance
        if left > 1 and depth < _DEPTH and chance.random() < self.shape.control:
            size = chance.randint(1, min(left - 1, 8))
            kind = chance.choice((self.fork, self.repeat, self.repeat, self.switch, self.invoke))
            return kind(size, reach, depth + 1), size + 1
        if reach is Reach.CTA and chance.random() < self.shape.shared:
            return together(chance, self.words, clustered=self.clustered), 1
        return self.step(reach), 1

    def step(self, reach: Reach) -> Step:
        while True:
            found = step(self.chance, self.words, reach)
            if self.cells or not cells_in(found.text):
                return found

    def fork(self, size: int, reach: Reach, depth: int) -> Fork:
        voted = reach >= Reach.WARP and self.chance.random() < 0.3
        inside = Reach.WARP if voted else Reach.LANE
        first = max(1, size // 2)
        bodies = [self.region(first, inside, depth)]
        if size > 1 and self.chance.random() < 0.6:
            bodies.append(self.region(size - first, inside, depth))
        return Fork(register(self.chance, "p"), voted, tuple(bodies), reach >= Reach.WARP and not voted)

    def repeat(self, size: int, reach: Reach, depth: int) -> Repeat:
        if self.chance.random() < 0.6:
            return Repeat(self.chance.randint(1, 5), "", (self.region(size, reach, depth),))
        body = self.region(size, Reach.LANE, depth)
        return Repeat(0, register(self.chance, "w"), (body,), reach >= Reach.WARP)

    def switch(self, size: int, reach: Reach, depth: int) -> Switch:
        arms = 4 if size >= 4 and self.chance.random() < 0.5 else 2
        bodies = tuple(self.region(max(1, size // arms), Reach.LANE, depth) for _ in range(arms))
        return Switch(register(self.chance, "w"), bodies, reach >= Reach.WARP)

    def invoke(self, size: int, reach: Reach, depth: int) -> Invoke:
        chance = self.chance
        given = (register(chance, "w"), register(chance, "d"), register(chance, "f"))
        taken = (register(chance, "w"), register(chance, "d"), register(chance, "f"))
        cells, self.cells = self.cells, False
        body = self.region(size, Reach.LANE, depth)
        self.cells = cells
        return Invoke(given, taken, chance.random() < 0.3, (body,), reach >= Reach.WARP)
