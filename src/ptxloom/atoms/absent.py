"""Names that look like CuTe copy atoms but are not: why there is no such atom, and which one to use instead.

A name that transposes counts the elements that a thread gets: each register combines elements of several rows. A name
that does not transpose counts whole registers, as they are in memory.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.atoms.copy import CopyAtom, copy_atoms, names_of
from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME: Final = re.compile(
    r"SM(?P<since>\d+)_U(?P<bits>8|16|32)x(?P<count>\d+)_(?P<what>LDSM|STSM|MOVM)_(?P<letter>[NT])"
)


@dataclass(frozen=True, slots=True)
class Absent:
    """An atom that CuTe does not have.

    Attributes:
        name: The name that was requested.
        why: Why it does not exist, as sentences.
        instead: The atom that does the same, or comes closest.
        same: Whether it moves the same amount.
    """

    name: str
    why: str
    instead: CopyAtom
    same: bool = True

    @property
    def advice(self) -> str:
        """The atom to use, as a sentence."""
        return f"`{self.instead}` {'does that job' if self.same else 'comes nearest'}."


def absent(name: str) -> Absent | None:
    """Explain a name that is not an atom's; None if it is one, or does not look like one.

    Example:
        >>> print(absent("SM75_U32x1_LDSM_T").instead)
        SM75_U16x2_LDSM_T
        >>> print(absent("SM75_U16x2_LDSM_N").instead)
        SM75_U32x1_LDSM_N
    """
    read = _NAME.fullmatch(name.strip().removeprefix("cute::"))
    known = names_of(copy_atoms())
    if read is None or read[0] in known:
        return None
    asked = int(read["bits"]) * int(read["count"]) / 32
    fitting = [atom for one, atom in known.items() if (found := _NAME.fullmatch(one)) and _same_job(found, read)]
    if not fitting:
        return Absent(read[0], " ".join(_letters(read)), known["SM75_U32x1_MOVM_T"], asked == 1)
    instead = min(fitting, key=lambda atom: (abs(atom.instruction.registers - asked), _since(atom) != read["since"]))
    why = " ".join((*_letters(read), *_numbers(read, instead, asked, fitting)))
    return Absent(read[0], why, instead, instead.instruction.registers == asked)


def _same_job(known: re.Match[str], asked: re.Match[str]) -> bool:
    """Whether both move in the same direction, agree on transposing, and move elements of a requested width."""
    wide = asked["bits"] if asked["bits"] != "32" else "16"
    return known["what"] == asked["what"] and known["letter"] == asked["letter"] and known["bits"] in {wide, "32"}


def _letters(asked: re.Match[str]) -> Iterator[str]:
    """The errors in the units that a name counts."""
    if asked["what"] == "MOVM":
        if asked["letter"] == "N":
            yield "`movmatrix` always transposes: that is what it is for."
        elif asked["bits"] != "32":
            yield "An atom of `movmatrix` is named by the whole register of 32 bits that a thread passes and receives."
        return
    if asked["letter"] == "T" and asked["bits"] == "32":
        yield (
            "An atom that transposes (`_T`) is named by the elements that a thread holds, 16 or 8 bits each, not by "
            "whole registers: each of its registers brings together elements of several rows of memory."
        )
    elif asked["letter"] == "N" and asked["bits"] != "32":
        yield (
            "An atom that does not transpose (`_N`) is named by whole registers of 32 bits that a thread holds, not "
            "by elements: each register is as in memory, whatever its elements are."
        )


def _numbers(asked: re.Match[str], instead: CopyAtom, registers: float, fitting: list[CopyAtom]) -> Iterator[str]:
    """The errors in the numbers of a name."""
    counts = sorted({atom.instruction.registers for atom in fitting})
    if registers not in counts:
        listed = " or ".join(filter(None, (", ".join(map(str, counts[:-1])), str(counts[-1]))))
        yield f"A thread holds {listed} register{'s' * (counts != [1])} of what such an atom moves."
    if _since(instead) != asked["since"]:
        yield f"A name begins with the first architecture that has the instruction: SM{_since(instead)} here."


def _since(atom: CopyAtom) -> str:
    return atom.name.partition("_")[0].removeprefix("SM")
