"""Records of chosen instructions: addresses, and registers before and after, as arrays."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.display import mimebundle
from ptxloom.fragments.filled import fill
from ptxloom.fragments.matrix_operands import matrix_operands
from ptxloom.isa.limits import LANES
from ptxloom.isa.types import element_type
from ptxloom.syntax import print_operand, tree
from ptxloom.wording import lanes_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from ptxloom.fragments.filled import Filled
    from ptxloom.syntax.origins import SourceLine

Blocks: TypeAlias = "str | Iterable[int | Sequence[int]]"
Request: TypeAlias = "str | int | Trace"


@dataclass(frozen=True, slots=True)
class Trace:
    """A request to record instructions.

    Attributes:
        what: A PTX line (`123`); a line of the compiled program (`"kernel.cu:45"`); or a pattern as `pl.instructions`
            takes it (`"ldmatrix"`, `"ld.shared.*"`).
        blocks: The CTAs, by index or by (x, y, z); or `"all"`.
        warps: The warps of each; None for all.
        first: How many executions by each warp are skipped before the first that is recorded.
        limit: How many of each warp are recorded after that.
        lanes: The lanes that are recorded; None for all.
        when: The condition for a lane to be recorded, such as `"%r5 > 100 and %tid.x < 8"`; an execution without such a
            lane does not count towards `limit`. Registers are what the instruction reads (of one that it only writes,
            what it leaves), as numbers of their declared type; `f32(%r1)` reads bits anew.

    Example:
        >>> from ptxloom.machine import kernel
        >>> from ptxloom.syntax import parse
        >>> text = ".version 9.0 .target sm_90 .entry k() { .reg .b32 %r; mov.u32 %r, %laneid; ret; }"
        >>> out = kernel(parse(text), "k").launch(grid=1, block=64, trace=[Trace("mov", warps=[1])])
        >>> [(one.line, one.warp) for one in out.trace]
        [(1, 1)]
    """

    what: str | int
    blocks: Blocks = (0,)
    warps: Iterable[int] | None = None
    first: int = 0
    limit: int = 16
    lanes: Iterable[int] | None = None
    when: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class TraceRecord:
    """One execution of an instruction by one warp.

    Attributes:
        line: The PTX line.
        instruction: The instruction as PTX.
        node: The same in the tree.
        origin: The line of the compiled program, if the module records it.
        block: The CTA's (x, y, z).
        warp: The warp within the CTA.
        number: The number of this execution by the warp, from 0.
        order: Its position among all records of the warp.
        lanes: The lanes that executed it.
        addresses: (32,) uint64 within the state space; None if it has no address.
        before: (32,) of each register that it reads, as unsigned integers (predicates as bool), as it was before.
        after: The same of each register that it writes, as it was after; empty if it ended the
            kernel, or had to wait for its result (`bar.red`).
        locate: Names the object at an address.
        chosen: Those of its lanes that the request chose.
        block_shape: The threads of a CTA along x, y and z.

    Example:
        >>> from ptxloom.machine import kernel
        >>> from ptxloom.syntax import parse
        >>> text = ".version 9.0 .target sm_90 .entry k() { .reg .b32 %r; mov.u32 %r, %laneid; ret; }"
        >>> record = kernel(parse(text), "k").launch(grid=1, block=32, trace=["mov"]).trace[0]
        >>> record.after["%r"][:4]
        array([0, 1, 2, 3], dtype=uint32)
    """

    line: int
    instruction: str
    node: tree.Instruction = field(repr=False)
    origin: SourceLine | None = field(repr=False)
    block: tuple[int, int, int]
    warp: int
    number: int
    order: int
    lanes: tuple[int, ...] = field(repr=False)
    addresses: NDArray[np.uint64] | None = field(repr=False)
    before: Mapping[str, NDArray[Any]] = field(repr=False)
    after: Mapping[str, NDArray[Any]] = field(repr=False)
    locate: Callable[[int], str] = field(repr=False)
    chosen: tuple[int, ...] = field(repr=False)
    block_shape: tuple[int, int, int] = field(repr=False)

    _repr_mimebundle_ = mimebundle

    def __str__(self) -> str:
        missing = "" if len(self.lanes) == LANES else f", {lanes_text(self.lanes)}"
        where = f"block {self.block}, warp {self.warp}, execution {self.number}{missing}"
        if self.origin is None:
            return f"line {self.line}: {self.instruction} ({where})"
        inlined = "" if self.origin.into is None else f"{self.origin}, "
        return f"{str(self.origin.home).partition(',')[0]}: {self.instruction} ({inlined}PTX line {self.line}, {where})"

    @property
    def places(self) -> tuple[str, ...]:
        """(32,) the object at each address, such as `tile+0x40` or `args[0]+0x100`; empty for lanes without one."""
        found = [""] * LANES
        if self.addresses is not None:
            for lane in self.lanes:
                found[lane] = self.locate(int(self.addresses[lane]))
        return tuple(found)

    @property
    def threads(self) -> tuple[tuple[int, int, int], ...]:
        """(32,) the (x, y, z) of each lane's thread in its CTA."""
        x, y, _ = self.block_shape
        numbers = range(self.warp * LANES, (self.warp + 1) * LANES)
        return tuple((number % x, number // x % y, number // (x * y)) for number in numbers)

    @property
    def pointers(self) -> frozenset[str]:
        """The registers that addresses are made of."""
        found = (operand.base for operand in self.node.operands if isinstance(operand, tree.Address))
        return frozenset(base.text for base in found if isinstance(base, tree.Name))

    @property
    def operands(self) -> tuple[str, ...]:
        """The operands that are matrices in registers: `a`, `b`, `c`, `d` of products, `r` of moves; else empty."""
        return tuple(one.name for one in matrix_operands(self.node))

    def filled(self, type_: str = "", operand: str = "") -> Filled:
        """A matrix operand with the values its registers held.

        Args:
            type_: What to read the bits as: f16, bf16, s8, e4m3, b16, ...; by default the instruction's.
            operand: The operand, if there are several; by default the destination.

        Returns:
            The fragment with a value for each element.

        Raises:
            UnsupportedForm: There is no such form.
            UsageError: There is no such operand or type, or the operand is not in registers of its own.
        """
        known = {one.name: one for one in matrix_operands(self.node)}
        found = known.get(operand) if operand else next(iter(known.values()), None)
        if found is None:
            raise UsageError("operand", operand, ", ".join(known) or "an operand of an instruction that moves matrices")
        registers = self._registers(found.place, found.name)
        return replace(fill(found.fragment, registers, type_ or found.type), first_row=found.first_row(self.warp))

    def matrices(self, type_: str = "", operand: str = "") -> tuple[Filled, ...]:
        """The matrix operands with their values, or the one that is named; empty if it moves no matrix.

        Args:
            type_: For the operand that is named; otherwise for all whose elements are as wide.
            operand: The operand; by default all whose registers were recorded.

        Returns:
            A fragment with values for each of them.

        Raises:
            UsageError: There is no such operand or type, or no operand has such a type.
        """
        wanted = (operand,) if operand and self.operands else self.operands
        found: list[Filled] = []
        for name in wanted:
            own = type_ if len(wanted) == 1 or "mma" not in self.instruction or self._is_as_wide(name, type_) else ""
            try:
                found.append(self.filled(own, name))
            except PtxloomError:
                if own or operand:
                    raise
        if type_ and found and all(filled.type != type_ for filled in found):
            widths = ", ".join(f"{filled.fragment.operand} {filled.type}" for filled in found)
            raise UsageError(
                "type", type_, f"as wide as the elements of an operand ({widths}), or for one that is named"
            )
        return tuple(found)

    def _is_as_wide(self, operand: str, type_: str) -> bool:
        """Whether values of a type are as wide as the elements of an operand."""
        if not type_:
            return False
        known = element_type(type_)
        width = next(one.fragment.width for one in matrix_operands(self.node) if one.name == operand)
        return width in {known.bits, known.container_bits}

    def _registers(self, place: int, operand: str) -> NDArray[np.uint64]:
        """(32, registers) what an operand's registers held."""
        source = self.node.operands[place]
        names = [one.text if isinstance(one, tree.Name) else print_operand(one) for one in tree.elements_of(source)]
        values = self.after if place == 0 else self.before
        missing = [name for name in names if name not in values]
        if missing:
            raise UsageError("operand", operand, f"one whose registers are all recorded; `{missing[0]}` is not")
        return np.stack([values[name].astype(np.uint64) for name in names], axis=1)


class TraceRecords(tuple[TraceRecord, ...]):  # noqa: SLOT001 - a tuple's subclass has no room for slots
    """The records, in order.

    Attributes:
        unseen: Executions that were not tested against a condition, because there were too many.
    """

    unseen: int

    def __new__(cls, records: Iterable[TraceRecord] = (), unseen: int = 0) -> Self:
        """TraceRecords as a tuple."""
        made = super().__new__(cls, records)
        made.unseen = unseen
        return made

    def __repr__(self) -> str:
        """How many there are: all of them would be pages."""
        return f"<{len(self)} trace records, {self.unseen} executions not tested>"
