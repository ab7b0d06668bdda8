"""What chosen instructions saw: addresses, and registers before and after, as arrays."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, field
from math import prod
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ptxloom.diagnostics import PtxloomError, UsageError, must_be, must_be_several
from ptxloom.display import mimebundle
from ptxloom.fragments import fragment
from ptxloom.fragments.filled import fill
from ptxloom.isa.limits import LANES
from ptxloom.isa.types import element_type, is_type
from ptxloom.machine.codegen.addresses import space_of
from ptxloom.machine.instruments.trace import DONE, HEAD_BYTES, fields_of, record_bytes
from ptxloom.machine.memory.arena import zeroed
from ptxloom.machine.native import language
from ptxloom.machine.results.wording import lanes_text
from ptxloom.machine.runtime import tracing as recorder
from ptxloom.machine.runtime.state import TracedSite
from ptxloom.syntax import print_operand, tree
from ptxloom.syntax.origins import Origins
from ptxloom.syntax.visitor import instructions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from ptxloom.fragments import Fragment
    from ptxloom.fragments.filled import Filled
    from ptxloom.machine.instruments.trace import Field
    from ptxloom.machine.memory.address_map import Atlas
    from ptxloom.machine.memory.arena import Budget
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.syntax.origins import SourceLine

Blocks: TypeAlias = "str | Iterable[int | Sequence[int]]"
Request: TypeAlias = "str | int | Trace"

_SOURCE: Final = re.compile(r"(.+):(\d{1,9})")
_OPERANDS: Final = {"mma": ("d", "a", "b", "c"), "movmatrix": ("d", "a"), "ldmatrix": ("r",), "stmatrix": ("", "r")}


@dataclass(frozen=True, slots=True)
class Trace:
    """What to record of which instructions.

    Attributes:
        what: A PTX line (`123`); a line of the compiled program (`"kernel.cu:45"`); or a pattern as
            `pl.instructions` takes it (`"ldmatrix"`, `"ld.shared.*"`).
        blocks: The CTAs, by index or by (x, y, z); or `"all"`.
        warps: The warps of each; None for all.
        first: How many executions by each warp are passed over.
        limit: How many of each warp are recorded after that.

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


@dataclass(frozen=True, slots=True, eq=False)
class TraceRecord:
    """One execution of an instruction by one warp.

    Attributes:
        line: The PTX line.
        instruction: The instruction as PTX.
        node: The same in the tree.
        origin: The line of the compiled program, where the module says so.
        block: The CTA's (x, y, z).
        warp: The warp within the CTA.
        number: Which execution by this warp, from 0.
        order: Where it stands among all that was recorded of the warp.
        lanes: The lanes that executed it.
        addresses: (32,) uint64 within the state space; None if it has no address.
        before: (32,) of each register that it reads, as unsigned integers (predicates as bool), as it was before.
        after: The same of each register that it writes, as it was after; empty if it ended the
            kernel, or had to wait for its result (`bar.red`).
        locate: Names an address: what lies there.

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

    _repr_mimebundle_ = mimebundle

    def __str__(self) -> str:
        origin = f"{self.origin}, " if self.origin else ""
        missing = "" if len(self.lanes) == LANES else f", {lanes_text(self.lanes)}"
        where = f"{origin}block {self.block}, warp {self.warp}, execution {self.number}{missing}"
        return f"line {self.line}: {self.instruction} ({where})"

    @property
    def places(self) -> tuple[str, ...]:
        """(32,) what lies at each address, such as `tile+0x40` or `args[0]+0x100`; empty for lanes without one."""
        found = [""] * LANES
        if self.addresses is not None:
            for lane in self.lanes:
                found[lane] = self.locate(int(self.addresses[lane]))
        return tuple(found)

    @property
    def pointers(self) -> frozenset[str]:
        """The registers that addresses are made of."""
        found = (operand.base for operand in self.node.operands if isinstance(operand, tree.Address))
        return frozenset(base.text for base in found if isinstance(base, tree.Name))

    @property
    def operands(self) -> tuple[str, ...]:
        """The operands that hold matrices: `a`, `b`, `c`, `d` of mma, `r` of ldmatrix and stmatrix; else none."""
        return tuple(name for name in _OPERANDS.get(self.node.opcode, ()) if name)

    def filled(self, type_: str = "", operand: str = "") -> Filled:
        """A matrix operand with the values its registers held.

        Args:
            type_: What to read the bits as: f16, bf16, s8, e4m3, b16, ...; by default what the instruction says.
            operand: Which operand, if there are several; by default the destination.

        Returns:
            The fragment with a value for each element.

        Raises:
            UnsupportedForm: There is no such form.
            UsageError: There is no such operand or type, or the operand is not in registers of its own.
        """
        known = self.operands
        name = operand or (known[0] if known else "")
        if name not in known:
            raise UsageError("operand", operand, ", ".join(known) or "an operand of an instruction that moves matrices")
        held = self._fragment(name)
        registers = self._registers(_OPERANDS[self.node.opcode].index(name), name)
        return fill(held, registers, type_ or self._type(name))

    def matrices(self, type_: str = "", operand: str = "") -> tuple[Filled, ...]:
        """The matrix operands with their values, or the one that is named; none if it moves no matrix.

        Args:
            type_: For the operand that is named; otherwise for all whose elements are as wide.
            operand: Which operand; by default all whose registers were recorded.

        Returns:
            A fragment with values for each of them.

        Raises:
            UsageError: There is no such operand or type, or the type fits none.
        """
        wanted = (operand,) if operand and self.operands else self.operands
        found: list[Filled] = []
        for name in wanted:
            own = type_ if len(wanted) == 1 or self.node.opcode != "mma" or self._is_as_wide(name, type_) else ""
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
        return self._fragment(operand).width in {known.bits, known.container_bits}

    def _fragment(self, operand: str) -> Fragment:
        return fragment(".".join((self.node.opcode, *self.node.qualifiers)), None if operand == "r" else operand)

    def _type(self, operand: str) -> str:
        """The type that the instruction gives an operand; none for those that only move bits."""
        types = [word for word in self.node.qualifiers if is_type(word)]
        return dict(zip("dabc", types, strict=False)).get(operand, "") if len(types) >= 4 else ""

    def _registers(self, place: int, operand: str) -> NDArray[np.uint64]:
        """(32, registers) what an operand's registers held."""
        source = self.node.operands[place]
        elements = source.elements if isinstance(source, tree.Vector) else (source,)
        names = [one.text if isinstance(one, tree.Name) else print_operand(one) for one in elements]
        values = self.after if place == 0 else self.before
        missing = [name for name in names if name not in values]
        if missing:
            raise UsageError("operand", operand, f"one whose registers are all recorded; `{missing[0]}` is not")
        return np.stack([values[name].astype(np.uint64) for name in names], axis=1)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A request held against a program and a launch: sites by number, CTAs by index."""

    sites: tuple[int, ...]
    blocks: Sequence[int]
    warps: tuple[int, ...]
    first: int
    limit: int


def choose(requests: Sequence[Request], program: Program, grid: tuple[int, int, int], warps: int) -> tuple[Chosen, ...]:
    """Find what is asked for; an instruction belongs to the first request that names it.

    Raises:
        UsageError: A request names nothing, or a CTA or warp that there is not.
    """
    taken = set[int]()
    found: list[Chosen] = []
    must_be_several("trace", requests, "patterns, lines and `Trace`s")
    for request in requests:
        trace = request if isinstance(request, Trace) else Trace(request)
        sites = tuple(site for site in _sites(trace.what, program) if site not in taken)
        taken.update(sites)
        numbers = tuple(range(warps)) if trace.warps is None else tuple(sorted(set(trace.warps)))
        if any(not 0 <= n < warps for n in numbers):
            raise UsageError("warps", trace.warps, f"warps from 0 to {warps - 1}")
        if trace.first < 0:
            raise UsageError("first", trace.first, "0 or more")
        if trace.limit < 1:
            raise UsageError("limit", trace.limit, "1 or more")
        found.append(Chosen(sites, _blocks(trace.blocks, grid), numbers, trace.first, trace.limit))
    return tuple(found)


def _sites(what: str | int, program: Program) -> tuple[int, ...]:
    """The instructions that a request names.

    Raises:
        UsageError: There are none.
    """
    must_be(str | int, "trace", what, "a pattern or a line")
    ops = [op for op in program.ops if op.node.end > op.node.start]
    match what:
        case int():
            sites = [op.site for op in ops if op.line == what]
        case _ if source := _SOURCE.fullmatch(what):
            origins = Origins(program.module)
            sites = [op.site for op in ops if _comes_from(origins.at(op.node.start), source[1], int(source[2]))]
        case _:
            sites = [op.site for op in ops if any(instructions(op.node, what))]
    if not sites:
        raise UsageError(
            "trace",
            what,
            "a PTX line, a source line such as 'kernel.cu:45', or a pattern that some "
            "instruction of the kernel matches",
        )
    return tuple(sites)


def _comes_from(origin: SourceLine | None, file: str, line: int) -> bool:
    while origin is not None:
        path, wanted = PurePath(origin.file).parts, PurePath(file).parts
        if origin.line == line and path[-len(wanted) :] == wanted:
            return True
        origin = origin.into
    return False


def _blocks(blocks: Blocks, grid: tuple[int, int, int]) -> Sequence[int]:
    """The CTAs by index, in order.

    Raises:
        UsageError: There is no such CTA.
    """
    total = prod(grid)
    if isinstance(blocks, str):
        if blocks != "all":
            raise UsageError("blocks", blocks, "blocks by number or as (x, y, z), or 'all'")
        return range(total)
    found: list[int] = []
    for block in blocks:
        x, y, z = (block, 0, 0) if isinstance(block, int) else (*block, 0, 0)[:3]
        most, too_long = (total, False) if isinstance(block, int) else (grid[0], len(block) > len(grid))
        if too_long or not (0 <= x < most and 0 <= y < grid[1] and 0 <= z < grid[2]):
            raise UsageError("blocks", block, f"within the grid {grid}, by number or as (x, y, z)")
        found.append(x + grid[0] * (y + grid[1] * z))
    return tuple(sorted(set(found)))


class Recording:
    """The rooms of one launch: what native code writes, and how it is read."""

    def __init__(
        self, program: Program, chosen: Sequence[Chosen], grid: tuple[int, int, int], warps: int, budget: Budget
    ) -> None:
        self.program = program
        self._budget = budget
        self.grid = grid
        self.warps = warps
        self.rooms: dict[int, tuple[Chosen, NDArray[np.uint8]]] = {}
        owners = sorted((site, one) for one in chosen for site in one.sites)
        table = (language.structure(TracedSite) * len(owners))()
        self.kept: list[Any] = [table]
        for number, (site, one) in enumerate(owners):
            self._fill(table[number], site, one)
        self.address, self.sites = ctypes.addressof(table), len(owners)

    def _fill(self, traced: Any, site: int, one: Chosen) -> None:
        """Tell native code of a traced instruction, and make room."""
        stride = -(-record_bytes(self.program.ops[site]) // 64) * 64
        rooms = (len(one.blocks) * self.warps, recorder.ROOM_HEAD + one.limit * stride)
        what = f"records of line {self.program.ops[site].line}"
        self._budget.charge(what, prod(rooms) + 8 * len(one.blocks))
        content = zeroed(prod(rooms), 1, what).reshape(rooms)
        blocks = np.array(one.blocks, np.uint64)
        self.kept.append(blocks)
        self.rooms[site] = (one, content)
        traced.blocks, traced.block_count = blocks.ctypes.data, len(blocks)
        traced.warps = sum(1 << warp for warp in one.warps)
        traced.rooms, traced.rooms_bytes = content.ctypes.data, content.nbytes
        traced.room_bytes, traced.record_bytes = rooms[1], stride
        traced.first, traced.limit = one.first, one.limit

    def records(self, atlas: Atlas) -> tuple[TraceRecord, ...]:
        """Everything recorded, by CTA, warp and order."""
        origins = Origins(self.program.module)
        found: list[TraceRecord] = []
        for site, (one, content) in self.rooms.items():
            op = self.program.ops[site]
            origin = origins.at(op.node.start)
            locate = _locator(atlas, op)
            stride = (content.shape[1] - recorder.ROOM_HEAD) // one.limit
            for room in np.flatnonzero(content[:, :8].view(np.uint64)[:, 0] > one.first).tolist():
                count = int(content[room, :8].view(np.uint64)[0])
                block, warp = one.blocks[room // self.warps], room % self.warps
                for number in range(one.first, min(count, one.first + one.limit)):
                    at = recorder.ROOM_HEAD + (number - one.first) * stride
                    record = content[room, at : at + stride]
                    found.append(_record(op, record, origin, (self._place(block), warp, number), locate))
        return tuple(sorted(found, key=lambda r: (r.block[::-1], r.warp, r.order)))

    def _place(self, block: int) -> tuple[int, int, int]:
        x, y, _ = self.grid
        return block % x, block // x % y, block // (x * y)


def _locator(atlas: Atlas, op: Op) -> Callable[[int], str]:
    """Names the addresses of an instruction."""
    return lambda address: atlas.locate(op, space_of(op), address).name


def _record(
    op: Op,
    content: NDArray[np.uint8],
    origin: SourceLine | None,
    place: tuple[tuple[int, int, int], int, int],
    locate: Callable[[int], str],
) -> TraceRecord:
    order, mask = (int(n) for n in content[:HEAD_BYTES].view(np.uint64))
    values = [(part, _values(part, content[part.at : part.at + part.bytes])) for part in fields_of(op)]
    return TraceRecord(
        op.line, op.text, op.node, origin, *place, order - 1,
        tuple(lane for lane in range(LANES) if mask >> lane & 1),
        next((value for part, value in values if not part.name), None),
        {part.name: value for part, value in values if part.name and not part.after},
        {part.name: value for part, value in values if part.after and mask & DONE},
        locate,
    )  # fmt: skip


def _values(part: Field, content: NDArray[np.uint8]) -> NDArray[Any]:
    """(32,) what a part of a record holds by lane; (32, 2) of 128 bits."""
    if part.bits == 1:
        mask = int(content.view(np.uint64)[0])
        return np.array([mask >> lane & 1 for lane in range(LANES)], np.bool_)
    if part.bits == 128:
        return content.view(np.uint64).reshape(32, 2).copy()
    return content[: 4 * part.bits].view(f"u{part.bits // 8}").copy()
