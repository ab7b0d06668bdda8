"""Racecheck, as an instrument: told of what touches shared and global memory, and of what orders such accesses."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

from ptxloom.isa.shapes import is_shape
from ptxloom.machine.analysis.definite_assignment import key_of, names_read, names_written
from ptxloom.machine.analysis.product_registers import fragments, renamed
from ptxloom.machine.analysis.product_registers import product_registers as registers_of_products
from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import READ, UPDATE, WRITE, reports_to_mbarrier
from ptxloom.machine.codegen.addresses import addresses_at, space_of
from ptxloom.machine.codegen.builder import Instrument
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.runtime import shadow, state
from ptxloom.machine.runtime.racecheck import (
    async_operations,
    barrier_order,
    global_flags,
    global_memory,
    pending_global,
    product_registers,
    proxies,
    shared_flags,
    slow_path,
)
from ptxloom.machine.runtime.racecheck.fast_path import race_name, race_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ptxloom.machine.codegen.access import Access, AccessPiece
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.program.symbols import Key

NEAR: Final = "racecheck"  # the check of shared memory
FAR: Final = "racecheck:global"
_SCOPES: Final = {"cta": 0, "cluster": 1, "gpu": 2, "gl": 2, "sys": 3}


class Racecheck(Instrument):
    """Emits the code that tells `runtime.racecheck` what happens."""

    def __init__(self, checks: frozenset[str], registers: Mapping[Key, int]) -> None:
        self.near = NEAR in checks
        self.far = FAR in checks
        self._registers: Mapping[Key, int] = registers if self.near else {}

    def sees(self, op: Op) -> bool:
        """What touches a register of products."""
        return bool(self._registers) and any(True for _ in self._touched(op))

    # -- what orders accesses

    def before(self, b: Builder) -> None:
        """Fences, and what begins and ends asynchronous operations."""
        op = b.op
        if self._registers:
            self._products(b)
        match op.opcode:
            case "fence" | "membar":
                self._fence(b)
            case "barrier" if op.has("cluster") and op.has("arrive"):
                b.runtime(barrier_order.arrive_in_cluster, W, b.active_mask, int(op.has("relaxed")))
            case "cp" if op.has("commit_group"):
                b.runtime(async_operations.commit_group, W, b.active_mask, int(op.has("bulk")))
            case "cp" if op.has("wait_group", "wait_all"):
                kept = b.literal(op.operands[0]) if op.has("wait_group") else None
                facts = (state.NONE if kept is None else kept, int(op.has("bulk")), int(op.has("read")))
                b.runtime(async_operations.wait_group, W, b.active_mask, *facts)
            case "cp" if op.has("mbarrier") and op.has("arrive"):
                addresses_at(b, op.operands[0], space_of(op), state.MBARRIER_BYTES)
                b.runtime(async_operations.hand_over, W, b.active_mask, b.scratch(), space_of(op))
            case "red" if reports_to_mbarrier(op):
                target = addresses_at(b, op.operands[0], state.SHARED, op.type.bits // 8)
                _issue(b, target, op.type.bits // 8, op.site | shadow.STRONG)
            case _:
                pass

    def after(self, b: Builder) -> None:
        """Barriers of lanes: they have come together."""
        op = b.op
        if op.opcode == "bar" and op.has("warp"):
            b.store(b.read(op.operands[0], "b32"), b.scratch(), 64)
            b.runtime(barrier_order.sync_lanes, W, b.active_mask)
        elif op.opcode == "tensormap" and op.has("cp_fenceproxy"):
            b.runtime(proxies.fence_maps, W, b.active_mask, 1)

    # -- registers of products

    def _products(self, b: Builder) -> None:
        """Products and fences between them, and what else touches their registers."""
        op = b.op
        if is_product(op):
            shape = zlib.crc32(".".join(q for q in op.qualifiers if is_shape(q)).encode())
            d, a = fragments(op)
            for number in self._numbers(op, a):
                b.runtime(product_registers.take_factor, W, number, op.site)
            for number in self._numbers(op, d):
                b.runtime(product_registers.accumulate, W, number, shape, op.site)
        elif op.opcode == "wgmma" and op.has("fence"):
            b.runtime(product_registers.fence_registers, W)
        else:
            names = renamed(op)
            both = self._numbers(op, names or ())
            if len(both) == 2:
                b.runtime(product_registers.rename_register, W, *both)
                return
            for number, write in self._touched(op):
                b.runtime(product_registers.touch_register, W, number, write, op.site)

    def _touched(self, op: Op) -> Iterator[tuple[int, int]]:
        """The registers of products that an instruction touches, and 1 of those that it writes."""
        for write, names in ((0, [name.text for _, name in names_read(op)]), (1, names_written(op))):
            for number in self._numbers(op, names):
                yield number, write

    def _numbers(self, op: Op, names: Iterable[str]) -> list[int]:
        keys = (key_of(op.scope, name) for name in names)
        return [self._registers[key] for key in keys if key is not None and key in self._registers]

    def _fence(self, b: Builder) -> None:
        op = b.op
        if op.has("mbarrier_init"):
            b.runtime(shared_flags.fence_inits, W, b.active_mask)
        elif not op.has("proxy"):
            does = shared_flags.RELEASE * (not op.has("acquire")) | shared_flags.ACQUIRE * (not op.has("release"))
            if scope_of(op) >= shadow.GPU_SCOPE and self.far:
                total = int(op.opcode == "membar" or op.has("sc"))
                b.runtime(global_flags.fence_grid, W, b.active_mask, does, total)
            b.runtime(shared_flags.fence, W, b.active_mask, scope_of(op), does)
        elif op.has("async", "async::generic"):
            shared = any("shared" in q for q in op.qualifiers)
            b.runtime(proxies.fence_proxy, W, b.active_mask, int(not op.has("global")), int(not shared))
        elif op.has("tensormap::generic"):
            b.runtime(proxies.fence_maps, W, b.active_mask, int(op.has("release")))

    # -- accesses

    def access(self, b: Builder, access: Access) -> None:
        """Compare it with what others have done, and remember it."""
        if reports_to_mbarrier(b.op):
            if access.kind == WRITE and not access.is_mbarrier:
                for piece in access.pieces:
                    place = _wide_addresses(b, access, piece.at)
                    _issue(b, place, piece.bits // 8 * piece.parts, b.op.site, piece)
            return
        if access.is_issued:
            return
        is_flag = access.strong and not access.is_mbarrier
        acquires = is_flag and access.kind != WRITE and b.op.has("acquire", "acq_rel")
        if acquires:
            self._flag(b, access, shared_flags.LOADS | shared_flags.ACQUIRE)  # it comes behind what it acquires
        for piece in access.pieces:
            if self.far and access.space in {state.GLOBAL, state.GENERIC}:
                _look_far(b, access, piece)
            if self.near and access.space in {state.SHARED, state.GENERIC}:
                _look_near(b, access, piece)
        if is_flag and not (acquires and access.kind == READ):
            loads, stores = access.kind in {READ, UPDATE}, access.kind != READ
            does = shared_flags.LOADS * loads | shared_flags.STORES * stores
            does |= shared_flags.RELEASE * (stores and b.op.has("release", "acq_rel"))
            self._flag(b, access, does)

    def _flag(self, b: Builder, access: Access, does: int) -> None:
        """A strong access may release, acquire, or be part of either."""
        if access.space not in {state.SHARED, state.GENERIC, state.GLOBAL}:
            return
        facts = (_wide_addresses(b, access), b.active_mask, access.space, does, scope_of(b.op))
        if self.far:
            b.runtime(global_flags.flag_grid, W, *facts)
        b.runtime(shared_flags.strong, W, *facts)


def _issue(b: Builder, target: Value, size: int, site: int, piece: AccessPiece | None = None) -> None:
    """`st.async`, `red.async`: what each lane writes, if that is known, and the mbarrier that tells its end."""
    barrier = addresses_at(b, b.op.operands[2], state.SHARED, state.MBARRIER_BYTES, scratch.BARRIERS)
    held = _held(b, piece.places if piece is not None else ())
    part_bytes = piece.bits // 8 if piece is not None else size
    b.runtime(async_operations.write_async, W, b.active_mask, target, barrier, size, site, held, part_bytes)


def _held(b: Builder, places: tuple[Value, ...]) -> Value:
    """The places of the registers that are stored, one after the other; null if nobody knows them."""
    for number, place in enumerate(places):
        b.store(place, b.scratch(scratch.PLACES + 8 * number), 8)
    return b.scratch(scratch.PLACES) if places else Value("ptr", "null")


def _wide_addresses(b: Builder, access: Access, by: int = 0) -> Value:
    """Where the 32 addresses of an access, or of what lies so many bytes behind it, lie with 64 bits, whole."""
    if access.address_bits == 64 and not access.offset and not by:
        return access.addresses
    at = b.resize(b.load(vector(f"i{access.address_bits}"), access.addresses, 4), 64)
    at = b.apply("add", at, b.constant(at.type, access.offset + by))
    if access.space == state.SHARED:
        at = b.apply("and", at, b.constant(at.type, state.WINDOW_BYTES - 1))
    place = b.scratch(scratch.SOURCES)
    b.store(at, place, 64)
    return place


def _look_near(b: Builder, access: Access, piece: AccessPiece) -> None:
    """Tell of an access that may be to shared memory."""
    lanes = b.active_mask if access.lanes is None else access.lanes
    site = _site(b, access)
    offset = access.offset + piece.at
    if access.strong:
        does = shadow.READS if access.kind == READ else shadow.WRITES
        wide = int(access.address_bits == 64)
        facts = (access.space, piece.bits // 8 * piece.parts, site, does, wide)
        b.runtime(slow_path.check_strong, W, access.addresses, offset, lanes, *facts)
        return
    window = "generic" if access.space == state.GENERIC else "wide" if access.address_bits == 64 else "shared"
    verb = access.kind if access.kind == READ or piece.places else "touch"
    name = race_name(verb, window, piece.bits, piece.parts)
    b.accesses.add(name)
    b.declarations[name] = f"declare void @{name}({race_parameters(name)})"
    values = "" if access.kind == READ else "".join(f", {p}" for p in piece.places)
    b.do(f"call void @{name}({W}, {access.addresses}, i64 {offset}, {lanes}, i32 {site}{values})")


def _look_far(b: Builder, access: Access, piece: AccessPiece) -> None:
    """Tell of an access that may be to global memory."""
    lanes = b.active_mask if access.lanes is None else access.lanes
    held = _held(b, piece.places if access.kind != READ else ())
    does = shadow.WRITES if access.kind != READ else shadow.READS_ONLY if b.op.has("nc") else shadow.READS
    at = (access.addresses, access.offset + piece.at, lanes)
    facts = (access.space, piece.bits // 8 * piece.parts, _site(b, access))
    b.runtime(global_memory.look, W, *at, *facts, does, held, piece.bits // 8)
    b.runtime(pending_global.meet_operations, W, *at, *facts, int(does == shadow.WRITES))


def _site(b: Builder, access: Access) -> int:
    """The instruction, and whether it is strong, and may be one that waits."""
    if not access.strong:
        return b.op.site
    return b.op.site | shadow.STRONG | (shadow.LOOKS_AGAIN if access.kind != WRITE else 0)


# -- of instructions, before any code is made


class Ordering(NamedTuple):
    """What racecheck asks of a program before each launch.

    Attributes:
        strengths: How strong each instruction's accesses are, a byte each (`Launch.strengths`).
        by_async_proxy: Something touches memory through the async proxy.
        fences_inits: Something hands on what `mbarrier.init` did.
        finely: Something can order some threads of a CTA and not all.
        copies: Something copies while the kernel goes on.
        maps: Something orders what is done to tensor maps.
        products: Something multiplies while the kernel goes on.
        fragments: How many registers such products hold.
    """

    strengths: bytes
    by_async_proxy: bool
    fences_inits: bool
    finely: bool
    copies: bool
    maps: bool
    products: bool
    fragments: int


_ORDERINGS: Final[WeakKeyDictionary[Program, Ordering]] = WeakKeyDictionary()


def ordering_of(program: Program) -> Ordering:
    """What a program's instructions order, found out once."""
    found = _ORDERINGS.get(program)
    if found is None:
        found = _ORDERINGS[program] = Ordering(
            bytes(strength_of(op) for op in program.ops),
            any(goes_by_async_proxy(op) for op in program.ops),
            any(op.opcode == "fence" and op.has("mbarrier_init") for op in program.ops),
            any(orders_finely(op) for op in program.ops),
            any(op.opcode == "cp" and op.has("async") for op in program.ops),
            any(orders_maps(op) for op in program.ops),
            any(is_product(op) for op in program.ops),
            len(registers_of_products(program)),
        )
    return found


def is_wanted(checks: frozenset[str]) -> bool:
    """Whether racecheck watches a run, shared memory or global memory."""
    return not checks.isdisjoint((NEAR, FAR))


def is_product(op: Op) -> bool:
    """Whether an instruction multiplies matrices asynchronously."""
    return op.opcode == "wgmma" and op.has("mma_async")


def multiplies_into_tensor_memory(op: Op) -> bool:
    """Whether an instruction multiplies what it reads of shared memory into tensor memory."""
    return op.opcode == "tcgen05" and op.has("mma")


def goes_by_async_proxy(op: Op) -> bool:
    """Whether an instruction touches memory through the async proxy."""
    return (
        is_product(op)
        or multiplies_into_tensor_memory(op)
        or (op.opcode == "cp" and op.has("bulk"))
        or (op.opcode == "clusterlaunchcontrol" and op.has("async"))
    )


def orders_maps(op: Op) -> bool:
    """Whether an instruction changes tensor maps, or orders such changes."""
    return op.opcode == "tensormap" or op.has("tensormap::generic")


def orders_finely(op: Op) -> bool:
    """Whether an instruction can order accesses of some threads of a CTA and not of all."""
    match op.opcode:
        case "bar" | "barrier":
            return op.has("warp", "cluster", "arrive") or len(op.operands) > 1 + op.has("red") * 2
        case "mbarrier" | "fence" | "membar" | "tensormap":
            return True
        case "cp" if op.has("mbarrier"):
            return True
        case "st" | "red" if reports_to_mbarrier(op):
            return True
        case _:
            return goes_by_async_proxy(op) or op.has("acquire", "release", "acq_rel")


def scope_of(op: Op) -> int:
    """The scope of a strong access or a fence; the whole GPU if it names none, the system for volatile ones."""
    words = (_SCOPES[q] for q in op.qualifiers if q in _SCOPES)
    return next(words, shadow.SYSTEM_SCOPE if op.has("volatile", "mmio") else shadow.GPU_SCOPE)


def strength_of(op: Op) -> int:
    """What `Launch.strengths` holds of an instruction: whom it may meet, if it is strong.

    An mbarrier is an object of its own, whatever the scope in which its operations order accesses, and however large
    are the values of those which report to it.
    """
    proxy = shadow.ASYNC_PROXY if goes_by_async_proxy(op) else 0
    if op.opcode == "mbarrier" and op.has("init"):
        return shadow.SETS_UP
    if op.opcode in {"mbarrier", "cp"} or op.has("async") or not op.types:
        return proxy | shadow.SYSTEM_SCOPE
    return scope_of(op) | op.type.bits // op.type.packed // 8 << shadow.SIZE_SHIFT
