"""What of a kernel matters most when two of them are compared, and how often both have it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from ptxloom.difference.model import COMPUTES, CONTROL, HEAVY, Count
from ptxloom.survey import class_of
from ptxloom.syntax.tree import Instruction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ptxloom.difference.lines import Line
    from ptxloom.survey import FunctionSurvey

_SPILLS: Final = ("local stores", "local loads")
_SYNCHRONISATION: Final = "synchronisation and communication"
_FIRST: Final = (
    *_SPILLS,
    *(f"{space} {kind}" for space in ("global", "shared", "generic") for kind in ("loads", "stores", "atomics")),
    "asynchronous copies",
    "matrix",
    _SYNCHRONISATION,
    "texture and surface",
    "control flow",
)
"""Classes of instructions, the most telling about a kernel first."""
_LIGHT: Final = frozenset(("control flow",))


def weight_of(line: Line) -> int:
    """How much it matters that a line differs."""
    if not isinstance(line.node, Instruction):
        return CONTROL
    kind = class_of(line.node)
    if kind in _LIGHT:
        return CONTROL
    return HEAVY if kind in _FIRST else COMPUTES


def counted(a: Sequence[Line], b: Sequence[Line]) -> tuple[Count, ...]:
    """What both have a different number of: classes, and under those that matter the instructions themselves."""
    in_a, in_b = _by_class(a), _by_class(b)
    found: list[Count] = []
    for kind in sorted({*in_a, *in_b}, key=_order):
        one, other = in_a.get(kind, Counter()), in_b.get(kind, Counter())
        if one == other:
            continue
        whole = Count(kind, "", sum(one.values()), sum(other.values()))
        inside = [Count(kind, spelling, one[spelling], other[spelling]) for spelling in sorted({*one, *other})]
        inside = [count for count in inside if count.a != count.b]
        if kind in _FIRST and kind not in _LIGHT:
            found += [whole, *inside]
        elif whole.a != whole.b:
            found.append(whole)
    return tuple(found)


def _by_class(lines: Iterable[Line]) -> Mapping[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for line in lines:
        if isinstance(line.node, Instruction):
            found.setdefault(class_of(line.node), Counter())[line.spelling] += 1
    return found


def _order(kind: str) -> tuple[int, str]:
    return (_FIRST.index(kind) if kind in _FIRST else len(_FIRST)), kind


def sizes(a: FunctionSurvey, b: FunctionSurvey) -> tuple[Count, ...]:
    """Memory and registers that both declare, and their loops, where these are not the same."""
    pairs = (
        ("local bytes", a.local_bytes, b.local_bytes),
        ("shared bytes", a.shared_bytes, b.shared_bytes),
        ("loops", len(a.loops), len(b.loops)),
        ("instructions in loops", _looped(a), _looped(b)),
        ("instructions", a.instructions, b.instructions),
    )
    return tuple(Count(what, "", one, other) for what, one, other in pairs if one != other)


def _looped(function: FunctionSurvey) -> int:
    """The instructions that stand in any loop."""
    graph = function.graph
    return sum(len(graph.blocks[number].instructions) for loop in graph.loops for number in loop.own)
