"""The meanings of names inside a kernel: registers, variables, labels and functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from ptxloom.binding import names
from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from ptxloom.meaning.types import Type
    from ptxloom.syntax import tree


ELSEWHERE: Final = -1  # the number of a kernel that is a program of its own


@dataclass(frozen=True, slots=True)
class Register:
    """A register: its type and its place in the warp (bytes from the start of the register file).

    The values of 32 lanes are contiguous; a predicate is one 32-bit mask.
    """

    type: Type
    offset: int
    vector: int = 1  # `.reg .v4` variables: the number of adjacent registers
    apart: int = -1  # the place of its poison, if it shares its own place with others

    @property
    def poison(self) -> int:
        """The place of initcheck's unwritten bits (bytes from the start of all poison)."""
        return self.offset if self.apart < 0 else self.apart

    @property
    def lane_bytes(self) -> int:
        """The bytes of a lane's value; 0 for a predicate."""
        return 0 if self.type.kind == "p" else max(self.type.bits // 8, 1)

    @property
    def bytes(self) -> int:
        """The bytes of one register in the file."""
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
    """A function: its number in the program (`ELSEWHERE` if it is another kernel), and in the module: its address."""

    name: str
    number: int
    code: int


@dataclass(frozen=True, slots=True)
class BlockLabel:
    """A label: the number of the block that it starts."""

    block: int

    @property
    def first(self) -> int:
        """The smallest number of a block to which it may lead."""
        return self.block

    @property
    def blocks(self) -> tuple[int, ...]:
        """The blocks to which it may lead."""
        return (self.block,)


Symbol: TypeAlias = Register | Variable | FunctionName
Mark: TypeAlias = "BlockLabel | BranchTable | tree.CallTargets | tree.CallPrototype"
Scope: TypeAlias = names.Scope[Symbol | None, Mark]
"""The meanings of names in braces; without members of series that are never mentioned."""
Key: TypeAlias = tuple[Scope, str]
"""A register, regardless of its place: the braces that declare it, and its name."""


@dataclass(slots=True, eq=False)
class BranchTable:
    """A list of labels for indexed branches.

    Attributes:
        node: The directive.
        scope: The scope in which its labels are looked up.
        blocks: The blocks that they start, in the order of the list; known once the whole function is planned.
        unknown: The first name of the list that is not a label.
        first: The smallest number among `blocks`.
    """

    node: tree.BranchTargets
    scope: Scope
    blocks: tuple[int, ...] = ()
    unknown: str = ""
    first: int = 0

    def resolve(self) -> None:
        """Find the blocks, once every label of the function has one."""
        found = {one.text: self.scope.label(one.text) for one in self.node.names}
        self.unknown = next((name for name, label in found.items() if not isinstance(label, BlockLabel)), "")
        labels = (found[one.text] for one in self.node.names)
        self.blocks = tuple(label.block for label in labels if isinstance(label, BlockLabel))
        self.first = min(self.blocks, default=0)
