"""Whether two values keep the same distance in all lanes of a warp, though they differ from lane to lane.

`for (t = tid; t < n + tid; t += c)` ends for all lanes at once: what differs in `t` and in its bound is the same `tid`,
and the rest is shared. A value is decomposed into differing parts, each with the number of times it is added, and a
rest that all lanes share.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from ptxloom.flow.registers import Merge, Write
from ptxloom.readings.computed import signs
from ptxloom.syntax.tree import Instruction, Name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ptxloom.syntax.tree import Operand

Node = TypeVar("Node")
_DEPTH: Final = 24  # of values that are looked through


class Values(Protocol[Node]):
    """Knowledge about values."""

    def instruction(self, node: Write) -> Instruction:
        """The instruction that writes a value."""
        ...

    def operand(self, node: Write, name: str) -> Node | None:
        """The meaning of a name at an instruction; None if no instruction writes it."""
        ...

    def is_shared(self, node: Node) -> bool:
        """Whether all lanes have the same value, as far as is known."""
        ...

    def incoming(self, node: Merge, aside: int) -> Sequence[Node]:
        """The values that meet; empty if lanes that part at another branch than `aside` choose among them."""
        ...


class Differences(Generic[Node]):
    """Decomposes values, assuming that lanes do not diverge at one branch (a block's number)."""

    def __init__(self, values: Values[Node], branch: int) -> None:
        self._values = values
        self._branch = branch
        self._open: set[Merge] = set()

    def keeps_apart(self, node: Write, left: Operand, right: Operand) -> bool:
        """Whether two operands of an instruction differ by the same amount in all lanes; overflow is ignored."""
        one, other = (self._operand(node, operand, 0) for operand in (left, right))
        return one is not None and one == other

    def _operand(self, node: Write, operand: Operand, depth: int) -> Counter[Node] | None:
        """The differing parts of an operand; None if it is not a register."""
        if not isinstance(operand, Name):
            return None
        found = self._values.operand(node, operand.text)
        return None if found is None else self._terms(found, depth)

    def _terms(self, node: Node, depth: int) -> Counter[Node]:
        if self._values.is_shared(node):
            return Counter()
        alone = Counter({node: 1})
        if depth > _DEPTH or node in self._open:
            return alone
        if isinstance(node, Write):
            return self._sum(node, depth) or alone
        if isinstance(node, Merge):
            self._open.add(node)
            found = self._met(self._terms(one, depth + 1) for one in self._values.incoming(node, self._branch))
            self._open.discard(node)
            return alone if found is None else found
        return alone

    def _sum(self, node: Write, depth: int) -> Counter[Node] | None:
        """The differing parts of a sum, a difference or a copy; None for other instructions."""
        instruction = self._values.instruction(node)
        counts = signs(instruction) if node.whole and instruction.predicate is None else ()
        if not counts or not {*counts} <= {1, -1}:
            return None
        total: Counter[Node] = Counter()
        for sign, operand in zip(counts, instruction.operands[1:], strict=True):
            terms = self._operand(node, operand, depth + 1)
            if terms is None and isinstance(operand, Name):
                return None  # a special register, which is its own value
            for one, count in (terms or Counter[Node]()).items():
                total[one] += sign * count
        return Counter({one: count for one, count in total.items() if count})

    def _met(self, incoming: Iterable[Counter[Node]]) -> Counter[Node] | None:
        """The differing parts of values that meet in a loop: all start equal, and advance by a shared amount."""
        starts = [terms for terms in incoming if not (len(terms) == 1 and next(iter(terms)) in self._open)]
        return starts[0] if starts and all(one == starts[0] for one in starts) else None
