"""One form of an instruction: its syntax line, and the word in each of its slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.display import mimebundle
from ptxloom.lazy import cached_property

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.isa.notation import OperandSlot, SyntaxLine
    from ptxloom.isa.spec import Constraint, Feature, InstructionSpec


class Qualifiers:
    """The qualifiers of a form by the manual's names; an omitted one is an empty string.

    Example:
        >>> from ptxloom.isa.resolution.forms import resolve
        >>> form = resolve("ldmatrix", ("sync", "aligned", "x4", "m8n8", "b16")).form
        >>> form.qualifiers.shape, form.qualifiers.num, form.qualifiers.trans
        ('m8n8', 'x4', '')
    """

    __slots__ = ("_filling",)

    def __init__(self, filling: Mapping[str, str]) -> None:
        self._filling = filling

    def __getattr__(self, name: str) -> str:
        try:
            return self._filling[name]
        except KeyError:
            raise AttributeError(f"this form has no qualifier {name!r}; it has {', '.join(self._filling)}") from None

    def __getitem__(self, name: str) -> str:
        return self._filling[name]

    def get(self, name: str, default: str = "") -> str:
        """The qualifier of that name, or `default` if the form has no slot for it."""
        return self._filling.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._filling)

    def __repr__(self) -> str:
        return f"Qualifiers({', '.join(f'{name}={value!r}' for name, value in self._filling.items())})"


@dataclass(frozen=True)
class Form:
    """One legal spelling of an instruction, regardless of the order of its qualifiers."""

    spec: InstructionSpec
    line: SyntaxLine
    filling: Mapping[str, str]

    _repr_mimebundle_ = mimebundle

    @property
    def opcode(self) -> str:
        """The opcode."""
        return self.spec.opcode

    @cached_property
    def qualifiers(self) -> Qualifiers:
        """The qualifiers by name."""
        return Qualifiers(self.filling)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The qualifiers in the manual's order."""
        return tuple(value for value in self.filling.values() if value)

    @cached_property
    def spelling(self) -> str:
        """The whole spelling, in the manual's order."""
        return ".".join((self.opcode, *self.words))

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """The features that this form uses; a module must have all of them."""
        return self.spec.features_of(self.line, self.filling)

    @cached_property
    def laxities(self) -> tuple[Constraint, ...]:
        """The manual's rules that the form breaks although ptxas assembles it."""
        return tuple(each for each in self.spec.constraints if each.lax and not each.admits(self.filling))

    @cached_property
    def counts(self) -> range:
        """The possible numbers of operands; a qualifier decides whether its own operand counts."""
        bound = [slot for slot in self.line.operands if self.spec.operands[slot.name].when]
        standing = sum(bool(self.filling.get(self.spec.operands[slot.name].when)) for slot in bound)
        free = [slot for slot in self.line.operands if slot not in bound]
        return range(sum(not slot.optional for slot in free) + standing, len(free) + standing + 1)

    def operands(self, count: int) -> tuple[OperandSlot, ...]:
        """The slots that `count` operands fill, in order; empty if the form does not take `count`."""
        if count not in self.counts:
            return ()
        found = self._filled.get(count)
        if found is None:
            found = self._filled[count] = self._slots(count)
        return found

    @cached_property
    def _filled(self) -> dict[int, tuple[OperandSlot, ...]]:
        """The slots by number of operands, filled on demand."""
        return {}

    def _slots(self, count: int) -> tuple[OperandSlot, ...]:
        rules = self.spec.operands
        here = [slot for slot in self.line.operands if not (when := rules[slot.name].when) or self.filling.get(when)]
        surplus = len(here) - count
        for slot in reversed(here.copy()):
            if surplus and slot.optional and not rules[slot.name].when:
                here.remove(slot)
                surplus -= 1
        return tuple(here)
