"""Numbers that no list holds: the one is computed by which a literal, a factor or an addend makes the result right.

A trial with another number tells how far the wrong elements move with it; a step of the secant method from there
tells which number they need. If they need different ones, none of them is right.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.suspects.changes import LITERAL, Change, Rewrite, held, of_node, with_operand
from ptxloom.machine.program.mentions import written
from ptxloom.readings.effects import stores, updates_memory
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from ptxloom.diagnosis.suspects.trials import Judged
    from ptxloom.machine.program.model import Op

_STEPS: Final = 8  # of the secant method
_APART: Final = 1 + 1 / 64  # the first other number: as a factor, and beyond 0
_NEARER: Final = 0.8  # by which each step reduces what most elements are off
_MOVED: Final = 0.3  # of the wrong elements move with the number: others may be beyond where a function is flat
_MOST_OF: Final = 0.8  # of these need it on the same side
_SPOILT: Final = 0.1  # of the right elements may be wrong on the way
_LARGEST: Final = 1e38
_DIGITS: Final = 3  # of a number as people write it
_WORD: Final = 32
_RANK: Final = 4  # of a factor or an addend that may be any; a literal is likelier


class Unknown(NamedTuple):
    """A number that is looked for, in instructions of one source line.

    Attributes:
        ops: The instructions.
        word: `literal`, or how the number is joined with their results: `mul` or `add`.
        place: That of the literal among the operands.
        first: The number by which nothing is changed.
    """

    ops: tuple[Op, ...]
    word: str
    place: int
    first: float

    @property
    def is_literal(self) -> bool:
        """Whether it stands in the text."""
        return self.word == "literal"

    def change(self, number: float) -> Change:
        """The change by which the number is another one."""
        bits = int(np.float32(number).view(np.uint32))
        rewrites = tuple((op, self._rewrite(op, bits)) for op in self.ops)
        if self.is_literal:
            what = f"{number:g} in place of {self.first:g}"
            return Change("wrong-constant", what, rewrites, _RANK - 1, bits, LITERAL, entire=True)
        what = f"{'the factor' if self.word == 'mul' else 'the addend'} {number:g}"
        return Change("missing-term", what, rewrites, _RANK, bits, LITERAL, entire=True)

    def _rewrite(self, op: Op, bits: int) -> Rewrite:
        if self.is_literal:
            literal = op.operands[self.place]
            assert isinstance(literal, tree.Float)  # noqa: S101 - `unknowns` has looked
            return with_operand(op, self.place, literal.replace(bits=bits), tree.Name(held(_WORD)))
        name = op.operands[0]
        assert isinstance(name, tree.Name)  # noqa: S101 - `unknowns` has looked
        lines, common = (
            (*of_node(op.node).lines, f"{self.word}.f32 {name.text}, {name.text}, {number};")
            for number in (f"0f{bits:08X}", held(_WORD))
        )
        return Rewrite(lines, shared=common)


def unknowns(ops: Sequence[Op], line_of: Mapping[int, object]) -> list[Unknown]:
    """What is looked for: literals of floats, and one more factor or addend of each result."""
    found: dict[tuple[object, str, int, float], list[Op]] = {}
    for op in ops:
        line = line_of.get(op.site) or op.site, op.spelling
        for word, place, first in _of(op):
            found.setdefault((line, word, place, first), []).append(op)
    return [Unknown(tuple(several), word, place, first) for (_, word, place, first), several in found.items()]


def _of(op: Op) -> Iterator[tuple[str, int, float]]:
    for place, operand in enumerate(op.operands[1:], 1):
        if isinstance(operand, tree.Float) and operand.width == _WORD and np.isfinite(operand.value):
            yield "literal", place, operand.value
    results = written(op)
    if stores(op.node) or updates_memory(op.node) or len(results) != 1 or not isinstance(op.operands[0], tree.Name):
        return
    if results[0].type.name == "f32" and results[0].vector == 1:
        yield "mul", 0, 1.0
        yield "add", 0, 0.0


def solved(
    unknown: Unknown, run: Callable[[Change], Judged], before: Judged, wanted: NDArray[np.float64]
) -> Change | None:
    """The change by which all is right; None if no number does that.

    Args:
        unknown: What is looked for.
        run: A trial.
        before: What the kernel results in.
        wanted: (elements of all compared arrays,) what they must be.
    """
    asked = before.wrong & np.isfinite(before.values) & np.isfinite(wanted)
    if not asked.any():
        return None
    values, wanted = before.values[asked], wanted[asked]
    last, number = unknown.first, unknown.first * _APART or _APART - 1
    off: NDArray[np.float64] | None = None
    for _ in range(_STEPS):
        change = unknown.change(number)
        after = run(change)
        if after.promising:
            rounded = unknown.change(float(f"{number:.{_DIGITS}g}"))
            return rounded if run(rounded).promising else change
        now = after.values[asked]
        if not after.ran or not np.isfinite(now).all() or _spoils(after, before):
            return None
        step = _step(values, now, wanted, off)
        if step is None:
            return None
        off, values = np.abs(wanted - now), now
        last, number = number, number + step * (number - last)
        if not abs(number) < _LARGEST or np.float32(number) == np.float32(last):
            return None
    return None


def _spoils(after: Judged, before: Judged) -> bool:
    broken = np.count_nonzero(after.wrong & ~before.wrong)
    return bool(broken > _SPOILT * np.count_nonzero(~before.wrong))


def _step(
    values: NDArray[np.float64], now: NDArray[np.float64], wanted: NDArray[np.float64], off: NDArray[np.float64] | None
) -> float | None:
    """How much further the number is to go, of the last step; None if the elements do not agree, or come no nearer."""
    moved = now - values
    felt = moved != 0
    if np.count_nonzero(felt) < _MOVED * felt.size:
        return None
    left = np.abs(wanted - now)
    if off is not None and np.median(left[felt]) > _NEARER * np.median(off[felt]):
        return None
    steps = (wanted - now)[felt] / moved[felt]
    step = float(np.median(steps))
    return step if np.count_nonzero(np.sign(steps) == np.sign(step)) >= _MOST_OF * steps.size else None
