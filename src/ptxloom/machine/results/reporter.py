"""Turns the records of native code into hazards, with the catalogue's words and the program's places."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ptxloom.binding.touches import stores_to, touches
from ptxloom.diagnostics import UnsupportedForm
from ptxloom.fragments import fragment
from ptxloom.hazards.kinds import BY_RULE
from ptxloom.hazards.memcheck import MORE_SHARED
from ptxloom.hazards.racecheck import (
    AFTER_COPY,
    AFTER_PRODUCT,
    AFTER_TENSOR,
    BEHIND_SHUFFLE,
    BETWEEN_CTAS,
    IN_CLUSTER,
    ROUNDED,
)
from ptxloom.isa import instruction_spec
from ptxloom.isa.matrix import MOVES, matrix_move
from ptxloom.lazy import cached_property
from ptxloom.machine.analysis.definite_assignment import unsure_registers
from ptxloom.machine.analysis.product_registers import product_registers
from ptxloom.machine.instruments.variable_bounds import points_to
from ptxloom.machine.memory.address_map import readable
from ptxloom.machine.results.event_kinds import EVENTS, FAULTS, REASONS, REVERSED, SIDES, SPACES, UNEVEN_REGISTERS, USES
from ptxloom.machine.results.hazard import Hazard, Party
from ptxloom.machine.results.program_order import Sequence
from ptxloom.machine.runtime import state
from ptxloom.meaning.deeds import deeds_of
from ptxloom.meaning.effects import BULK, COPIES, PRODUCTS, TENSOR, Arrive, Exchange, Fence, Meet, Reach
from ptxloom.readings.effects import issues
from ptxloom.syntax.places import origins_in
from ptxloom.wording import lanes_of, lanes_text, ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.memory.address_map import AddressMap, Located
    from ptxloom.machine.memory.heap import Heap
    from ptxloom.machine.memory.heap import HeapBlock as Allocated
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.program.planned import Planned
    from ptxloom.syntax.origins import Origins

HeapBlock = tuple[int, int, int]

_AS_NOTED: Final = frozenset(  # the sides of which have their order
    {state.ENDED, state.UNFENCED, state.STALE_MAP, state.NOT_READ_ONLY, state.REUSED, state.TENSOR_UNFENCED}
)
_OF_LANES: Final = frozenset({state.BAD_CALL, state.CALL_MISMATCH, state.BAD_TOKEN, state.BAD_BRANCH})
_RACES: Final = ("write-after-write", "write-after-read", "read-after-write", "warp-order")


class Reporter:
    """Words hazards for one launch."""

    def __init__(self, planned: Planned, atlas: AddressMap) -> None:
        self._planned = planned
        self.atlas = atlas

    @property
    def program(self) -> Program:
        """The kernel's program."""
        return self._planned.program

    @cached_property
    def _sequence(self) -> Sequence:
        return Sequence()

    @cached_property
    def _fragment_names(self) -> list[str]:
        return [name for _, name in product_registers(self.program)]

    @cached_property
    def _origins(self) -> Origins:
        return origins_in(self.program.module)

    def party(self, op: Op, block: HeapBlock, warp: int, lanes: tuple[int, ...], action: str = "") -> Party:
        """Some lanes at an instruction."""
        node = op.node
        return Party(node.span, op.text, self._origins.at(node.start), block, warp, lanes, action)

    def hazard(self, rule: str, party: Party, opcode: str, /, **words: object) -> Hazard:
        """A hazard in the catalogue's words."""
        kind = BY_RULE[rule]
        message = kind.message.format(instruction=opcode, lanes=ranges(party.lanes), **words)
        return Hazard(
            kind.tool,
            kind.name,
            message,
            party,
            kind.severity,
            section=kind.section or section_of(opcode),
            help=kind.help,
        )

    def leaks(self, heap: Heap) -> Iterator[Hazard]:
        """A hazard for each call of `malloc` whose memory has not been freed."""
        made: dict[int, list[Allocated]] = {}
        for block in heap.live:
            made.setdefault(id(block.maker.op), []).append(block)
        for blocks in made.values():
            first = min(blocks, key=lambda b: (b.maker.block[::-1], b.maker.warp, b.maker.lane))
            op, block, warp, lane = first.maker
            piece, size = first.piece, sum(b.size for b in blocks)
            pieces = f"{len(blocks):,} pieces, one of them {piece.name}" if len(blocks) > 1 else piece.name
            party = self.party(op, block, warp, (lane,))
            hazard = self.hazard("memcheck.leak", party, op.opcode, size=f"{size:,}", pieces=pieces)
            yield replace(hazard, space="global", address=piece.start, size=size, symbol=piece.name, count=len(blocks))

    def fault(self, fault: Any) -> Hazard:
        """The hazard that a worker's fault record (a ctypes `Fault`) describes."""
        op = self.program.ops[int(fault.site)]
        size, lane, space = int(fault.size), int(fault.lane), int(fault.space)
        found = self.atlas.locate(op, space, int(fault.address))
        block: HeapBlock = (int(fault.block[0]), int(fault.block[1]), int(fault.block[2]))
        lanes = lanes_of(int(fault.lanes if size or fault.kind in _OF_LANES else fault.mask))
        verb = ("write" if fault.write else "read") + "s" * (len(lanes) == 1)
        action = f"{verb} {size} byte{'s' * (size > 1)}" if size else ""
        party = self.party(op, block, int(fault.warp), lanes, action)
        rule = f"memcheck.{_name(FAULTS[int(fault.kind)], found)}"
        access = ("write" if fault.write else "read") + f" of {size} byte{'s' * (size > 1)}" * bool(size)
        hazard = self.hazard(
            rule,
            party,
            op.opcode,
            access=access,
            place=found.text,
            symbol=found.name,
            end=found.end and f": {found.end}",
            alignment=min(size, 16),
            wrong=_wrong(op, SPACES[found.space], space),
            size=size,
            lane=lane,
            number=int(fault.address),
            reason=REASONS.get(int(fault.reason), ""),
        )
        if found.end and found.space == state.SHARED and self.atlas.is_dynamic(op):
            hazard = replace(hazard, help=MORE_SHARED)
        return self._with_memory(hazard, op, found, size, lane) if size else hazard

    def _with_memory(self, hazard: Hazard, op: Op, found: Located, size: int, lane: int) -> Hazard:
        element = element_of(op, lane)
        return replace(
            hazard,
            space=SPACES[found.space],
            address=found.address,
            size=size,
            symbol=found.symbol,
            element=element,
        )

    def event(self, event: Any) -> Hazard:
        """The hazard that an event record (a ctypes `Event`) describes."""
        op = self.program.ops[int(event.site)]
        block: HeapBlock = (int(event.block[0]), int(event.block[1]), int(event.block[2]))
        kind, warp, lane = int(event.kind), int(event.warp), int(event.lane)
        lanes = lanes_of(int(event.mask))
        if kind in SIDES or kind in {state.UNWRITTEN, state.STRAYED}:
            return self._access(event, op, block, lanes, lane)
        party = self.party(op, block, warp, lanes)
        words = _agreeing(lanes_of(int(event.other)))
        if kind == state.UNWRITTEN_REGISTER:
            words["register"] = f"`{unsure_registers(self.program).names.get(int(event.other), 'a register')}`"
        if kind in {state.IN_FLIGHT, state.NO_PRODUCT_FENCE}:
            words = {"register": f"`{self._fragment_names[int(event.other)]}`"}
        if kind == state.UNEVEN:
            words["other"] = _warps(lanes_of(int(event.other)))
        if kind == state.MISCOUNT:
            words = {"number": int(event.address), "other": _threads(event.other), "size": _threads(event.size)}
        hazard = self.hazard(self._rule(kind), party, _spelled(op), **words)
        return replace(hazard, other=self._elsewhere(event, block), count=int(event.count))

    def _rule(self, kind: int) -> str:
        """The rule of a hazard; for diverging warps of a warpgroup, by the instructions that it executes."""
        of_products = kind != state.UNEVEN or any(PRODUCTS in issues(op.node) for op in self.program.ops)
        return EVENTS[kind] if of_products else UNEVEN_REGISTERS

    def _elsewhere(self, event: Any, block: HeapBlock) -> Party | None:
        """Where the lanes are that are missing, or whom a hazard also concerns."""
        warp = int(event.warp)
        if int(event.second_site) != state.NONE:
            op = self.program.ops[int(event.second_site)]
            return self.party(op, block, warp, (), "came first")
        if not event.place:
            return None
        number, at_end = divmod(int(event.place) - 1, 2)
        ops = self.program.blocks[number].ops if number < len(self.program.blocks) else ()
        if not ops:
            return None
        lanes = lanes_of(int(event.other))
        verb = "wait" if at_end else "are"
        return self.party(
            ops[-1 if at_end else 0], block, warp, lanes, f"{verb if len(lanes) > 1 else verb + 's'} here"
        )

    def _access(self, event: Any, op: Op, block: HeapBlock, lanes: tuple[int, ...], lane: int) -> Hazard:
        """A race, or a read of unwritten bytes."""
        size, warp, kind = int(event.size), int(event.warp), int(event.kind)
        if kind == state.UNWRITTEN and int(event.second_site) != state.NONE:
            return self._use(event, op, block, lanes)
        found = self.atlas.locate(op, int(event.space), int(event.address))
        if kind == state.STRAYED:
            return self._stray(event, op, self.party(op, block, warp, lanes), found)
        if kind not in SIDES:
            party = self.party(op, block, warp, lanes, "reads it")
            hazard = self.hazard(
                EVENTS[kind], party, op.opcode, use=f"`{op.opcode}` reads", place=found.text, size=size
            )
            return replace(self._with_memory(hazard, op, found, size, lane), count=int(event.count))
        second: HeapBlock = (int(event.second_block[0]), int(event.second_block[1]), int(event.second_block[2]))
        before = self.program.ops[int(event.second_site)]
        other = self.party(before, second, int(event.second_warp), (int(event.second_lane),), _doing(SIDES[kind][1]))
        party = self.party(op, block, warp, lanes, _doing(SIDES[kind][0]))
        reach = Reach.WARP if EVENTS[kind] == "racecheck.warp-order" else Reach.CTA
        if second != block:
            reach = Reach.GRID if event.space == state.GLOBAL else Reach.CLUSTER
        if kind not in _AS_NOTED and self._is_reversed(kind, op, before, reach):
            kind, op, before, party, other = REVERSED.get(kind, kind), before, op, other, party
        hazard = self.hazard(EVENTS[kind], party, op.opcode, place=found.text, size=size)
        hazard = replace(self._with_memory(hazard, op, found, size, party.lanes[0]), count=int(event.count))
        if hazard.kind in _RACES:
            order = _order_between(op, before, event.space, apart=second != block)
            if not order and self._rounded(op, before, party):
                order = ROUNDED
            elif not order and reach is Reach.CTA and self._hands_on:
                order = BEHIND_SHUFFLE
            hazard = replace(hazard, help=order or hazard.help)
        elif hazard.kind == "not-waited" and TENSOR in issues(op.node) | issues(before.node):
            hazard = replace(hazard, help=AFTER_TENSOR, section="9.7.16.6")
        return replace(hazard, other=other, element=_both(hazard.element, element_of(before, other.lanes[0])))

    @cached_property
    def _hands_on(self) -> bool:
        """Whether the program fences and shuffles: a lane may tell its warp that it has waited for others."""
        deeds = {deed for op in self.program.ops for deed in deeds_of(op.node)}
        fences = any(isinstance(deed, Fence) and not deed.proxy for deed in deeds)
        return fences and Exchange(moves=True) in deeds

    def _rounded(self, op: Op, before: Op, party: Party) -> bool:
        """Whether the two are one store of a kernel in Python, whose values may have been fused differently."""
        in_python = party.origin is not None and party.origin.file.endswith(".py")
        return self._planned.fused and op is before and stores_to(op.node, SPACES[state.SHARED]) and in_python

    def _stray(self, event: Any, op: Op, party: Party, found: Located) -> Hazard:
        """The hazard of an access that left its variable."""
        size = int(event.size)
        left = points_to(self.program).variables[int(event.other)]
        verb = "write" if stores_to(op.node, SPACES[int(event.space)]) else "read"
        access = f"{verb} of {size} byte{'s' * (size > 1)}"
        words = {"access": access, "place": found.text, "symbol": readable(left.name)}
        hazard = self.hazard("memcheck.overrun", party, op.opcode, **words)
        return replace(self._with_memory(hazard, op, found, size, int(event.lane)), count=int(event.count))

    def _use(self, event: Any, op: Op, block: HeapBlock, lanes: tuple[int, ...]) -> Hazard:
        """The hazard of a use of unwritten bits, with the load that found them."""
        size, warp, lane = int(event.size), int(event.warp), int(event.second_lane)
        load = self.program.ops[int(event.second_site)]
        found = self.atlas.locate(load, int(event.space), int(event.address))
        use = USES[int(event.other)].format(instruction=op.opcode)
        party = self.party(op, block, warp, lanes, "uses it")
        hazard = self.hazard("initcheck.uninitialised", party, op.opcode, use=use, place=found.text, size=size)
        hazard = replace(self._with_memory(hazard, load, found, size, lane), count=int(event.count))
        return replace(hazard, other=self.party(load, block, warp, (lane,), f"reads {size} bytes"))

    def _is_reversed(self, kind: int, op: Op, before: Op, reach: Reach) -> bool:
        """Whether the access reported as second is meant to come first: what a loop waits for is written before."""
        if SIDES[kind] == ("write", "read") and self._sequence.polls(before):
            return True
        if SIDES[kind] == ("read", "write") and self._sequence.polls(op):
            return False
        return self._sequence.comes_first(op, before, reach)


def _spelled(op: Op) -> str:
    """The name of an instruction: its opcode, for a barrier with its action."""
    is_barrier = any(isinstance(deed, (Meet, Arrive)) for deed in deeds_of(op.node))
    words = [word for word in op.node.qualifiers if word != "aligned"] if is_barrier else []
    return ".".join((op.opcode, *words))


def _name(kind: str, found: Located) -> str:
    """The more specific name of an out-of-bounds access, if it has one."""
    if kind == "out-of-bounds" and found.is_freed:
        return "use-after-free"
    return "null" if kind == "out-of-bounds" and found.is_null else kind


def _wrong(op: Op, holds: str, space: int) -> str:
    """Why the address of an access is not in the state space that its instruction means there."""
    named = [touch.space for touch in touches(op.node) if touch.space in {"shared", "local"}]
    wanted = SPACES[space] if space != state.GENERIC else next(iter(named), "shared")
    if wanted == holds:
        return f"a generic address, but `{op.opcode}` wants one within {wanted} memory"
    return f"which is in {holds} memory, but `{op.opcode}` wants {wanted} memory"


def _order_between(op: Op, before: Op, space: int, *, apart: bool) -> str:
    """A hint on what should order the two sides of a race; empty if there is none."""
    if apart:
        return BETWEEN_CTAS if space == state.GLOBAL else IN_CLUSTER
    issued = issues(op.node) | issues(before.node)
    if TENSOR in issued:
        return AFTER_TENSOR
    if PRODUCTS in issued:
        return AFTER_PRODUCT
    return AFTER_COPY if issued & {COPIES, BULK} else ""


def _doing(verb: str) -> str:
    """The action of a side of a race, as a phrase."""
    return {"access": "accesses it", "exit": "exits"}.get(verb, f"{verb}s it")


def _both(mine: str, theirs: str) -> str:
    """The rows of matrix moves on the two sides of a race."""
    return "; ".join(filter(None, (mine, theirs and f"on the other side {theirs}")))


def _agreeing(lanes: tuple[int, ...]) -> dict[str, object]:
    """Some lanes as the subject of a sentence."""
    one = len(lanes) == 1
    verbs = {"have": "has", "are": "is", "do": "does", "they": "it"}
    return {
        "other": lanes_text(lanes),
        "s": "s" * one,
        **{many: single if one else many for many, single in verbs.items()},
    }


def _warps(numbers: tuple[int, ...]) -> str:
    """Some warps as words."""
    return f"warp{'s' * (len(numbers) > 1)} {ranges(numbers)}"


def _threads(count: int) -> str:
    """A barrier's count of threads in words."""
    return f"{int(count)}" if count else "all threads"


def section_of(opcode: str) -> str:
    """The manual's section about an opcode; empty if the data does not describe it."""
    try:
        return instruction_spec(opcode).section
    except UnsupportedForm:
        return ""


def element_of(op: Op, lane: int) -> str:
    """The row of a matrix move that a lane names, and who holds it; empty for anything else.

    Such as `row 3 of matrix 1, held by lanes 12-15 in register 1`.
    """
    if op.opcode not in MOVES or not (move := matrix_move(op.spelling)).address_lanes:
        return ""
    held = fragment(move)
    place = held.addressed_row(lane)
    if place is None:
        return "this lane names no row, but the target wants an address from every lane"
    elements = [held.holder(matrix=place[0], row=place[1], column=column) for column in range(held.columns)]
    lanes = lanes_text(tuple(sorted({e.lane for e in elements})))
    registers = tuple(sorted({e.register for e in elements}))
    word = "registers" if len(registers) > 1 else "register"
    return f"row {place[1]} of matrix {place[0]}, held by {lanes} in {word} {ranges(registers)}"
