"""Rewrites a module with products and sums fused as in ptxas: PTX again, with an `fma` in place of each sum."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.binding.call_graph import reachable
from ptxloom.binding.effects import destinations
from ptxloom.dataclass import dataclass
from ptxloom.flow import flow_graph
from ptxloom.flow.registers import RegisterWrites
from ptxloom.machine.contraction import quotients
from ptxloom.machine.contraction.choice import choose
from ptxloom.machine.contraction.products import Reading, is_product, watched
from ptxloom.machine.contraction.straight import needed_after, stretches
from ptxloom.syntax.module import Module
from ptxloom.syntax.tree import Block, Declaration, Declarator, Float, Function, Instruction, Integer, Name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ptxloom.machine.contraction.products import Product, Sum
    from ptxloom.syntax.tree import Operand, Statement

_BITS: Final = {"f64": 64, "f32x2": 64, "f16": 16, "bf16": 16}  # all others: 32
_SIGNS: Final = 0x8000000080000000


class Fusion(NamedTuple):
    """A sum that has become an `fma`, and the product in it."""

    sum: Instruction
    product: Instruction


@dataclass(frozen=True, slots=True)
class Contraction:
    """A module, and what has been fused in it.

    Attributes:
        module: The module.
        fusions: By the offset of the sum in the text.
    """

    module: Module
    fusions: Mapping[int, Fusion]


def contracted(module: Module, name: str) -> Contraction:
    """A module whose kernel, and all that it can reach, is fused as ptxas does it.

    Args:
        module: As it was written.
        name: The kernel.

    Example:
        >>> from ptxloom.syntax import parse, print_statements
        >>> module = parse(".entry k() { .reg .f32 a, b, c; mul.f32 a, a, b; add.f32 c, a, b; testp.finite.f32 p, c; }")
        >>> body = contracted(module, "k").module.functions["k"].body
        >>> print(print_statements(body.statements[1:2]).strip())
        fma.rn.f32 c, a, b, b;
    """
    entry = module.functions.get(name)
    functions = reachable(module, entry) if entry is not None else ()
    rewriters = {id(one): _Rewriter(one, module.source.text) for one in functions if one.body is not None}
    statements = tuple(rewriters[id(one)].function() if id(one) in rewriters else one for one in module.statements)
    fusions = {fusion.sum.start: fusion for rewriter in rewriters.values() for fusion in rewriter.fusions}
    return Contraction(Module(module.source, statements, module.diagnostics), fusions)


class _Rewriter:
    """Rewrites one function, instruction by instruction."""

    def __init__(self, function: Function, text: str) -> None:
        self.fusions: list[Fusion] = []
        self._function = function
        self._instead: dict[int, tuple[Instruction, ...]] = {}
        self._kept: dict[str, int] = {}  # registers of our own, by type
        self._quotients: dict[int, tuple[Name, Name]] = {}
        self._stem = "%kept"
        while self._stem in text:
            self._stem += "_"
        graph = flow_graph(function, marks=False)
        everything = [one for block in graph.blocks for one in block.instructions]
        if not any(map(is_product, everything)):
            return
        self._key = RegisterWrites(graph).key
        needed = needed_after(graph, watched(everything, self._key), self._key)
        for stretch in stretches(graph):
            reading = Reading(stretch.instructions, self._key, needed[stretch.last])
            choose(reading.sums)
            self._stretch(stretch.instructions, reading)

    def function(self) -> Function:
        """The function after fusion."""
        body = self._function.body
        if not self.fusions or body is None:
            return self._function
        declared = tuple(
            Declaration("", "reg", 0, 0, type_, (), (Declarator(f"{self._stem}_{type_}_", count),))
            for type_, count in self._kept.items()
        )
        return self._function.replace(body=body.replace(statements=declared + self._rewritten(body)))

    def _rewritten(self, block: Block) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for one in block.statements:
            match one:
                case Instruction():
                    found += self._instead.get(id(one), (one,))
                case Block():
                    found.append(one.replace(statements=self._rewritten(one)))
                case _:
                    found.append(one)
        return tuple(found)

    def _stretch(self, instructions: Sequence[Instruction], reading: Reading) -> None:
        for product in reading.products:
            if product.is_fused:
                self._instead |= {id(one): () for one in (product.node, *product.copies)}
        writes: dict[str, list[int]] = {}
        for position, node in enumerate(instructions):
            if id(node) not in self._instead:
                for one in destinations(node):
                    writes.setdefault(self._key(node, one.name.text), []).append(position)
        for one in reading.sums:
            product = one.product
            if product is not None:
                self._fuse(one, product, self._factors(one, product, writes))

    def _factors(self, one: Sum, product: Product, writes: Mapping[str, Sequence[int]]) -> list[Operand]:
        """The factors as of the product: those that are overwritten or hidden later are copied there."""
        if product.is_quotient:
            return [*self._quotient(product.node)]
        found: list[Operand] = []
        for factor in product.node.operands[1:]:
            if type(factor) is Name:
                key = self._key(product.node, factor.text)
                times = writes.get(key, ())
                since = bisect_left(times, product.position) < bisect_left(times, one.position)
                if since or key != self._key(one.node, factor.text):
                    found.append(self._keep(product.node, factor))
                    continue
            found.append(factor)
        return found

    def _keep(self, node: Instruction, factor: Operand) -> Operand:
        """Copy a factor at the product's place."""
        type_ = _container(node)
        kept = self._own(type_)
        self._before(node, node.replace(opcode="mov", qualifiers=(type_,), operands=(kept, factor)))
        return kept

    def _own(self, type_: str) -> Name:
        number = self._kept[type_] = self._kept.get(type_, 0) + 1
        return Name(f"{self._stem}_{type_}_{number - 1}")

    def _before(self, node: Instruction, *others: Instruction) -> None:
        """Insert instructions before the replacement of an instruction."""
        self._instead[id(node)] = (*others, *self._instead.get(id(node), (node,)))

    def _quotient(self, node: Instruction) -> tuple[Name, Name]:
        """The factors of an approximate quotient, computed at its place."""
        found = self._quotients.get(id(node))
        if found is None:
            steps = quotients.factors(node, self._own)
            self._before(node, *steps.instructions)
            found = self._quotients[id(node)] = steps.reciprocal, steps.dividend
        return found

    def _fuse(self, one: Sum, product: Product, factors: list[Operand]) -> None:
        node = one.node
        term = one.terms[one.fused or 0]
        assert term is not None
        added = node.operands[2 - (one.fused or 0)]
        before: list[Instruction] = []
        subtracted = one.subtracts
        if term.negative != (subtracted and one.fused == 1):
            factors[0] = self._negative(node, factors[0], before)
        if subtracted and one.fused == 0:
            added = self._negative(node, added, before)
        *flags, type_ = node.qualifiers
        fma = node.replace(opcode="fma", qualifiers=("rn", *flags, type_), operands=(node.operands[0], *factors, added))
        self._instead[id(node)] = (*before, fma)
        self.fusions.append(Fusion(node, product.node))

    def _negative(self, node: Instruction, operand: Operand, before: list[Instruction]) -> Operand:
        """An operand with the other sign, by an instruction before if it is a register."""
        type_ = node.qualifiers[-1]
        if type(operand) is Float:
            return operand.replace(bits=operand.bits ^ 1 << operand.width - 1)
        turned = self._own(_container(node))
        if type_ == "f32x2":
            change = node.replace(opcode="xor", qualifiers=("b64",), operands=(turned, operand, Integer(_SIGNS, 16)))
        else:
            change = node.replace(opcode="neg", qualifiers=(type_,), operands=(turned, operand))
        before.append(change)
        return turned


def _container(node: Instruction) -> str:
    """The type of registers that hold what an instruction computes with."""
    return f"b{_BITS.get(node.qualifiers[-1], 32)}"
