"""The IR of a native function as it is written: values, labels, and pointers with their bounds."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Final, cast

from ptxloom.dataclass import dataclass
from ptxloom.machine.native.language import BOOL, LITERAL, U32, U64, NativeType, record

if TYPE_CHECKING:
    import ast

LANE_COUNT: Final = 32
_COMPARE: Final = {"ult": operator.lt, "ule": operator.le, "uge": operator.ge}
#: The only modules of ours that may make a pointer from a number, and store into sealed structs.
MAKERS: Final = frozenset({"ptxloom.machine.runtime.memory.places"})


@dataclass(frozen=True, slots=True)
class Operand:
    """A value while translating: IR text and kind."""

    text: str
    kind: NativeType


class Writer:
    """Writes one function; locals live in allocas, which LLVM promotes.

    Attributes:
        tree: The function.
        names: The names of its module.
        lines: The code so far.
        allocas: Its locals.
        variables: Their types.
        traps: Whether something is checked, so that a trap block is needed.
    """

    def __init__(self, tree: ast.FunctionDef, names: dict[str, object]) -> None:
        self.tree = tree
        self.names = names
        self.lines: list[str] = []
        self.allocas: list[str] = []
        self.variables: dict[str, NativeType] = {}
        self.counter = 0
        self.traps = False

    # -- code

    def label(self) -> str:
        """A new label."""
        self.counter += 1
        return f"L{self.counter}"

    def emit(self, code: str, kind: NativeType) -> Operand:
        """Add an instruction; returns its result."""
        self.counter += 1
        name = f"%t{self.counter}"
        self.lines.append(f"{name} = {code}")
        return Operand(name, kind)

    def end(self, code: str, following: str | None = None) -> None:
        """End a block; another one follows."""
        self.lines.append(code)
        self.lines.append(f"{following or self.label()}:")

    def declare(self, name: str, kind: NativeType) -> None:
        """Allocate a local."""
        if name in self.variables:
            return
        self.variables[name] = kind
        self.allocas.append(f"%v.{name} = alloca {kind.llvm}")

    def unify(self, left: Operand, right: Operand) -> tuple[Operand, Operand]:
        """Two operands of one type: a literal takes the type of the other side."""
        if left.kind is LITERAL and right.kind is LITERAL:
            return Operand(left.text, U32), Operand(right.text, U32)
        if left.kind is LITERAL:
            return self.convert(left, right.kind), right
        return left, self.convert(right, left.kind)

    def convert(self, value: Operand, kind: NativeType) -> Operand:
        """An operand with a type, which it has already or as a literal can have."""
        have = value.kind
        if have is LITERAL and kind.llvm[0] in "if":
            return Operand(value.text, kind)
        if have.element is not None and have.element == kind.element:
            if kind.name == "Slice" and have.name != "Slice":
                return self.slice(value.text, self.room(value), kind)
            if kind.name == "Ptr" and have.count >= LANE_COUNT:
                return Operand(value.text, kind)
        same = have.name == kind.name and have.element == kind.element and have.struct == kind.struct
        if have is LITERAL or not same:
            raise TypeError(f"{self.tree.name}: {have.name} used as {kind.name}; write {kind.name}(...)")
        return value

    def cast(self, value: Operand, kind: NativeType) -> Operand:
        """A number of another width."""
        if value.kind is LITERAL or value.kind.bits == kind.bits:
            return Operand(value.text, kind)
        signed = value.kind.signed
        name = "trunc" if kind.bits < value.kind.bits else "sext" if signed else "zext"
        return self.emit(f"{name} {value.kind.llvm} {value.text} to {kind.llvm}", kind)

    # -- pointers and their bounds

    @property
    def may_make(self) -> bool:
        """Whether the function's module may make pointers; users' modules may at their own risk."""
        home = str(self.names["__name__"])
        return home in MAKERS or not home.startswith("ptxloom.")

    def check(self, predicate: str, left: str, right: str) -> None:
        """Trap unless two numbers of 64 bits compare as they should; for constants this is decided at once.

        Raises:
            TypeError: They are constants that never do.
        """
        if left.isdecimal() and right.isdecimal():
            if not _COMPARE[predicate](int(left), int(right)):
                raise TypeError(f"{self.tree.name}: {left} is never {predicate} {right}")
            return
        self.demand(self.emit(f"icmp {predicate} i64 {left}, {right}", BOOL).text)

    def demand(self, condition: str) -> None:
        """Trap unless a condition holds."""
        self.traps = True
        following = self.label()
        self.end(f"br i1 {condition}, label %{following}, label %trap", following)

    def slice(self, start: str, count: str, kind: NativeType) -> Operand:
        """`count` elements from a place on."""
        whole = NativeType("Slice", element=kind.element or kind)
        first = self.emit(f"insertvalue {whole.llvm} poison, ptr {start}, 0", whole)
        return self.emit(f"insertvalue {whole.llvm} {first.text}, i64 {count}, 1", whole)

    def start(self, value: Operand) -> str:
        """The address of the first element."""
        if value.kind.llvm == "ptr":
            return value.text
        return self.emit(f"extractvalue {value.kind.llvm} {value.text}, 0", U64).text

    def room(self, value: Operand) -> str:
        """The number of elements."""
        if value.kind.name == "Slice":
            return self.emit(f"extractvalue {value.kind.llvm} {value.text}, 1", U64).text
        if value.kind.name == "Ptr":
            return str(LANE_COUNT)
        return str(value.kind.count)

    def bytes(self, value: Operand) -> str:
        """The size of a slice, an array or a struct in bytes."""
        if value.kind.element is None:
            if value.kind.struct is None:
                raise TypeError(f"{self.tree.name}: {value.kind.name} has no address")
            return str(record(value.kind.struct).size)
        return self.emit(f"mul i64 {self.room(value)}, {value.kind.element.stride}", U64).text

    def element(self, whole: Operand, index: str) -> str:
        """The address of an element; unchecked."""
        kind = cast("NativeType", whole.kind.element)
        if index.isdecimal() and whole.kind.name != "Slice":
            offset = str(int(index) * kind.stride)
        else:
            offset = self.emit(f"mul i64 {index}, {kind.stride}", U64).text
        return self.emit(f"getelementptr i8, ptr {self.start(whole)}, i64 {offset}", U64).text

    def field(self, owner: Operand, name: str) -> tuple[str, NativeType]:
        """The address of a field of a struct."""
        if owner.kind.struct is None:
            raise TypeError(f"{self.tree.name}: {owner.kind.name} is no struct; it has no {name}")
        layout = record(owner.kind.struct)
        place = self.emit(f"getelementptr i8, ptr {owner.text}, i64 {layout.offsets[name]}", U64)
        return place.text, layout.kinds[name]
