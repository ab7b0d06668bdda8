"""Facts about a program before it runs: about registers, by their place in the register file, and about addresses."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.syntax import tree


class AddressSum(NamedTuple):
    """A 64-bit addition, by its site: the summand that differs between lanes, and the one that does not."""

    site: int
    varying: tree.Name
    common: tree.Operand


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Facts about registers, by their place in the register file.

    Attributes:
        literals: The bits of registers that hold a literal.
        uniform: Registers that hold one value for a whole CTA (literals among them).
        uniform_ops: The sites of the instructions that write them.
        scalars: The places of the values of uniform registers.
        temporaries: For registers of one block, the sites of their first and last mention; several may share a place.
    """

    literals: dict[int, int]
    uniform: frozenset[int]
    uniform_ops: frozenset[int]
    scalars: Mapping[int, int] = field(default_factory=dict[int, int])
    temporaries: Mapping[int, tuple[tuple[int, int], ...]] = field(
        default_factory=dict[int, tuple[tuple[int, int], ...]]
    )

    def is_done(self, place: int, written: int, last: int) -> bool:
        """Whether no instruction after `last` needs the value written to a register by `written`, both sites."""
        mentions = self.temporaries.get(place, ())
        at = bisect_right(mentions, written, key=itemgetter(0)) - 1  # they are disjoint and in order
        return at >= 0 and written <= mentions[at][1] <= last
