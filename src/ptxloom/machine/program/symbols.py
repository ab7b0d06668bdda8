"""What names stand for inside a kernel: registers, variables, labels and functions, scope by scope."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ptxloom.machine.program.types import Type


@dataclass(frozen=True, slots=True)
class Register:
    """A register: its type and where the warp keeps it (bytes from the start of the register file).

    32 lanes side by side, each of the type's width; a predicate is one 32-bit mask.
    """

    type: Type
    offset: int
    vector: int = 1  # `.reg .v4` variables: so many registers side by side
    apart: int = -1  # where its poison lies, if not at the place that it shares with others

    @property
    def poison(self) -> int:
        """Where initcheck keeps the bits of it that nobody has written (bytes from the start of all poison)."""
        return self.offset if self.apart < 0 else self.apart

    @property
    def lane_bytes(self) -> int:
        """What a lane's value takes; 0 for a predicate."""
        return 0 if self.type.kind == "p" else max(self.type.bits // 8, 1)

    @property
    def bytes(self) -> int:
        """What one register takes in the file."""
        return 32 * self.lane_bytes or 4


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in memory.

    Attributes:
        name: As written.
        space: shared, local, param (of the entry), global, const.
        offset: Bytes from the start of: shared memory, the function's frame, the parameters; for global and const
            variables their number in the module's table of addresses.
        size: Bytes; 0 for an unsized extern array.
        alignment: A power of two.
        type: The scalar type it is declared with.
    """

    name: str
    space: str
    offset: int
    size: int
    alignment: int = 1
    type: str = "b8"


@dataclass(frozen=True, slots=True)
class FunctionName:
    """A function: its number in the program, and in the module, which its address tells."""

    name: str
    number: int
    code: int


@dataclass(frozen=True, slots=True)
class Targets:
    """A list of labels or functions (`.branchtargets`, `.calltargets`) or a prototype, by its label."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A label: the number of the block it starts."""

    block: int


Symbol: TypeAlias = Register | Variable | FunctionName | Targets | Place


@dataclass(slots=True)
class Scope:
    """The names of a block and, behind them, of what surrounds it."""

    outer: Scope | None = None
    names: dict[str, Symbol] = field(default_factory=dict[str, Symbol])

    def find(self, name: str) -> Symbol | None:
        """What a name stands for here; None if nothing."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.outer
        return None
