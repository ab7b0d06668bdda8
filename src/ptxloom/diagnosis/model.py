"""A diagnosis: a broken law, its cause, and the change that mends it."""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.display import mimebundle
from ptxloom.glossary import CAUSES
from ptxloom.syntax.edits import edit
from ptxloom.syntax.places import home_line

if TYPE_CHECKING:
    from ptxloom.diagnosis.pictures import Picture
    from ptxloom.syntax.module import Module
    from ptxloom.syntax.origins import SourceLine
    from ptxloom.syntax.tree import Instruction

_MOST_LISTED: Final = 8  # lines that an edit is repeated in
_REGISTER: Final = re.compile(r"%[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Repair:
    """Replacement text for instructions of the PTX.

    Attributes:
        module: The module that was run.
        edits: Its instructions, each with its new text.
    """

    module: Module = field(repr=False)
    edits: tuple[tuple[Instruction, str], ...]

    def apply(self) -> Module:
        """The module with the repair made."""
        editor = edit(self.module)
        for node, text in self.edits:
            editor.replace(node, text)
        return editor.module()

    def __str__(self) -> str:
        """The edits as text; copies of one source line's instruction that unrolling made count as one."""
        alike: dict[object, list[tuple[Instruction, str]]] = {}
        for node, text in self.edits:
            home = home_line(self.module, node.start)
            alike.setdefault(node.start if home is None else (home, _form(node, text)), []).append((node, text))
        return "\n".join(map(_told, alike.values()))


def _form(node: Instruction, text: str) -> str:
    """An edit with its registers renumbered: equal for edits that differ only in registers."""
    numbers: dict[str, str] = {}
    return _REGISTER.sub(lambda found: numbers.setdefault(found[0], f"%{len(numbers)}"), f"{node.span.text} -> {text}")


def _told(edits: list[tuple[Instruction, str]]) -> str:
    (node, text), *others = edits
    told = f"line {node.span.line}: `{' '.join(node.span.text.split())}` -> `{text}`"
    if not others:
        return told
    listed = ", ".join(str(one.span.line) for one, _ in others[:_MOST_LISTED])
    more = f" and {len(others) - _MOST_LISTED} more" if len(others) > _MOST_LISTED else ""
    return f"{told}, and so in line{'s' * (len(others) > 1)} {listed}{more}"


@dataclass(frozen=True, slots=True, eq=False)
class Diagnosis:
    """One reason why a result is wrong.

    Attributes:
        law: The law that is broken: "rows", "k", "place", "once" or "copy"; or "reference", where a change was
            found that makes an array as it should be, or a line is only suspected.
        operand: "a", "b", "c" or "d" of the product; for a copy, the array's name.
        array: The array's name.
        cause: Its id, one of `CAUSES`.
        detail: The details.
        certain: Whether undoing the cause mends every element, and no other change of the same size does.
        others: Causes that explain it equally well.
        line: The PTX line to change.
        instruction: The instruction there.
        origin: The line of the compiled program, if the module records it.
        lines: All PTX lines concerned: loads, stores and products.
        wrong: The number of wrong elements.
        total: The number of elements that were judged.
        repair: The change of the PTX, if it is one.
        picture: One operand as it is and as it should be.
        alternative: Whether another diagnosis is the likelier one.
        silences: Whether tools found something that they do not find with the repair.
    """

    law: str
    operand: str
    array: str
    cause: str
    detail: str
    certain: bool
    others: tuple[str, ...]
    line: int
    instruction: str
    origin: SourceLine | None
    lines: tuple[int, ...]
    wrong: int
    total: int
    repair: Repair | None = field(repr=False, default=None)
    picture: Picture | None = field(repr=False, default=None)
    alternative: bool = False
    silences: bool = False

    _repr_mimebundle_ = mimebundle

    @property
    def is_suspicion(self) -> bool:
        """Whether no law is broken and no change mends the result: the line only goes with what is wrong."""
        return self.law == "reference" and self.cause == "unknown"

    @property
    def sentence(self) -> str:
        """All of it in a sentence or two."""
        what = f"operand {self.operand}" if self.operand in ("a", "b", "c", "d") else "the result"
        whose = f" ({'goes to' if self.operand == 'd' else 'from'} {self.array})" if self.array else ""
        count = f"{self.wrong:,} of {self.total:,} elements wrong"
        about = CAUSES[self.cause].about
        sure = "" if self.certain else " (not certain)"
        return f"{what}{whose}: {count}; {self.detail}. {about}{sure}: line {self.line}"

    def __str__(self) -> str:
        return self.sentence
