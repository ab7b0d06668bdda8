"""Which declaration a name means: parameters, nested blocks and parametrised registers (PTX ISA 4.3.3, 5.2, 5.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ptxloom.binding import names
from ptxloom.binding.sizes import alignment_of
from ptxloom.dataclass import dataclass
from ptxloom.isa.types import element_type, is_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from ptxloom.checker.core.operand_kind import OperandKind
    from ptxloom.syntax.tree import Declaration, Declarator, Function, Name, Statement

_Declared: TypeAlias = "tuple[Declaration, Declarator]"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declared name.

    Attributes:
        name: The name as it is used.
        space: Its state space: "reg", "shared", "param"...
        type: Its element type, without dot; may be empty or unknown to us.
        vector: 2 or 4 for `.v2` and `.v4`, 0 for a scalar.
        declaration: What declares it, and `declarator` where.
    """

    name: str
    space: str
    type: str
    vector: int
    declaration: Declaration
    declarator: Declarator

    @property
    def alignment(self) -> int:
        """The bytes that its address is a multiple of, as declared or by its type."""
        return alignment_of(self.declaration)

    @property
    def bits(self) -> int:
        """The bits of one element; 0 if we do not know the type."""
        return element_type(self.type).storage_bits if is_type(self.type) else 0


class After(NamedTuple):
    """The statement after a label, or None at the end of its braces."""

    statement: Statement | None


class VisibleNames:
    """The names that are visible at one point of a module; blocks open and close, in the order of the text.

    The walk changes it between instructions, by its methods; rules only read it, so their order does not matter.
    """

    def __init__(self) -> None:
        self._names: names.Scope[_Declared, After] = names.Scope()
        self._known: list[dict[str, OperandKind]] = [{}]
        self._functions: dict[str, Function] = {}
        self._received: Mapping[str, str] = {}
        self._formal: frozenset[int] = frozenset()
        self._returned: set[int] = set()
        self._in_kernel = False
        self._candidates: dict[int, tuple[Function, ...]] = {}

    @property
    def depth(self) -> int:
        """How many pairs of braces are open; 1 at module level."""
        return len(self._known)

    @property
    def size(self) -> int:
        """How many names and series of names are visible, those that others hide included."""
        return sum(len(scope.names) + len(scope.series) for scope in self._names.around())

    @property
    def functions(self) -> Mapping[str, Function]:
        """The functions declared so far, by name."""
        return self._functions

    @property
    def received(self) -> Mapping[str, str]:
        """For each received parameter, the kind of the function at hand, "entry" or "func"."""
        return self._received

    @property
    def formal(self) -> frozenset[int]:
        """The places where the function at hand declares its parameters and results in `.param`."""
        return self._formal

    @property
    def returned(self) -> AbstractSet[int]:
        """The places where the variables are declared that calls in this function have returned so far."""
        return self._returned

    @property
    def in_kernel(self) -> bool:
        """Whether the function at hand is a kernel."""
        return self._in_kernel

    @property
    def known(self) -> Mapping[str, OperandKind]:
        """The cached kinds of names."""
        return self._known[-1]

    def remember(self, name: str, seen: OperandKind) -> OperandKind:
        """Cache the meaning of a name for later look-ups."""
        self._known[-1][name] = seen
        return seen

    def candidates(self, names: tuple[Name, ...], choose: Callable[[], tuple[Function, ...]]) -> tuple[Function, ...]:
        """The candidates of indirect calls by a list, chosen once per list and function."""
        if id(names) not in self._candidates:
            self._candidates[id(names)] = choose()
        return self._candidates[id(names)]

    def enter(self, function: Function) -> None:
        """Enter a function, which can be called from here on."""
        self._functions[function.name] = function
        self.open(() if function.body is None else function.body.statements)
        formal = (*function.returns, *function.params)
        self._formal = frozenset(each.start for one in formal for each in one.declarators)
        self._received = {each.name: function.kind for one in function.params for each in one.declarators}
        self._returned = set()
        self._candidates = {}
        self._in_kernel = function.kind == "entry"
        for parameter in formal:
            self.declare(parameter)

    def open(self, statements: Iterable[Statement] = ()) -> None:
        """Enter a block; its labels are visible in all of it."""
        self._names = names.Scope(self._names)
        self._known.append({})
        self._names.labels.update((name, After(after)) for name, after in names.labelled(statements))

    def close(self) -> None:
        """Leave a block, and forget its declarations."""
        if self._names.outer is not None:
            self._names = self._names.outer
            self._known.pop()

    def declare(self, declaration: Declaration) -> None:
        """Make the names of a declaration visible from here on."""
        for declarator in declaration.declarators:
            self._names.declare(declarator.name, (declaration, declarator), declarator.count)
        self._known[-1].clear()

    def give_back(self, name: str) -> None:
        """Record that a call has returned a variable: from here on it may be read."""
        symbol = self.find(name)
        if symbol is not None and symbol.declarator.start not in self._returned:
            self._returned.add(symbol.declarator.start)
            for known in self._known:
                known.pop(name, None)

    def find(self, name: str) -> Symbol | None:
        """The innermost declaration of a name; None if it is not declared."""
        found = self._names.find(name)
        return None if found is None else _symbol(name, *found)

    def label(self, name: str) -> After | None:
        """The statement after a label; None if no such label is visible."""
        return self._names.label(name)

    def labels(self) -> tuple[str, ...]:
        """Every visible label, the outermost first."""
        return tuple(name for scope in reversed(list(self._names.around())) for name in scope.labels)

    def series_of(self, name: str) -> Declarator | None:
        """The innermost series that would contain a name if it were long enough."""
        stem = names.stem_of(name)
        if names.index_of(name, stem) < 0:
            return None
        return next((scope.series[stem].thing[1] for scope in self._names.around() if stem in scope.series), None)

    def names(self) -> tuple[str, ...]:
        """Every visible name, the innermost first; of a series its first name."""
        plain = [name for scope in self._names.around() for name in scope.names]
        series = [f"{stem}0" for scope in self._names.around() for stem in scope.series]
        return tuple(dict.fromkeys((*plain, *series)))


def _symbol(name: str, declaration: Declaration, declarator: Declarator) -> Symbol:
    return Symbol(name, declaration.space, declaration.type, declaration.vector, declaration, declarator)
