"""What is known of a program before it runs: of registers, by their place in the register file, and of addresses."""

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
    """An add of 64 bits, by its site: the summand that differs from lane to lane, and the one that does not."""

    site: int
    varying: tree.Name
    common: tree.Operand


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of registers, by their place in the register file.

    Attributes:
        literals: The bits of registers that hold a literal.
        uniform: Registers that hold one value for a whole CTA (literals among them).
        uniform_ops: The sites of the instructions that write them.
        scalars: Where the values of uniform registers lie.
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
        """Whether no instruction after another needs what an instruction wrote to a register, both given by site."""
        mentions = self.temporaries.get(place, ())
        at = bisect_right(mentions, written, key=itemgetter(0)) - 1  # they are apart and in order
        return at >= 0 and written <= mentions[at][1] <= last
