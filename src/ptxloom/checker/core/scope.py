"""Which declaration a name means: parameters, nested blocks and parametrised registers (PTX ISA 4.3.3, 5.2, 5.5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ptxloom.isa.types import element_type, is_type
from ptxloom.syntax.series import index_of, stem_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

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

    The walk changes it between instructions, by its methods; rules only ask, so that their order means nothing.
    """

    def __init__(self) -> None:
        self._frames: list[_Frame] = [{}]
        self._series: list[_Frame] = [{}]
        self._labels: list[Mapping[str, Statement | None]] = [{}]
        self._known: list[dict[str, Seen]] = [{}]
        self._functions: dict[str, Function] = {}
        self._received: Mapping[str, str] = {}
        self._formal: frozenset[int] = frozenset()
        self._returned: set[int] = set()
        self._in_kernel = False

    @property
    def depth(self) -> int:
        """How many frames are open; 1 at module level."""
        return len(self._frames)

    @property
    def size(self) -> int:
        """How many names and series of names are visible, those that others hide included."""
        return sum(map(len, self._frames)) + sum(map(len, self._series))

    @property
    def functions(self) -> Mapping[str, Function]:
        """The functions declared so far, by name."""
        return self._functions

    @property
    def labels(self) -> Mapping[str, Statement | None]:
        """The labels that are visible, each with the statement after it."""
        return self._labels[-1]

    @property
    def received(self) -> Mapping[str, str]:
        """What the function at hand is, "entry" or "func", for each parameter that it receives."""
        return self._received

    @property
    def formal(self) -> frozenset[int]:
        """Where the function at hand declares what it receives and returns in `.param`."""
        return self._formal

    @property
    def returned(self) -> AbstractSet[int]:
        """Where the variables are declared that a call of this function has given back so far."""
        return self._returned

    @property
    def in_kernel(self) -> bool:
        """Whether the function at hand is a kernel."""
        return self._in_kernel

    @property
    def known(self) -> Mapping[str, Seen]:
        """What names were found to be here."""
        return self._known[-1]

    def remember(self, name: str, seen: Seen) -> Seen:
        """Keep what a name was found to be, for those who ask again."""
        self._known[-1][name] = seen
        return seen

    def enter(self, function: Function, labels: Mapping[str, Statement | None]) -> None:
        """Enter a function, which can be called from here on."""
        self._functions[function.name] = function
        self.open(labels)
        formal = (*function.returns, *function.params)
        self._formal = frozenset(each.start for one in formal for each in one.declarators)
        self._received = {each.name: function.kind for one in function.params for each in one.declarators}
        self._returned = set()
        self._in_kernel = function.kind == "entry"
        for parameter in formal:
            self.declare(parameter)

    def open(self, labels: Mapping[str, Statement | None] | None = None) -> None:
        """Enter a block, which may have labels of its own."""
        self._labels.append({**self.labels, **labels} if labels else self.labels)
        self._frames.append({})
        self._series.append({})
        self._known.append({})

    def close(self) -> None:
        """Leave a block: what it declared is gone."""
        if len(self._frames) > 1:
            for stack in (self._frames, self._series, self._known, self._labels):
                stack.pop()

    def declare(self, declaration: Declaration) -> None:
        """Make the names of a declaration visible from here on."""
        for declarator in declaration.declarators:
            table = self._frames if declarator.count is None else self._series
            table[-1][declarator.name] = declaration, declarator
        self._known[-1].clear()

    def give_back(self, name: str) -> None:
        """Note that a call has given a variable back: from here on it may be read."""
        symbol = self.find(name)
        if symbol is not None and symbol.declarator.start not in self._returned:
            self._returned.add(symbol.declarator.start)
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
