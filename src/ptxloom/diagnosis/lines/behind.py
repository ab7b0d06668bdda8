"""Explains an illegal access: the comparisons that should have prevented it, and where its index is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnosis.lines.addresses import loads_behind, made_of, writers_of
from ptxloom.diagnosis.lines.guards import guards_of
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.readings.computed import adds, multiplies_operands, resizes, scales
from ptxloom.solver import nearest
from ptxloom.source import title
from ptxloom.syntax.places import Place, place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.machine.program.model import Op, Program
    from ptxloom.source import Span

_MOST: Final = 4  # places of each kind


@dataclass(frozen=True, slots=True)
class Behind:
    """Places as reports name them, `kernel.cu:13`, the nearest first, none of them the access's own.

    Attributes:
        place: The access's own place.
        guards: Comparisons that decide whether it is made.
        index: Additions, multiplications and loads that make its address.
    """

    place: str
    guards: tuple[str, ...]
    index: tuple[str, ...]

    def __str__(self) -> str:
        made = f"the index at {self.place} is computed at {_listed(self.index)}" if self.index else ""
        decided = f"the access is guarded at {_listed(self.guards)}" if self.guards else ""
        return "; ".join(filter(None, (made, decided)))


def behind(span: Span, program: Program) -> Behind | None:
    """The guards and index computations of the access at a place of the PTX; None if there are none."""
    op = next((op for op in program.ops if op.node.start == span.start), None)
    if op is None:
        return None
    own = place_of(op.node.span)
    makers = (*filter(_is_arithmetic, made_of(op, program)), *loads_behind(op, program))
    tests = (test for guard in guards_of(op, program) for test in _tests(guard, program))
    found = Behind(_named(own), _places(tests, own), _places(makers, own))
    return found if found.guards or found.index else None


def _tests(guard: Op, program: Program) -> Iterator[Op]:
    """The comparisons that a predicate is computed from, the nearest first."""

    def made_of(one: Op) -> list[Op]:
        read = {op for _, name in names_read(one) for op in writers_of(one, name.text, program)}
        return sorted(read, key=lambda op: -op.site) if one.has("pred") else []

    return (one for one in nearest([guard], made_of) if not one.has("pred"))


def _is_arithmetic(maker: Op) -> bool:
    node = maker.node
    return not resizes(node) and (adds(node) or scales(node) or multiplies_operands(node))


def _places(ops: Iterable[Op], own: Place) -> tuple[str, ...]:
    """Lines in the file of the access: compilers leave some generated instructions without a line."""
    places = (place_of(op.node.span) for op in ops)
    found = dict.fromkeys(_named(place) for place in places if place.file == own.file and place.line != own.line)
    return tuple(found)[:_MOST]


def _named(place: Place) -> str:
    return f"{title(place.file)}:{place.line}"


def _listed(places: tuple[str, ...]) -> str:
    *ahead, last = places
    return f"{', '.join(ahead)} and {last}" if ahead else last
