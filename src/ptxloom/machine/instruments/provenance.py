"""Provenance, as an instrument: does to the tags of bytes what each instruction does to the bytes.

Instructions that move bytes also move their tags; a conversion of one element stays that element, converted; a matrix
product is recorded with the origins of its operands; everything else counts as computed from its inputs. Control is not
followed: the origin of a chosen value is that of the value itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from ptxloom.binding.effects import destinations
from ptxloom.fragments.derive import fragment
from ptxloom.isa.limits import LANES
from ptxloom.isa.matrix import MOVES, matrix_move
from ptxloom.machine.analysis.carriers import brings, carried
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.addresses import addresses_at, base_and_offset, resolved_space, space_of
from ptxloom.machine.codegen.builder import Instrument
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.codegen.wmma_matrix import WmmaMatrix, pieces
from ptxloom.machine.instruments import bit_moves, product_moves
from ptxloom.machine.instruments.matrix_tags import lane_maps
from ptxloom.machine.instruments.tag_places import TagPlace, TagPlaces
from ptxloom.machine.instruments.wanted import moments_in
from ptxloom.machine.native.ir import constant_vector
from ptxloom.machine.program.parts import LOADS, is_sink, is_store, parts_of
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.provenance import (
    memory_tags,
    moments,
    register_heads,
    register_tags,
    tensor_tags,
    update_tags,
)
from ptxloom.machine.runtime.warps import lanes
from ptxloom.meaning.effects import PRODUCTS
from ptxloom.readings.computed import (
    adds,
    chooses,
    moves_bits,
    multiplies_operands,
    permutes,
    products_of_parts,
    reformats,
    replaces_field,
    shifts_one,
    shifts_two,
    takes_field,
    truth,
)
from ptxloom.readings.effects import calls, copies, exchanges, issues, moves_matrix, multiplies, stores, updates_memory
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op, Program

_MODES: Final = {"up": 0, "down": 1, "bfly": 2, "idx": 3}
_SOURCES: Final = 3  # that a computed value remembers


class Following(TagPlaces, Instrument):
    """Emits the code that follows tags."""

    def __init__(self, program: Program, checks: frozenset[str]) -> None:
        super().__init__(program)
        self.moments = {site: number for number, site in enumerate(moments_in(checks), 1)}
        self.maps = lane_maps(program)[0]

    def sees(self, op: Op) -> bool:
        """Whether an instruction accesses data with an origin, or writes memory."""
        if _writes(op.node) or op.site in self.moments or brings(op):
            return True
        return any(carried(self.program, op, name.text) for operand in op.operands for name in _names(operand))

    def enter(self, b: Builder) -> None:
        """Forget the origins of registers that a call has saved for its caller."""
        back = b.block.after
        for kept in () if back is None else self.program.calls[back.site].kept:
            if kept.size:
                b.runtime(register_heads.clear_tags, W, b.mask, kept.place, kept.size, 0, kept.size)

    def before(self, b: Builder) -> None:
        """The instruction is about to run: move the tags as it will move the bytes."""
        if not self.sees(b.op):
            return
        if b.op.site in self.moments:
            b.runtime(
                moments.keep_warps_shared, W, b.active_mask, 1 + b.op.has("cta_group::2"), self.moments[b.op.site]
            )
        rule = rule_of(b.op)
        if rule is None or not rule(self, b, b.op):
            self._compute(b, b.op)

    def give(self, b: Builder, registers: Sequence[tree.Operand]) -> None:
        """Registers are stored to tensor memory."""
        for number, one in enumerate(registers):
            b.runtime(tensor_tags.stage_words, W, number, *(self.held(b.op, one) or _NOWHERE))

    def take(self, b: Builder, registers: Sequence[tree.Operand]) -> None:
        """Registers are loaded from tensor memory."""
        for number, one in enumerate(registers):
            held = self.held(b.op, one)
            if held is not None:
                b.runtime(tensor_tags.take_words, W, b.op.site, b.active_mask, number, *held)

    # -- rules: each returns whether it knew the form

    def load(self, b: Builder, op: Op) -> bool:
        """Bytes of memory come to registers."""
        source = op.operands[1]
        space = resolved_space(b, base_and_offset(op, source)[0], space_of(op))
        size = op.type.bits // 8
        addresses_at(b, source, space, size * parts_of(op))
        for number, element in enumerate(tree.elements_of(op.operands[0])):
            held = self.held(op, element)
            if held is not None:
                facts = (b.scratch(), number * size, space, size, *held, 0)
                b.runtime(memory_tags.load_tags, W, op.site, b.active_mask, *facts)
        return True

    def store(self, b: Builder, op: Op) -> bool:
        """Bytes of registers go to memory."""
        if op.has("async", "bulk"):
            return True
        target = op.operands[0]
        space = resolved_space(b, base_and_offset(op, target)[0], space_of(op))
        size = op.type.bits // 8
        addresses_at(b, target, space, size * parts_of(op))
        for number, element in enumerate(tree.elements_of(op.operands[1])):
            if is_sink(element):
                continue
            held = self.held(op, element)
            facts = (op.site, b.active_mask, b.scratch(), number * size, space, size)
            if held is None:
                b.runtime(memory_tags.store_nothing, W, *facts)
            else:
                b.runtime(memory_tags.store_tags, W, *facts, *held, 0)
        return True

    def move(self, b: Builder, op: Op) -> bool:
        """Bytes of registers move to others, side by side or apart."""
        if op.type.kind == "p":
            return True
        targets, sources = tree.elements_of(op.operands[0]), tree.elements_of(op.operands[1])
        whole = op.type.bits // 8
        width, step = max(whole // len(targets), 1), max(whole // len(sources), 1)
        pieces = [(max(0, n * step), self.held(op, source)) for n, source in enumerate(sources)]
        into = self.into(op, targets, [held for _, held in pieces if held])
        for number, held in enumerate(into):
            if held is None:
                continue
            self.clear(b, held)
            for at, source in pieces:
                first, last = max(at, number * width), min(at + step, (number + 1) * width)
                if source is not None and first < last:
                    facts = (first - number * width, *source, first - at, last - first)
                    b.runtime(register_tags.move_tags, W, op.site, b.active_mask, *held, *facts)
        self.settle(b, op, targets, into)
        return True

    def choose(self, b: Builder, op: Op) -> bool:
        """One of two registers is chosen."""
        target, first, second, chooser = op.operands
        chosen = b.apply("and", b.read_mask(chooser), b.active_mask)
        rest = b.apply("xor", chosen, b.active_mask)
        sources = [self.held(op, one) for one in (first, second)]
        into = self.into(op, (target,), [held for held in sources if held], in_place=True)
        for held, lanes_ in zip(sources, (chosen, rest), strict=True):
            if into[0] is not None:
                self.copy(b, op, into[0], held, lanes_)
        self.settle(b, op, (target,), into)
        return True

    def exchange(self, b: Builder, op: Op) -> bool:
        """Lanes take another lane's register."""
        first = op.operands[0].first if isinstance(op.operands[0], tree.Pair) else op.operands[0]
        held, source = self.held(op, first), self.held(op, op.operands[1])
        if held is None:
            return True
        if source is None:
            self.clear(b, held)
            return True
        b.store(constant_vector("i32", range(LANES)), b.scratch(scratch.VALUES), 64)
        b.store(b.read(op.operands[2], "b32"), b.scratch(scratch.VALUES + 128), 64)
        b.store(b.read(op.operands[3], "b32"), b.scratch(scratch.VALUES + 256), 64)
        places = tuple(b.scratch(scratch.VALUES + 128 * n) for n in range(4))
        b.runtime(lanes.shuffle, W, *places, _MODES[op.one_of(_MODES)])
        facts = (op.site, b.active_mask, held.place, source.place, places[3])
        b.runtime(register_tags.shuffle_tags, W, *facts)
        return True

    def matrix(self, b: Builder, op: Op) -> bool:
        """Rows of matrices go between memory and registers."""
        write = stores(op.node)
        memory, registers = op.operands[:2] if write else op.operands[1::-1]
        move = matrix_move(op.spelling)
        space = state.SHARED if move.space else state.GENERIC
        at = addresses_at(b, memory, space, move.row_bytes)
        facts = (W, op.site, b.active_mask, move.address_lanes, at, space, move.row_bytes)
        start = self.maps[op.spelling]
        if not write:
            b.runtime(memory_tags.stage_rows, *facts)
        for number, element in enumerate(tree.elements_of(registers)):
            held, place = self.held(op, element), start + number * 4 * LANES
            if held is not None and write:
                b.runtime(memory_tags.scatter_tags, W, place, held.place)
            elif held is not None:
                b.runtime(memory_tags.gather_tags, W, b.active_mask, place, held.place)
            elif write:
                b.runtime(memory_tags.scatter_nothing, W, place)
        if write:
            b.runtime(memory_tags.unstage_rows, *facts)
        return True

    def transpose(self, b: Builder, op: Op) -> bool:
        """Lanes exchange the halves of a matrix."""
        held, source = (self.held(op, operand) for operand in op.operands[:2])
        if held is not None and source is None:
            self.clear(b, held)
        elif held is not None and source is not None:
            b.runtime(register_tags.stage_register, W, op.site, source.place)
            b.runtime(memory_tags.gather_tags, W, b.active_mask, self.maps[op.spelling], held.place)
        return True

    def convert(self, b: Builder, op: Op) -> bool:
        """Elements are converted, or integers cut and extended."""
        if len(op.types) != 2 or op.has("pack"):
            return False
        to, come = op.types
        sources = [self.held(op, source) for source in op.operands[1:]]
        held = self.held(op, op.operands[0])
        if held is None or to.packed not in {come.packed, come.packed * len(sources)}:
            return False
        into = self.into(op, op.operands[:1], [source for source in sources if source])[0]
        assert into is not None
        self.clear(b, into)
        count = to.packed // len(sources)  # of one source; the first lies highest
        each, used = max(to.bits // 8 // to.packed, 1), max(come.bits // 8 // come.packed, 1)
        resized = to.kind in "su" and come.kind in "su" and not op.has("sat")
        for number, source in enumerate(reversed(sources)):
            if source is None:
                continue
            for n in range(count):
                at, first = (number * count + n) * to.bits // 8 // to.packed, n * come.bits // 8 // come.packed
                if resized:
                    facts = (W, op.site, b.active_mask, *into, at, *source, first, min(each, used))
                    b.runtime(register_tags.move_tags, *facts)
                else:
                    bit = n * come.bits // come.packed % 8
                    facts = (W, op.site, b.active_mask, *into, at, each, *source, first, used, bit)
                    b.runtime(register_tags.convert_tags, *facts)
        self.settle(b, op, op.operands[:1], [into])
        return True

    def fragment(self, b: Builder, op: Op) -> bool:
        """Elements of a matrix go between memory and registers, each by itself."""
        held, write = fragment(op.spelling), op.has("store")
        memory, registers = op.operands[:2] if write else op.operands[1::-1]
        at = WmmaMatrix(b, op, memory, op.operands[2:3], held)
        elements = tree.elements_of(registers)
        for piece in pieces(held, by_row=op.has("row")):
            place = self.held(op, elements[piece.register])
            b.store(at.addresses(piece), b.scratch(), 64)
            facts = (op.site, b.active_mask, b.scratch(), 0, at.space, max(piece.bits // 8, 1))
            if place is not None:
                native = memory_tags.store_tags if write else memory_tags.load_tags
                b.runtime(native, W, *facts, *place, piece.bit // 8)
            elif write:
                b.runtime(memory_tags.store_nothing, W, *facts)
        return True

    def update(self, b: Builder, op: Op) -> bool:
        """`atom`, `red`: memory is combined with a register, and another one takes what was there."""
        target, memory, *sources = op.operands if destinations(op.node) else (None, *op.operands)
        assert memory is not None
        space = resolved_space(b, base_and_offset(op, memory)[0], space_of(op))
        size = op.type.bits // 8
        addresses_at(b, memory, space, size * parts_of(op))
        given = sources[1 if op.has("cas") else 0] if sources else None
        results = tree.elements_of(target) if target is not None else ()
        for number, element in enumerate(() if given is None else tree.elements_of(given)):
            into = self.held(op, results[number]) if number < len(results) else None
            facts = (op.site, b.active_mask, b.scratch(), number * size, space, size)
            places = (*(into or _NOWHERE), *(self.held(op, element) or _NOWHERE), int(op.has("exch")))
            b.runtime(update_tags.update_tags, W, *facts, *places)
        return True

    def nothing(self, b: Builder, op: Op) -> bool:
        """The run-time follows what it does."""
        del b, op
        return True

    def _compute(self, b: Builder, op: Op) -> None:
        """Results are computed from everything that is read."""
        results = [held for name in _results(op) if (held := self.held(op, name))]
        sources = list(dict.fromkeys(held for name in _read(op) if (held := self.held(op, name))))[:_SOURCES]
        for result in results:
            if not sources:
                self.clear(b, result)
                continue
            packed = max((type_.packed for type_ in op.types), default=1)
            alike = packed > 1 and all(source.size == result.size for source in sources)
            spare = any(source != result and source.overlaps(result) for source in sources)
            into = TagPlace(self.spare, result.size) if spare else result
            none = (_SOURCES - len(sources)) * (0, 0)
            unpacks = int(_unpacks(op.node))
            facts = (*into, packed if alike else 1, unpacks, *(fact for source in sources for fact in source), *none)
            b.runtime(register_tags.compute_tags, W, op.site, b.active_mask, *facts)
            if spare:
                self.copy(b, op, result, into, b.active_mask)


_Rule: TypeAlias = "Callable[[Following, Builder, Op], bool]"


def rule_of(op: Op) -> _Rule | None:
    """The rule for tags at an instruction, by its effects on memory and other lanes, else by its words."""
    node = op.node
    found: _Rule | None
    if calls(node) or copies(node):
        found = Following.nothing
    elif multiplies(node):
        found = _PRODUCTS.get(next(iter(issues(node)), ""))
    elif moves_matrix(node):
        found = Following.matrix if op.opcode in MOVES else Following.fragment
    elif op.opcode in LOADS:
        found = Following.load
    elif is_store(op):
        found = Following.store
    elif updates_memory(node):
        found = Following.update
    elif exchanges(node):
        found = Following.transpose if op.opcode in MOVES else Following.exchange
    else:
        found = _by_words(node)
    return found


def _by_words(node: tree.Instruction) -> _Rule | None:
    asked: tuple[tuple[Callable[[tree.Instruction], object], _Rule], ...] = (
        (reformats, Following.convert),
        (moves_bits, Following.move),
        (chooses, Following.choose),
        (permutes, bit_moves.permute),
        (truth, bit_moves.logic),
        (shifts_one, bit_moves.shift),
        (shifts_two, bit_moves.funnel),
        (takes_field, bit_moves.extract),
        (replaces_field, bit_moves.insert),
    )
    return next((rule for holds, rule in asked if holds(node)), None)


_PRODUCTS: Final[dict[str, _Rule]] = {"": product_moves.product, PRODUCTS: product_moves.warpgroup}
"""The multiplying instructions, by what they issue."""
_NOWHERE: Final = (0, 0)


def _writes(node: tree.Instruction) -> bool:
    """Whether an instruction writes registers to memory, or makes a product, which is always noted."""
    return stores(node) or updates_memory(node) or multiplies(node)


def _unpacks(node: tree.Instruction) -> bool:
    """Whether an instruction may extract bits that were combined with a constant."""
    return adds(node) or (multiplies_operands(node) and not products_of_parts(node))


def _names(operand: tree.Operand) -> Iterator[tree.Name]:
    """The names in an operand that is not an address."""
    if not isinstance(operand, (tree.Address, tree.Indexed)):
        yield from (node for node in walk(operand) if isinstance(node, tree.Name))


def _read(op: Op) -> list[tree.Name]:
    """The names of values that an instruction reads."""
    values = {id(name) for operand in op.operands for name in _names(operand)}
    return [name for _, name in names_read(op) if id(name) in values]


def _results(op: Op) -> list[tree.Name]:
    return [name for name, _ in destinations(op.node)]
