"""What racecheck is told of instructions that touch shared memory, or that order such accesses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen.builder import W
from ptxloom.machine.instruments import initcheck
from ptxloom.machine.native.ir import Value
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.racecheck import (
    global_flags,
    global_memory,
    pending_global,
    shadow,
    shared_flags,
    slow_path,
)
from ptxloom.machine.runtime.racecheck.fast_path import race_name, race_parameters

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

_PLACES: Final = 1984  # in the scratch: the addresses of the registers that are stored
_SCOPES: Final = {"cta": 0, "cluster": 1, "gpu": 2, "gl": 2, "sys": 3}
_STRONG: Final = ("volatile", "relaxed", "acquire", "release", "acq_rel", "mmio")


def is_racing(b: Builder) -> bool:
    """Whether racecheck watches this run, shared memory or global memory."""
    return not b.checks.isdisjoint(("racecheck", "racecheck:global"))


def is_asynchronous(op: Op) -> bool:
    """Whether a store or reduction is one whose end an mbarrier tells: `async_operations` hears of it."""
    return op.opcode in {"st", "red"} and op.has("async")


def orders_finely(op: Op) -> bool:
    """Whether an instruction can order accesses of some threads of a CTA and not of all."""
    match op.opcode:
        case "bar" | "barrier":
            return op.has("warp", "cluster", "arrive") or len(op.operands) > 1 + op.has("red") * 2
        case "mbarrier" | "fence" | "membar":
            return True
        case "cp":
            return op.has("mbarrier", "bulk")
        case "st" | "red" if is_asynchronous(op):
            return True
        case _:
            return op.has("acquire", "release", "acq_rel")


def access(
    b: Builder,
    verb: str,
    addresses: Value,
    offset: int,
    *,
    space: int,
    bits: int,
    parts: int,
    wide: bool = False,
    places: tuple[Value, ...] = (),
    strong: bool = False,
    mask: Value | None = None,
    payload: int | None = None,
) -> None:
    """Tell racecheck and initcheck of an access that is about to be made.

    Args:
        b: The builder.
        verb: read, write or update (read and write in one).
        addresses: Where the 32 addresses lie.
        offset: Bytes added to each.
        space: The state space; but for shared and generic nothing is watched.
        bits: The size of one value.
        parts: How many a lane moves, one after the other.
        wide: Addresses in shared memory have 64 bits, not 32; generic ones always have.
        places: Where the values lie that are stored, if they are known.
        strong: The access is atomic, volatile or the like.
        mask: The lanes that make it; by default the active ones.
        payload: The bytes a lane that matter to initcheck; by default all of them, and it hears nothing if 0.
    """
    size = bits // 8 * parts if payload is None else payload
    if b.poisoned is not None:
        if verb == "read":
            initcheck.remember(b, addresses, offset, space=space, size=size, wide=wide, mask=mask)
        return
    if size:
        reads, writes = verb != "write", verb != "read"
        initcheck.access(b, addresses, offset, reads=reads, writes=writes, space=space, size=size, wide=wide, mask=mask)
    if is_asynchronous(b.op):
        return
    if "racecheck:global" in b.checks and space in {state.GLOBAL, state.GENERIC}:
        _look(b, verb, addresses, offset, space=space, bits=bits, places=places, strong=strong, mask=mask, parts=parts)
    if "racecheck" not in b.checks or space not in {state.SHARED, state.GENERIC}:
        return
    lanes = b.active_mask if mask is None else mask
    site = _site(b, verb, strong=strong)
    if strong:
        does = shadow.READS if verb == "read" else shadow.WRITES
        facts = (space, bits // 8 * parts, site, does, int(wide or space == state.GENERIC))
        b.runtime(slow_path.check_strong, W, addresses, offset, lanes, *facts)
        return
    window = "generic" if space == state.GENERIC else "wide" if wide else "shared"
    if verb != "read" and not places:
        verb = "touch"
    name = race_name(verb, window, bits, parts)
    b.accesses.add(name)
    b.declarations[name] = f"declare void @{name}({race_parameters(name)})"
    values = "".join(f", {p}" for p in places) if verb == "write" else ""
    b.do(f"call void @{name}({W}, {addresses}, i64 {offset}, {lanes}, i32 {site}{values})")


def _site(b: Builder, verb: str, *, strong: bool) -> int:
    """The instruction, and whether it is strong, and may be one that waits."""
    if not strong:
        return b.op.site
    return b.op.site | shadow.STRONG | (0 if verb == "write" else shadow.LOOKS_AGAIN)


def _look(
    b: Builder,
    verb: str,
    addresses: Value,
    offset: int,
    *,
    space: int,
    bits: int,
    parts: int,
    places: tuple[Value, ...],
    strong: bool,
    mask: Value | None,
) -> None:
    """Tell of an access that may be to global memory."""
    site = _site(b, verb, strong=strong)
    lanes = b.active_mask if mask is None else mask
    held = Value("ptr", "null")
    if verb == "write" and places:
        held = b.scratch(_PLACES)
        for number, place in enumerate(places):
            b.store(place, b.scratch(_PLACES + 8 * number), 8)
    does = shadow.WRITES if verb != "read" else shadow.READS_ONLY if b.op.has("nc") else shadow.READS
    facts = (space, bits // 8 * parts, site, does, held, bits // 8)
    b.runtime(global_memory.look, W, addresses, offset, lanes, *facts)
    b.runtime(pending_global.meet_operations, W, addresses, offset, lanes, *facts[:3], int(does == shadow.WRITES))


def is_strong(op: Op) -> bool:
    """Whether a load or store is a strong one."""
    return op.has(*_STRONG)


def scope_of(op: Op) -> int:
    """The scope of a strong access or a fence; the whole GPU if it names none, the system for volatile ones."""
    words = (_SCOPES[q] for q in op.qualifiers if q in _SCOPES)
    return next(words, shadow.SYSTEM_SCOPE if op.has("volatile", "mmio") else shadow.GPU_SCOPE)


def strength_of(op: Op) -> int:
    """What `Launch.strengths` holds of an instruction: whom it may meet, if it is strong.

    An mbarrier is an object of its own, whatever the scope in which its operations order accesses, and however large
    are the values of those which report to it.
    """
    proxy = shadow.ASYNC_PROXY if op.opcode == "cp" and op.has("bulk") else 0
    if op.opcode in {"mbarrier", "cp"} or op.has("async") or not op.types:
        return proxy | shadow.SYSTEM_SCOPE
    return scope_of(op) | op.type.bits // op.type.packed // 8 << shadow.SIZE_SHIFT


def flag(b: Builder, space: int, *, loads: bool, stores: bool) -> None:
    """Tell of a strong access to the 64-bit addresses in the scratch: it may release, acquire, or be part of either."""
    if not is_racing(b) or is_asynchronous(b.op) or space not in {state.SHARED, state.GENERIC, state.GLOBAL}:
        return
    op = b.op
    does = (shared_flags.LOADS if loads else 0) | (shared_flags.STORES if stores else 0)
    if loads and op.has("acquire", "acq_rel"):
        does |= shared_flags.ACQUIRE
    if stores and op.has("release", "acq_rel"):
        does |= shared_flags.RELEASE
    if "racecheck:global" in b.checks:
        b.runtime(global_flags.flag_grid, W, b.scratch(), b.active_mask, space, does, scope_of(op))
    b.runtime(shared_flags.strong, W, b.scratch(), b.active_mask, space, does, scope_of(op))
