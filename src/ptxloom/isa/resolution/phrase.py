"""Phrases for findings from the ISA data: why a spelling has no form, as one clause."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ptxloom.isa.resolution.mismatch import problems
from ptxloom.isa.resolution.problem import (
    Broken,
    Clash,
    Crowded,
    Disordered,
    Misread,
    Missing,
    NoForm,
    Repeated,
    TooMany,
    Unknown,
)

if TYPE_CHECKING:
    from ptxloom.isa.resolution.problem import Problem, Words


_MOST_LISTED = 12  # longer lists are shortened


def listing(rows: tuple[Words, ...] | Words) -> str:
    """Qualifiers, or lists of them, as a phrase: "`.x1`, `.x2` or `.x4`"."""
    words = [f"`{spell(row)}`" if row else "nothing" for row in rows]
    if len(words) > _MOST_LISTED:
        words[4:] = [f"one of {len(words) - 4} others"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def spell(row: Words | str) -> str:
    """A list of qualifiers in PTX's spelling."""
    words = (row,) if isinstance(row, str) else row
    return "".join(f".{word}" for word in words)


def reasons(opcode: str, qualifiers: Words) -> str:
    """Why no form of an instruction has these qualifiers, in one line."""
    return "; ".join(sentence(opcode, qualifiers, problem) for problem in problems(opcode, qualifiers))


def sentence(opcode: str, qualifiers: Words, problem: Problem) -> str:  # noqa: PLR0911, C901 - one case a kind of problem
    """A problem with the qualifiers of an instruction, as one clause."""
    match problem:
        case Unknown(place, near, expected):
            return f"`{opcode}` takes no `.{qualifiers[place]}`" + _hint(near, expected)
        case Misread(place, taken, expected):
            taken_as = f"ptxas assembles it as `.{taken}`"
            return f"`{opcode}` takes no `.{qualifiers[place]}` ({taken_as}); it takes {listing(expected)}"
        case Repeated(place, _):
            return f"`.{qualifiers[place]}` appears twice in `{opcode}`"
        case Crowded(place, first, _):
            return f"`{opcode}` takes one of `.{qualifiers[first]}` and `.{qualifiers[place]}`, not both"
        case Disordered(place, first):
            return f"`.{qualifiers[place]}` must precede `.{qualifiers[first]}` in `{opcode}`"
        case Clash(place, other, instead, _, _):
            means = f"; it takes {listing(instead)}" if any(instead) else ""
            return f"`{opcode}` with `.{qualifiers[other]}` takes no `.{qualifiers[place]}`{means}"
        case Missing(additions, _, because, _):
            subject = f"`{opcode}`" if because < 0 else f"`{opcode}` with `.{qualifiers[because]}`"
            return f"{subject} requires {listing(additions)}"
        case TooMany(most):
            return f"`{opcode}` has {len(qualifiers)} qualifiers here; no instruction has more than {most}"
        case Broken(place, instead, _):
            takes = f"; here it takes {listing(instead)}" if any(instead) else "; leave it out"
            return f"`.{qualifiers[place]}` does not go with the other qualifiers of this `{opcode}`{takes}"
        case NoForm():
            return f"`{_name(opcode, qualifiers)}` is not a form of `{opcode}`"
        case _:
            assert_never(problem)


def _hint(near: Words, expected: Words) -> str:
    if near:
        return f"; did you mean {listing(near)}?"
    return f"; it takes {listing(expected)}" if expected else ""


def _name(opcode: str, qualifiers: Words) -> str:
    return opcode + spell(qualifiers)
