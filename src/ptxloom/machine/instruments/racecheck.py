"""Racecheck, as an instrument: it observes accesses to shared and global memory, and what orders them."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

from ptxloom.binding.touches import UPDATES, done_at
from ptxloom.isa.shapes import is_shape
from ptxloom.machine.analysis.definite_assignment import key_of, names_read, names_written
from ptxloom.machine.analysis.product_registers import fragments, renamed
from ptxloom.machine.analysis.product_registers import product_registers as registers_of_products
from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import READ, UPDATE, WRITE, reports_to_mbarrier
from ptxloom.machine.codegen.addresses import addresses_at, space_of
from ptxloom.machine.codegen.builder import Instrument
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.instruments.wanted import FAR, FENCES, NEAR
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.racecheck import (
    async_operations,
    barrier_order,
    commits,
    global_flags,
    global_memory,
    operation_ends,
    pending_global,
    product_registers,
    proxies,
    shared_flags,
    slow_path,
    tensor_accesses,
)
from ptxloom.machine.runtime.racecheck.fast_path.look import race_name, race_parameters
from ptxloom.machine.runtime.structs import histories, shadow
from ptxloom.meaning import effects
from ptxloom.meaning.deeds import deeds_of
from ptxloom.meaning.effects import (
    BULK,
    COPIES,
    INITS,
    MAPS,
    PRODUCTS,
    REGISTERS,
    TENSOR,
    Arrive,
    Commit,
    Count,
    Fence,
    Issue,
    Meet,
    Reach,
    Remap,
    Wait,
)
from ptxloom.readings.effects import goes_by_async_proxy, orders_finely, reserves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ptxloom.machine.codegen.access import Access, AccessPiece
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.program.symbols import Key
    from ptxloom.meaning.effects import Effect

_COPIES: Final = frozenset((COPIES, BULK))
_SCOPES: Final = {"cta": 0, "cluster": 1, "gpu": 2, "gl": 2, "sys": 3}


class Racecheck(Instrument):
    """Emits the code that reports events to `runtime.racecheck`."""

    def __init__(self, checks: frozenset[str], registers: Mapping[Key, int]) -> None:
        self.near = not checks.isdisjoint((NEAR, FENCES))
        self.far = FAR in checks
        self._registers: Mapping[Key, int] = registers if self.near else {}

    def sees(self, op: Op) -> bool:
        """Whether an instruction touches a register of products."""
        return bool(self._registers) and any(True for _ in self._touched(op))

    # -- what orders accesses

    def before(self, b: Builder) -> None:
        """Report fences, and the beginning and end of asynchronous operations."""
        op = b.op
        if self._registers:
            self._products(b)
        for deed in deeds_of(op.node):
            self._order(b, deed)

    def _order(self, b: Builder, deed: Effect) -> None:
        match deed:
            case Fence(effects.TENSOR, acquires=acquires):
                b.runtime(tensor_accesses.fence_tensor, W, b.active_mask, int(acquires))
            case Fence(behind=False):
                self._fence(b, deed)
            case Arrive(Reach.CLUSTER, relaxed):
                b.runtime(barrier_order.arrive_in_cluster, W, b.active_mask, int(relaxed))
            case Commit(what, tells=False) if what in _COPIES:
                b.runtime(operation_ends.commit_group, W, b.active_mask, int(what == BULK))
            case Wait(what, keeps, only_reads) if what in _COPIES:
                kept = None if keeps is None else b.literal(b.op.operands[keeps])
                facts = (state.NONE if kept is None else kept, int(what == BULK), int(only_reads))
                b.runtime(operation_ends.wait_group, W, b.active_mask, *facts)
            case Commit(what, tells=True) if what in _COPIES:
                space = space_of(b.op)
                addresses_at(b, b.op.operands[0], space, state.MBARRIER_BYTES)
                b.runtime(async_operations.hand_over, W, b.active_mask, b.scratch(), space)
            case Issue(effects.STORES) if done_at(b.op.node, 0) == UPDATES:
                size = b.op.type.bits // 8
                target = addresses_at(b, b.op.operands[0], state.SHARED, size)
                _issue(b, target, size, b.op.site | shadow.STRONG)
            case Commit(effects.TENSOR):
                _commit_tensor(b)
            case Wait(effects.TENSOR, only_reads=reads):
                b.runtime(tensor_accesses.wait_tensor, W, tensor_accesses.LOADS if reads else tensor_accesses.STORES)
            case _:
                pass

    def after(self, b: Builder) -> None:
        """Report barriers of lanes after they have converged."""
        for deed in deeds_of(b.op.node):
            match deed:
                case Meet(Reach.WARP):
                    b.store(b.read(b.op.operands[0], "b32"), b.scratch(), 64)
                    b.runtime(barrier_order.sync_lanes, W, b.active_mask)
                case Fence(behind=True):
                    self._fence(b, deed)
                case _:
                    pass

    # -- registers of products

    def _products(self, b: Builder) -> None:
        """Report products, fences between them, and other accesses to their registers."""
        op = b.op
        if is_product(op):
            shape = zlib.crc32(".".join(q for q in op.qualifiers if is_shape(q)).encode())
            d, a = fragments(op)
            for number in self._numbers(op, a):
                b.runtime(product_registers.take_factor, W, number, op.site)
            for number in self._numbers(op, d):
                b.runtime(product_registers.accumulate, W, number, shape, op.site)
        elif Fence(REGISTERS) in deeds_of(op.node):
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

    def _fence(self, b: Builder, fence: Fence) -> None:
        match fence.proxy:
            case "":
                does = shared_flags.RELEASE * fence.releases | shared_flags.ACQUIRE * fence.acquires
                scope = scope_of(b.op)
                if scope >= shadow.GPU_SCOPE and self.far:
                    b.runtime(global_flags.fence_grid, W, b.active_mask, does, int(fence.total))
                b.runtime(shared_flags.fence, W, b.active_mask, scope, does)
            case effects.INITS:
                b.runtime(shared_flags.fence_inits, W, b.active_mask)
            case effects.ASYNC:
                shared = any("shared" in space for space in fence.spaces)
                b.runtime(proxies.fence_proxy, W, b.active_mask, int("global" not in fence.spaces), int(not shared))
            case effects.MAPS:
                b.runtime(proxies.fence_maps, W, b.active_mask, int(fence.releases))
            case _:
                pass

    # -- accesses

    def access(self, b: Builder, access: Access) -> None:
        """Compare the access with earlier ones of other threads, and record it."""
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


def _commit_tensor(b: Builder) -> None:
    """`tcgen05.commit`: an mbarrier, or one in each CTA that a mask names, reports the end of what has been issued."""
    barrier, *masks = b.op.operands
    ctas = b.scratch(scratch.VALUES)
    for mask in masks:
        b.store(b.resize(b.read(mask, _mask_type(b.op)), 32), ctas, 64)
    space = space_of(b.op)
    addresses_at(b, barrier, space, state.MBARRIER_BYTES)
    b.runtime(commits.commit_tensor, W, b.active_mask, b.scratch(), space, len(masks), ctas)


def _mask_type(op: Op) -> str:
    """The type of the mask of CTAs to whose mbarriers a commit arrives."""
    return "b32" if op.has("multicast::cluster::32b") else "b16"


def _issue(b: Builder, target: Value, size: int, site: int, piece: AccessPiece | None = None) -> None:
    """Report `st.async` and `red.async`: the data of each lane, if known, and the mbarrier that reports completion."""
    barrier = addresses_at(b, b.op.operands[2], state.SHARED, state.MBARRIER_BYTES, scratch.BARRIERS)
    held = _held(b, piece.places if piece is not None else ())
    part_bytes = piece.bits // 8 if piece is not None else size
    b.runtime(async_operations.write_async, W, b.active_mask, target, barrier, size, site, held, part_bytes)


def _held(b: Builder, places: tuple[Value, ...]) -> Value:
    """The places of the stored registers, one after the other; null if unknown."""
    for number, place in enumerate(places):
        b.store(place, b.scratch(scratch.PLACES + 8 * number), 8)
    return b.scratch(scratch.PLACES) if places else Value("ptr", "null")


def _wide_addresses(b: Builder, access: Access, by: int = 0) -> Value:
    """The 64-bit addresses of an access, or of the data `by` bytes after it."""
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
    """Report an access that may be to shared memory."""
    lanes = b.active_mask if access.lanes is None else access.lanes
    site = _site(b, access)
    offset = access.offset + piece.at
    if access.strong:
        does = histories.READS if access.kind == READ else histories.WRITES
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
    """Report an access that may be to global memory."""
    lanes = b.active_mask if access.lanes is None else access.lanes
    held = _held(b, piece.places if access.kind != READ else ())
    does = histories.WRITES if access.kind != READ else histories.READS_ONLY if b.op.has("nc") else histories.READS
    at = (access.addresses, access.offset + piece.at, lanes)
    facts = (access.space, piece.bits // 8 * piece.parts, _site(b, access))
    b.runtime(global_memory.look, W, *at, *facts, does, held, piece.bits // 8)
    b.runtime(pending_global.meet_operations, W, *at, *facts, int(does == histories.WRITES))


def _site(b: Builder, access: Access) -> int:
    """The site of an instruction, with flags: whether it is strong, and whether it may wait."""
    if not access.strong:
        return b.op.site
    return b.op.site | shadow.STRONG | (shadow.LOOKS_AGAIN if access.kind != WRITE else 0)


# -- of instructions, before any code is made


class Ordering(NamedTuple):
    """What racecheck needs to know about a program before each launch.

    Attributes:
        strengths: How strong each instruction's accesses are, a byte each (`Launch.strengths`).
        by_async_proxy: Whether memory is accessed through the async proxy.
        fences_inits: Whether a fence publishes `mbarrier.init`.
        finely: Whether something can order some threads of a CTA and not all.
        copies: Whether there are asynchronous copies.
        maps: Whether something orders accesses to tensor maps.
        tensor: Whether tensor memory is accessed.
        products: Whether there are asynchronous products.
        fragments: The number of registers of such products.
    """

    strengths: bytes
    by_async_proxy: bool
    fences_inits: bool
    finely: bool
    copies: bool
    maps: bool
    tensor: bool
    products: bool
    fragments: int


_ORDERINGS: Final[WeakKeyDictionary[Program, Ordering]] = WeakKeyDictionary()


def ordering_of(program: Program) -> Ordering:
    """The ordering of a program's instructions, computed once."""
    found = _ORDERINGS.get(program)
    if found is None:
        deeds = {deed for op in program.ops for deed in deeds_of(op.node)}
        found = _ORDERINGS[program] = Ordering(
            bytes(strength_of(op) for op in program.ops),
            any(goes_by_async_proxy(op.node) for op in program.ops),
            any(isinstance(deed, Fence) and deed.proxy == INITS for deed in deeds),
            any(orders_finely(op.node) for op in program.ops),
            any(isinstance(deed, (Issue, Commit, Wait)) and deed.what in _COPIES for deed in deeds),
            any(isinstance(deed, Remap) or (isinstance(deed, Fence) and deed.proxy == MAPS) for deed in deeds),
            any(isinstance(deed, Issue) and deed.what == TENSOR for deed in deeds),
            any(is_product(op) for op in program.ops),
            len(registers_of_products(program)),
        )
    return found


def is_product(op: Op) -> bool:
    """Whether an instruction multiplies matrices asynchronously, with sums in registers."""
    return any(isinstance(deed, Issue) and deed.what == PRODUCTS for deed in deeds_of(op.node))


def scope_of(op: Op) -> int:
    """The scope of a strong access or a fence; the whole GPU if it names no scope, the system for volatile ones."""
    words = (_SCOPES[q] for q in op.qualifiers if q in _SCOPES)
    return next(words, shadow.SYSTEM_SCOPE if op.has("volatile", "mmio") else shadow.GPU_SCOPE)


def strength_of(op: Op) -> int:
    """The entry of an instruction in `Launch.strengths`: the accesses that it may synchronise with, if it is strong.

    An mbarrier is an object of its own, whatever the scope in which its operations order accesses, and however large
    are the values of those which report to it.
    """
    proxy = shadow.ASYNC_PROXY if goes_by_async_proxy(op.node) or reserves(op.node, TENSOR) else 0
    counts = [deed for deed in deeds_of(op.node) if isinstance(deed, Count)]
    if any(count.makes for count in counts):
        return shadow.SETS_UP
    if counts or op.has("async") or not op.types:
        return proxy | shadow.SYSTEM_SCOPE
    return proxy | scope_of(op) | op.type.bits // op.type.packed // 8 << shadow.SIZE_SHIFT
