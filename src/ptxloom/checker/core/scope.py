"""Which declaration a name means: parameters, nested blocks and parametrised registers (PTX ISA 4.3.3, 5.2, 5.5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ptxloom.isa.types import element_type, is_type
from ptxloom.syntax.series import index_of, stem_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.checker.core.operand_kind import Seen
    from ptxloom.syntax.tree import Declaration, Declarator, Function, Statement

_Frame = dict[str, "tuple[Declaration, Declarator]"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declared name.

    Attributes:
        name: The name as it is used.
        space: Its state space: "reg", "shared", "param"...
        type: Its element type, without dot; may be empty or unknown to us.
        vector: 2 or 4 for `.v2` and `.v4`, 0 for a scalar.
        alignment: The bytes that its address is a multiple of, as declared or by its type.
        declarator: Where it is declared.
    """

    name: str
    space: str
    type: str
    vector: int
    alignment: int
    declarator: Declarator

    @property
    def bits(self) -> int:
        """The bits of one element; 0 if the type is none that we know."""
        return element_type(self.type).storage_bits if is_type(self.type) else 0


class Scope:
    """The names that are visible at one point of a module; blocks open and close frames, in the order of the text.

    Attributes:
        functions: The functions declared so far, by name.
        labels: The labels that are visible, each with the statement after it.
        received: What the function at hand is, "entry" or "func", for each parameter that it receives.
        in_kernel: Whether the function at hand is a kernel.
        returned: Where the variables are declared that a call of this function has given back so far.
        formal: Where the function at hand declares what it receives and returns in `.param`.
    """

    def __init__(self, functions: Mapping[str, Function] | None = None) -> None:
        self._frames: list[_Frame] = [{}]
        self._series: list[_Frame] = [{}]
        self._known: list[dict[str, Seen]] = [{}]
        self.functions: Mapping[str, Function] = functions if functions is not None else {}
        self._labels: list[Mapping[str, Statement | None]] = [{}]
        self.labels = self._labels[-1]
        self.received: Mapping[str, str] = {}
        self.in_kernel = False
        self.returned: set[int] = set()
        self.formal: frozenset[int] = frozenset()
        self.seen: dict[str, Seen] = self._known[-1]
        """What names are known to be here; whoever looks one up notes it."""

    @property
    def depth(self) -> int:
        """How many frames are open; 1 at module level."""
        return len(self._frames)

    @property
    def size(self) -> int:
        """How many names and series of names are visible, those that others hide included."""
        return sum(map(len, self._frames)) + sum(map(len, self._series))

    def open(self, labels: Mapping[str, Statement | None] | None = None) -> None:
        """Enter a block, which may have labels of its own."""
        self.labels = {**self.labels, **labels} if labels else self.labels
        self._labels.append(self.labels)
        self._frames.append({})
        self._series.append({})
        self.seen = {}
        self._known.append(self.seen)

    def close(self) -> None:
        """Leave a block: what it declared is gone."""
        if len(self._frames) > 1:
            self._frames.pop()
            self._series.pop()
            self._known.pop()
            self.seen = self._known[-1]
            self._labels.pop()
            self.labels = self._labels[-1]

    def declare(self, declaration: Declaration) -> None:
        """Make the names of a declaration visible from here on."""
        for declarator in declaration.declarators:
            table = self._frames if declarator.count is None else self._series
            table[-1][declarator.name] = declaration, declarator
        self.seen.clear()

    def give_back(self, name: str) -> None:
        """Note that a call gives a variable back: from here on it may be read."""
        symbol = self.find(name)
        if symbol is not None and symbol.declarator.start not in self.returned:
            self.returned.add(symbol.declarator.start)
            for known in self._known:
                known.pop(name, None)

    def find(self, name: str) -> Symbol | None:
        """What a name means here: the innermost declaration; None if there is none.

        A name that ends in digits may belong to a series (`%r<8>`): its stem is what stands before all of them.
        """
        stem = stem_of(name)
        for frame, series in zip(reversed(self._frames), reversed(self._series), strict=True):
            if name in frame:
                return _symbol(name, *frame[name])
            if stem in series and _within(index_of(name, stem), series[stem][1]):
                return _symbol(name, *series[stem])
        return None

    def series_of(self, name: str) -> Declarator | None:
        """The innermost series of which a name would be one if it were long enough."""
        stem = stem_of(name)
        if index_of(name, stem) < 0:
            return None
        return next((table[stem][1] for table in reversed(self._series) if stem in table), None)

    def names(self) -> tuple[str, ...]:
        """Every visible name, the innermost first; of a series its first name."""
        plain = [name for frame in reversed(self._frames) for name in frame]
        series = [f"{stem}0" for table in reversed(self._series) for stem in table]
        return tuple(dict.fromkeys((*plain, *series)))


def _within(index: int, declarator: Declarator) -> bool:
    return declarator.count is not None and 0 <= index < declarator.count


def _symbol(name: str, declaration: Declaration, declarator: Declarator) -> Symbol:
    return Symbol(
        name,
        declaration.space,
        declaration.type,
        declaration.vector,
        declaration.alignment or _natural_alignment(declaration.type, declaration.vector),
        declarator,
    )


@lru_cache(maxsize=256)
def _natural_alignment(type_name: str, vector: int) -> int:
    """The bytes that a variable of a type is aligned to when its declaration does not say."""
    size = element_type(type_name).storage_bits // 8 if is_type(type_name) else 1
    return max(1, size * max(1, vector))
