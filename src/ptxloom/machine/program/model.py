"""A kernel that is ready for translation: its functions, blocks, instructions and parameters, made by `plan`."""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from ptxloom.dataclass import dataclass
from ptxloom.machine.program.signatures import FRAME_HEAD, Service, Signature
from ptxloom.machine.program.unsupported import UnsupportedInstruction
from ptxloom.syntax import print_statements, tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ptxloom.machine.program.knowledge import AddressSum, Knowledge
    from ptxloom.machine.program.symbols import Scope, Variable
    from ptxloom.meaning.types import Type
    from ptxloom.syntax.module import Module

RESERVED_BYTES = 1024  # the system's own at the start of shared memory, from sm_80 on (PTX ISA 10.29)
RESERVED = "%reserved_smem_offset_"  # the prefix of the registers with its bounds
OURS = "passed:"  # prefix of names that are not PTX: places of values passed in registers
_CELL = 8  # bytes
_PLAIN = {"ld_reduce": "ld", "st": "st", "red": "red", "cp": "cp"}  # the effect of `multimem` on one device's memory
_TARGET = re.compile(r"sm_(\d+)")


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """One instruction in its place: the input of semantics.

    Attributes:
        node: The instruction of the tree.
        scope: The scope of its names.
        site: Its number in the program, from 0: run-time reports refer to it.
        types: Its type qualifiers in order.
        used: A mask of the bytes of a load that are used, by `.pragma "used_bytes_mask"`; by default all.
    """

    node: tree.Instruction
    scope: Scope
    site: int
    types: tuple[Type, ...]
    function: FunctionPlan
    used: int = -1

    @property
    def opcode(self) -> str:
        """Such as `ld`; for `multimem`, the operation on each member of a multicast object: here the only device."""
        if self.is_multicast:
            return next((_PLAIN[word] for word in self.node.qualifiers if word in _PLAIN), "multimem")
        return self.node.opcode

    @property
    def is_multicast(self) -> bool:
        """Whether it operates on a multicast object, whose addresses are implicitly global."""
        return self.node.opcode == "multimem"

    @property
    def spelling(self) -> str:
        """Such as `ld.global.nc.v4.f32`."""
        return ".".join((self.opcode, *self.qualifiers))

    @property
    def qualifiers(self) -> tuple[str, ...]:
        """Such as ("global", "nc", "v4", "f32")."""
        return self.node.qualifiers

    @property
    def operands(self) -> tuple[tree.Operand, ...]:
        """As written: destinations first."""
        return self.node.operands

    @property
    def type(self) -> Type:
        """Its last type qualifier: the one that most instructions compute in."""
        if not self.types:
            raise self.unsupported("it names no type")
        return self.types[-1]

    @property
    def line(self) -> int:
        """The PTX line."""
        return self.node.span.line

    @property
    def text(self) -> str:
        """The instruction as PTX, on one line; as written if it contains names of ours."""
        text = print_statements((self.node,))
        if OURS in text:
            text = self.node.source.text[self.node.start : self.node.end]
        return " ".join(text.split())

    def has(self, *qualifiers: str) -> bool:
        """Whether it has any of these qualifiers."""
        return any(q in self.node.qualifiers for q in qualifiers)

    def one_of(self, qualifiers: Iterable[str], default: str = "") -> str:
        """The first of its qualifiers that is among these."""
        known = frozenset(qualifiers)
        return next((q for q in self.node.qualifiers if q in known), default)

    def unsupported(self, why: str = "the machine does not know this form") -> UnsupportedInstruction:
        """The exception to raise for a form that is not implemented."""
        return UnsupportedInstruction(self.line, self.text, why)


@dataclass(frozen=True, slots=True, eq=False)
class BasicBlock:
    """Instructions that run one after the other; only the last one may branch."""

    number: int
    ops: tuple[Op, ...]
    function: FunctionPlan
    after: Op | None = None  # the call whose callee returns here


@dataclass(slots=True, eq=False)
class FunctionPlan:
    """A function with its names placed.

    Attributes:
        frame_bytes: The bytes that it needs in each lane's local memory.
        first: The number of its first block.
        signature: The places of its results and parameters in its frame (not used for the entry).
    """

    node: tree.Function
    number: int
    scope: Scope
    is_entry: bool
    frame_bytes: int = FRAME_HEAD
    first: int = 0
    signature: Signature = Signature((), ())

    @property
    def name(self) -> str:
        """As written."""
        return self.node.name


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """A parameter of the entry: its place and its declaration.

    Attributes:
        name: Its name in the PTX.
        called: Its name in the source, or in the PTX if that is unknown.
        wanted: Its description in messages.
    """

    name: str
    type: Type
    offset: int
    size: int
    is_array: bool
    alignment: int
    called: str = ""
    wanted: str = field(init=False)

    def __post_init__(self) -> None:
        if not self.called:
            object.__setattr__(self, "called", self.name)
        wanted = f"{self.called}, a .{self.type.name}{f'[{self.size}]' if self.is_array else ''}"
        object.__setattr__(self, "wanted", wanted)


class SavedRegister(NamedTuple):
    """A register saved by a call: its place in the file, its bytes per lane (0: a predicate), its cell."""

    place: int
    size: int
    cell: int


@dataclass(frozen=True, slots=True)
class CallSite:
    """A planned call.

    Attributes:
        callee: A function of the program, or a service; None if it is called through its address.
        function: The operand with its name or address.
        signature: Its parameters and results, by the function itself or by the prototype.
        results: The caller's variables that take the results.
        arguments: Those that hold the arguments.
        kept: The registers that the callee may overwrite, because it may call the caller's function.
    """

    callee: FunctionPlan | Service | None
    function: tree.Operand
    signature: Signature
    results: tuple[Variable, ...]
    arguments: tuple[Variable, ...]
    kept: tuple[SavedRegister, ...] = ()

    @property
    def kept_cells(self) -> int:
        """The number of cells for saved registers."""
        return sum(cells_of(kept.size) for kept in self.kept)


def cells_of(size: int) -> int:
    """The number of cells for a register of `size` bytes per lane."""
    return -(-size // _CELL) or 1


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Program:
    """A kernel with every function it can reach.

    Attributes:
        target: The architecture of the tensor cores: `sm_75` to `sm_121`.
        reserved_bytes: The system's part at the start of shared memory, in a program that can name it; 0 in others,
            which cannot observe it.
    """

    module: Module
    entry: FunctionPlan
    functions: tuple[FunctionPlan, ...]
    target: str
    blocks: tuple[BasicBlock, ...]
    ops: tuple[Op, ...]
    register_bytes: int
    shared_bytes: int
    reserved_bytes: int
    parameters: tuple[Parameter, ...]
    parameter_bytes: int
    calls: Mapping[int, CallSite]  # by their sites
    sums: Mapping[int, AddressSum]  # of addresses, by the sites that use them
    knowledge: Knowledge
    has_calls: bool  # whether any function calls another, or allocates memory on the stack
    is_paired: bool  # whether it is for pairs of CTAs: shared addresses carry the rank of their CTA in the cluster

    @property
    def architecture(self) -> int:
        """The number of the module's target, 90 for `sm_90a`; 0 if it names no target."""
        return next((int(found[1]) for name in self.module.target if (found := _TARGET.match(name))), 0)

    def signature_number(self, signature: Signature) -> int:
        """The number of the functions with a signature; a number that no function has if there are none."""
        agreeing = (f.number for f in self.functions if not f.is_entry and f.signature == signature)
        return next(agreeing, len(self.functions))
