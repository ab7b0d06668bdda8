"""Poison: unwritten bits of registers, followed from where they are loaded to where they are used.

Real kernels load unwritten data and discard them: the fourth word of a vector of three, an item beyond the end of an
array, what a `selp` does not choose. So a load of it is not a hazard. As MemorySanitizer does, its register keeps which
bits are poison, every instruction computes the poison of its results, stores copy poison to shared and local memory,
and initcheck reports where it is used: where it decides a branch, is an address, leaves the CTA, or is mixed with other
lanes' data (`mma`, votes, atomics).

Warps without poison run the plain code, which only checks loads. The first that loads something unwritten continues in
a variant of the kernel, compiled when needed, in which this instrument follows poison instruction by instruction, until
there is no poison left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.isa.limits import LANES
from ptxloom.lazy import cached_property
from ptxloom.machine.analysis.definite_assignment import names_read, names_written
from ptxloom.machine.codegen import llvm_words, scratch
from ptxloom.machine.codegen.addresses import addresses_at, base_and_offset, resolved_space, space_of
from ptxloom.machine.codegen.builder import Instrument
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.instruments import initcheck
from ptxloom.machine.instruments.poison_values import NONE, computed_or, in_addresses, poisoned_lanes, spread
from ptxloom.machine.native.ir import Value, count, vector
from ptxloom.machine.program import parts
from ptxloom.machine.program.symbols import Register
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.initcheck import poison
from ptxloom.machine.runtime.initcheck import slow_path as marks
from ptxloom.meaning import table
from ptxloom.meaning.deeds import deeds_of
from ptxloom.meaning.effects import PRODUCTS, Exchange
from ptxloom.meaning.types import ptx_type
from ptxloom.readings.effects import gives_away, issues
from ptxloom.readings.poison import PoisonWords, words_of
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.codegen.family import Row
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.meaning.types import Type
    from ptxloom.readings.shadowed import Shadowed

GUARD, ADDRESS, VALUE = range(3)  # how a register is used: for reports


class Poisoning(Instrument):
    """Follows poison through a variant; `find` returns how an instruction is built."""

    def __init__(self, program: Program, find: Callable[[Op], Row | None]) -> None:
        self.program = program
        self.find = find

    @cached_property
    def _read(self) -> frozenset[int]:
        """The registers (by place of poison) that are ever read: poison in others does not matter."""
        found = (self.register(op, name.text) for op in self.program.ops for _, name in names_read(op))
        return frozenset(register.poison for register in found if register is not None)

    def sees(self, op: Op) -> bool:
        """Every instruction must be built by itself."""
        del op
        return True

    def enter(self, b: Builder) -> None:
        """Mark the registers that a call has saved for its caller as written."""
        back = b.block.after
        for kept in () if back is None else self.program.calls[back.site].kept:
            b.runtime(poison.clear_poison, W, kept.place, kept.size, b.mask)

    def before(self, b: Builder) -> None:
        """The instruction is about to run: compute the poison of its results."""
        op = b.op
        if op.site in self.program.knowledge.uniform_ops:  # what it reads is written
            for register in self._results(op):
                b.runtime(poison.clear_poison, W, register.poison, register.lane_bytes, b.mask)
            return
        guard = op.node.predicate
        if guard is not None:
            register = self.register(op, guard.name)
            self._use(b, [] if register is None else [register], GUARD, b.mask)
        sources = dict(self._sources(op))
        addresses = [register for node, register in sources.items() if node in in_addresses(op)]
        self._use(b, addresses, ADDRESS, b.active_mask)
        values = [register for node, register in sources.items() if node not in in_addresses(op)]
        results = [register for register in self._results(op) if register.poison in self._read]
        self._rule(op)(b, values, results)

    def _rule(self, op: Op) -> Callable[[Builder, list[Register], list[Register]], None]:
        if op.opcode in parts.LOADS:
            return self._load
        if parts.is_store(op):
            return self._store
        if initcheck.moves_near_matrix(op):
            return self._matrix
        if PRODUCTS in issues(op.node):
            return self._product
        if gives_away(op.node):
            return self._given_away
        return self._exchanged if Exchange(moves=True) in deeds_of(op.node) else self._computed

    # -- rules

    def _given_away(self, b: Builder, values: list[Register], results: list[Register]) -> None:
        """Everything that is read counts as used."""
        self._use(b, values, VALUE, b.active_mask)
        self._clear(b, results)

    def _product(self, b: Builder, values: list[Register], results: list[Register]) -> None:
        """Factors are used, and so is the former D depending on `scale-d`."""
        op = b.op
        held = {register.poison for register in self._results(op)}
        self._use(b, [value for value in values if value.poison not in held], VALUE, b.active_mask)
        if held:
            kept = b.read_mask(op.operands[5 if op.has("sp") else 3])
            added = [value for value in values if value.poison in held]
            self._use(b, added, VALUE, b.apply("and", kept, b.active_mask))
        self._clear(b, results)

    def _computed(self, b: Builder, values: list[Register], results: list[Register]) -> None:
        """Results are poison as far as they depend on it."""
        if not values or not results:
            self._clear(b, results)
            return

        def found() -> None:
            row = table.find(b.op)
            if row is None:
                self._keep(b, values, [(result, spread(b, values, result), Value("i32", "0")) for result in results])
                return
            rearranges = any(isinstance(operand, tree.Vector) for operand in b.op.operands)
            kept = _Kept(self, b, {register.poison for register in results})
            row.build(words_of(PoisonWords(llvm_words.words_of(b), kept, rearranges=rearranges)), b.op)
            self._keep(b, values, kept.found)

        some = b.apply("and", poisoned_lanes(b, values), b.active_mask)
        b.either(b.compare("ne", some, NONE), found, lambda: self._clear(b, results))

    def _keep(self, b: Builder, values: list[Register], found: list[tuple[Register, Value, Value]]) -> None:
        """Results take their poison, and the source of the first operand that has some."""
        for result, bits, _ in found:
            self._put(b, result, bits)
        for result, _, done in found:
            least = done if done.text == "0" else computed_or(b, values, done)
            for value in reversed(values):
                b.runtime(poison.inherit, W, result.poison, value.poison, value.lane_bytes, b.active_mask, least)

    def _exchanged(self, b: Builder, values: list[Register], results: list[Register]) -> None:
        """Lanes exchange poison in the same way as values; if the selector is poison, so is the whole result."""
        if not values or not results:
            self._clear(b, results)
            return
        op = b.op
        data = {id(node) for node in walk(op.operands[1])}
        steering = [r for node, r in self._sources(op) if node not in data]

        def found() -> None:
            self._as_poison(b, data)
            self._clear(b, (r for r in results if r.type.kind == "p"))
            if steering:
                steered = b.apply("and", poisoned_lanes(b, steering), b.active_mask)
                for result in results:
                    b.runtime(poison.overwhelm, W, result.poison, result.lane_bytes, steered)
            done = computed_or(b, values, Value("i32", str(state.LOADED)))
            for result in results:
                for value in reversed(values):
                    b.runtime(poison.inherit, W, result.poison, value.poison, value.lane_bytes, b.active_mask, done)

        some = b.apply("and", poisoned_lanes(b, values), b.active_mask)
        b.either(b.compare("ne", some, NONE), found, lambda: self._clear(b, results))

    def _as_poison(self, b: Builder, data: set[int]) -> None:
        """Build the instruction again, to compute with poison in place of its data operands."""
        row = self.find(b.op)
        assert row is not None
        instruments, b.instruments = b.instruments, initcheck.Remembering()
        b.poisoned = frozenset(data)
        row.build(b, b.op)
        b.poisoned, b.instruments = None, instruments

    def _load(self, b: Builder, values: list[Register], results: list[Register]) -> None:
        """The result is poison where the load uses unwritten memory."""
        del values
        op = b.op
        target, source = op.operands[0], op.operands[1]
        space = resolved_space(b, base_and_offset(op, source)[0], space_of(op))
        if not results or not initcheck.is_watched(b, space):
            self._clear(b, results)
            return
        size, count = op.type.bits // 8, parts.parts_of(op)
        addresses_at(b, source, space, size * count)
        used = parts.moved_mask(op)
        facts = (b.scratch(scratch.VALUES), b.scratch(), b.active_mask, space, size, count, used, op.site)

        def found() -> None:
            places = (b.scratch(scratch.VALUES + n * LANES * size) for n in range(count))
            bits = tuple(b.load(vector(f"i{8 * size}"), place, 32) for place in places)
            b.poisoned = frozenset()
            b.write_all(target, bits, op.type.signed)
            b.poisoned = None
            for result in results:
                b.runtime(poison.come_from, W, result.poison)

        some = b.runtime(poison.load_poison, W, *facts)
        b.either(b.compare("ne", some, NONE), found, lambda: self._clear(b, results))

    def _store(self, b: Builder, values: list[Register], results: list[Register]) -> None:
        """Memory of the CTA receives the poison; data that leave the CTA count as used."""
        del results
        op = b.op
        target, source = op.operands[0], op.operands[1]
        space = resolved_space(b, base_and_offset(op, target)[0], space_of(op))
        size, count = op.type.bits // 8, parts.parts_of(op)
        addresses_at(b, target, space, size * count)

        def found() -> None:
            for number, element in enumerate(tree.elements_of(source)):
                bits = b.read_poison(element, ptx_type(f"b{op.type.bits}"))
                b.store(bits, b.scratch(scratch.VALUES + number * LANES * size), 32)
            facts = (
                b.scratch(),
                b.active_mask,
                space,
                size,
                count,
                parts.moved_mask(op),
                self._computed_parts(b, source),
            )
            given = b.runtime(poison.store_poison, W, b.scratch(scratch.VALUES), *facts)
            for value in values:
                b.runtime(poison.note_given, W, op.site, given, value.poison, value.lane_bytes, size, VALUE)

        def none() -> None:
            if initcheck.is_watched(b, space):
                for part in parts.moved(op):
                    b.runtime(marks.written_lanes, W, b.scratch(), part.at, b.active_mask, space, part.bytes)

        some = b.apply("and", poisoned_lanes(b, values), b.active_mask)
        b.either(b.compare("ne", some, NONE), found, none)

    def _computed_parts(self, b: Builder, source: tree.Operand) -> Value:
        """The elements that have been computed with poison, as bits."""
        found = NONE
        for number, element in enumerate(tree.elements_of(source)):
            register = self.register(b.op, element.text) if isinstance(element, tree.Name) else None
            if register is not None:
                some = b.runtime(poison.is_computed, W, register.poison, register.lane_bytes, b.active_mask)
                found = b.apply("or", found, b.apply("shl", some, Value("i32", str(number))))
        return found

    def _matrix(self, b: Builder, values: list[Register], results: list[Register]) -> None:
        """A matrix of poison: the same move, with the marks of shared memory in its place."""
        del values
        op = b.op
        place, marked = b.field("shared"), b.field("written")
        at = b.load("i64", marked, 8)

        def found() -> None:
            own = b.load("i64", place, 8)
            b.store(at, place, 8)
            data = {
                id(node) for operand in op.operands if not isinstance(operand, tree.Address) for node in walk(operand)
            }
            strides = {id(node) for operand in op.operands[2:] for node in walk(operand)}
            self._as_poison(b, data - strides)
            b.store(own, place, 8)
            for result in results:
                b.runtime(poison.come_from, W, result.poison)

        watched = b.compare("ne", at, Value("i64", "0"))
        b.runtime(poison.forget_source, W)
        b.either(watched, found, lambda: self._clear(b, results))

    # -- registers

    def register(self, op: Op, name: str) -> Register | None:
        """A register that can be poison: not a vector, nor a value of the whole CTA that is surely written."""
        found = op.scope.find(name)
        if not isinstance(found, Register) or found.vector > 1:
            return None
        return None if found.offset in self.program.knowledge.uniform and found.apart < 0 else found

    def _sources(self, op: Op) -> Iterator[tuple[int, Register]]:
        """The registers that an instruction reads, except for its predicate, each with the identity of its name."""
        for number, name in names_read(op):
            register = self.register(op, name.text)
            if register is not None and not (number == 0 and op.node.predicate is not None):
                yield id(name), register

    def _results(self, op: Op) -> list[Register]:
        found = (self.register(op, name) for name in names_written(op))
        return [register for register in found if register is not None]

    def _use(self, b: Builder, registers: list[Register], use: int, lanes: Value) -> None:
        """Report the registers that are poison in lanes that use them."""
        if not registers:
            return

        def note() -> None:
            for register in registers:
                b.runtime(poison.note_use, W, b.op.site, lanes, register.poison, register.lane_bytes, use)

        some = b.apply("and", poisoned_lanes(b, registers), lanes)
        b.when(b.compare("ne", some, NONE), note)

    def _clear(self, b: Builder, results: Iterable[Register]) -> None:
        for result in results:
            kind = "i32" if result.type.kind == "p" else vector(f"i{result.type.bits}")
            self._put(b, result, b.constant(kind, 0))

    def _put(self, b: Builder, result: Register, bits: Value) -> None:
        """Store the poison of a result, in the active lanes."""
        place = b.poison_place(result)
        if result.type.kind != "p":
            plain = b.bitcast(bits, vector(f"i{bits.bits}"))
            b.store_lanes(b.resize(plain, result.type.bits), place, 64)
            return
        if b.active is not None:
            old = b.load("i32", place, 4)
            bits = b.apply("xor", old, b.apply("and", b.apply("xor", old, bits), b.active))
        b.store(bits, place, 4)


class _Kept:
    """Receives the poison of results: the register, its bits, and whether they were computed (`state.COMPUTED`)."""

    def __init__(self, poisoning: Poisoning, b: Builder, wanted: set[int]) -> None:
        self._poisoning = poisoning
        self._b = b
        self._wanted = wanted
        self.found: list[tuple[Register, Value, Value]] = []

    def poison_of(self, operand: tree.Operand, type_: Type) -> Value | None:
        """The poison of a register."""
        b = self._b
        register = self._poisoning.register(b.op, operand.text) if isinstance(operand, tree.Name) else None
        if register is None:
            return None
        if register.type.kind == "p":
            return b.load("i32", b.poison_place(register), 4)
        whole = b.load(vector(f"i{register.type.bits}"), b.poison_place(register), 64)
        packed = vector(f"i{type_.bits // type_.packed}", LANES * type_.packed)
        return b.bitcast(b.resize(whole, type_.bits), packed)

    def keep(self, operand: tree.Operand, found: Shadowed[Value], *, signed: bool) -> None:
        """The poison of a result, as wide as its register."""
        b = self._b
        register = self._poisoning.register(b.op, operand.text) if isinstance(operand, tree.Name) else None
        if register is None or register.poison not in self._wanted:
            return
        if found.poison is None:
            zero = b.constant("i32" if register.type.kind == "p" else vector(f"i{register.type.bits}"), 0)
            self.found.append((register, zero, Value("i32", str(state.LOADED))))
            return
        bits = found.poison
        if register.type.kind != "p":
            plain = b.bitcast(bits, vector(f"i{count(bits.type) * bits.bits // LANES}"))
            bits = b.resize(plain, register.type.bits, signed)
        done = Value("i32", str(found.done))
        if found.steered is not None and found.done != state.COMPUTED:
            some = b.compare("ne", b.apply("and", found.steered, b.active_mask), NONE)
            done = b.select(some, Value("i32", str(state.COMPUTED)), done)
        self.found.append((register, bits, done))
