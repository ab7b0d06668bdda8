"""Defines the meanings of instructions: families of rows, one row per opcode and the types that it covers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ptxloom.dataclass import dataclass
from ptxloom.meaning.words import Op, Words

if TYPE_CHECKING:
    from collections.abc import Callable

Reader_contra = TypeVar("Reader_contra", contravariant=True)
Op_contra = TypeVar("Op_contra", bound=Op, contravariant=True)


@dataclass(frozen=True, slots=True)
class Row(Generic[Reader_contra, Op_contra]):
    """One opcode's meaning.

    Attributes:
        build: Describes the meaning to a reader.
        types: The last type qualifier must be one of these; empty: any, or no type at all.
        when: A further condition on the instruction.
        starts: Whether it must start a block, as lanes may have to wait before it.
        ends: Whether it must end a block, as it may branch.
        lanewise: Whether each lane is computed separately, at any vector width: it may be built for a strip of lanes.
        converts: Whether each element of the result is one of an operand's, in another format.
    """

    build: Callable[[Reader_contra, Op_contra], None]
    types: frozenset[str]
    when: Callable[[Op_contra], bool] | None
    starts: bool
    ends: bool
    lanewise: bool
    converts: bool

    def fits(self, op: Op_contra) -> bool:
        """Whether the row covers an instruction."""
        if self.types and not (op.types and op.types[-1].name in self.types):
            return False
        return self.when is None or self.when(op)


class RowsOf(Generic[Reader_contra, Op_contra]):
    """The rows of one file, used as a decorator; its parameters are the reader and the instruction."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row[Reader_contra, Op_contra]]] = {}

    def __call__(
        self,
        *opcodes: str,
        types: str = "",
        when: Callable[[Op_contra], bool] | None = None,
        starts: bool = False,
        ends: bool = False,
        lanewise: bool = False,
        converts: bool = False,
    ) -> Callable[[Callable[[Reader_contra, Op_contra], None]], Callable[[Reader_contra, Op_contra], None]]:
        """Define the meaning of opcodes; `types` is a list of types separated by blanks, the rest as in `Row`."""

        def add(build: Callable[[Reader_contra, Op_contra], None]) -> Callable[[Reader_contra, Op_contra], None]:
            row = Row(build, frozenset(types.split()), when, starts, ends, lanewise, converts)
            for opcode in opcodes:
                self.rows.setdefault(opcode, []).append(row)
            return build

        return add


class Family(RowsOf[Words[Any], Op]):
    """Rows of instructions whose results depend only on their operands: nothing but words."""
