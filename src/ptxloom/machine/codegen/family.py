"""How an instruction is given its meaning: families of rows, one row an opcode and the types it covers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

    Semantic: TypeAlias = Callable[[Builder, Op], None]


@dataclass(frozen=True, slots=True)
class Row:
    """One opcode's meaning.

    Attributes:
        build: Emits the code.
        types: The last type qualifier must be one of these; empty: any, or none.
        when: A further condition on the instruction.
        starts: Lanes may have to wait before it: it must start a block.
        ends: It may go elsewhere: it must end a block.
        lanewise: Each lane for itself, whatever the width of vectors: it may be built for a strip of lanes.
    """

    build: Semantic
    types: frozenset[str]
    when: Callable[[Op], bool] | None
    starts: bool
    ends: bool
    lanewise: bool

    def fits(self, op: Op) -> bool:
        """Whether the row covers an instruction."""
        if self.types and not (op.types and op.types[-1].name in self.types):
            return False
        return self.when is None or self.when(op)


class Family:
    """Rows that stand together in one file; used as a decorator."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = {}

    def __call__(
        self,
        *opcodes: str,
        types: str = "",
        when: Callable[[Op], bool] | None = None,
        starts: bool = False,
        ends: bool = False,
        lanewise: bool = False,
    ) -> Callable[[Semantic], Semantic]:
        """Give opcodes a meaning; `types` is a list of types separated by blanks, the rest as in `Row`."""

        def add(build: Semantic) -> Semantic:
            row = Row(build, frozenset(types.split()), when, starts, ends, lanewise)
            for opcode in opcodes:
                self.rows.setdefault(opcode, []).append(row)
            return build

        return add
