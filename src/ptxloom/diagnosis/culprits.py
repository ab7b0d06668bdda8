"""Which instruction to change, and how.

Found along the path of the elements, backwards. Causes in a matrix move are mended in its line. Causes in an address
are mended where the address is computed: the line named is that of the instruction that uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import numpy as np

from ptxloom.binding.effects import destinations
from ptxloom.binding.touches import touches
from ptxloom.dataclass import dataclass
from ptxloom.diagnosis.lines.fillers import listed, of_caller, spares
from ptxloom.diagnosis.lines.swizzles import unswizzled
from ptxloom.diagnosis.model import Repair
from ptxloom.diagnosis.origins.bases import way
from ptxloom.diagnostics import UnsupportedForm
from ptxloom.isa.matrix import MOVES, matrix_move
from ptxloom.readings.effects import copies, loads, stores
from ptxloom.readings.terms import meaning_of
from ptxloom.syntax import print_statements, tree
from ptxloom.syntax.places import origins_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ptxloom.diagnosis.origins.permutations import Named
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.results.provenance import ProvenanceRecord
    from ptxloom.syntax.module import Module

_GLOBAL_INDEX: Final = (
    "leading-dimension",
    "order-exchanged",
    "index-overflow",
    "operands-exchanged",
    "tail-not-masked",
)
_OF_COPIES: Final = ("k-tile-mismatch", "rows-repeated", "columns-repeated")  # where others never come
_OF_PLACES: Final = ("tile-exchanged", "rows-shifted", "columns-shifted")  # likewise
_MOST_WAYS: Final = 64


@dataclass(frozen=True, slots=True)
class Culprit:
    """What to change.

    Attributes:
        cause: The id, now that the instructions are known.
        op: The instruction that is named.
        repair: The change, if it is one of the PTX.
        concerned: All instructions of the way.
    """

    cause: str
    op: Op
    repair: Repair | None
    concerned: tuple[Op, ...]


def culprit(
    named: Named,
    role: str,
    paths: Integers,
    products: Sequence[Op],
    record: ProvenanceRecord,
    *,
    ops: Sequence[Op],
    lost: bool = False,
) -> Culprit:
    """The instruction that produces a cause.

    Args:
        named: The cause.
        role: The operand.
        paths: The paths of the wrong elements.
        products: The instructions that multiply them.
        record: Knows the paths.
        ops: The program's instructions by their sites.
        lost: Whether elements of the operand never arrived: then the copy is wrong, not its reader.
    """
    ways = ways_of(paths, record, ops)
    concerned = tuple(dict.fromkeys((*(op for way in ways for op in way), *products)))
    moves = [op for op in concerned if moves_rows(op)]
    twice = next((op for op in products if role in "ab" and _names_twice(op, role)), None)
    if twice is not None:
        return Culprit("registers-exchanged", twice, None, concerned)
    if named.cause == "transposed" and moves:
        extra = [op for op in moves if op.has("trans")]
        moves = extra or [op for op in moves if op.opcode == moves[0].opcode]
        edits = tuple((op.node, text) for op in moves if (text := transposing(op)) is not None)
        repair = Repair(record.program.module, edits) if len(edits) == len(moves) else None
        return Culprit("trans-extra" if extra else "trans-missing", moves[0], repair, concerned)
    if named.cause in (*_OF_COPIES, *_OF_PLACES) and lost and role in "ab":
        copies = copies_of(paths, record)
        if copies:
            return Culprit(named.cause, copies[0], None, concerned)
    if named.cause in ("registers-exchanged", "matrices-exchanged"):
        return _exchanged(
            named, role, moves, ways=ways, products=products, concerned=concerned, program=record.program,
        )  # fmt: skip
    if named.cause == "swizzle-mismatch" and ways and (plain := unswizzled(ways[0], record.program)) is not None:
        return Culprit(named.cause, plain, None, concerned)
    whole = not (named.cause == "order-exchanged" and named.distance)  # else within a tile of shared memory
    op = _named(named.cause, role, ways[0] if ways else (), products, whole=whole)
    return Culprit(named.cause, op, None, concerned)


def copies_of(paths: Integers, record: ProvenanceRecord) -> list[Op]:
    """The instructions that load elements from global memory, those with the most elements first."""
    ways = ways_of(paths, record, record.program.ops)
    found = (op for way in ways for op in way if copies(op.node) or (_loads(op) and op.has("global")))
    return list(dict.fromkeys(found))


def ways_of(paths: Integers, record: ProvenanceRecord, ops: Sequence[Op]) -> list[tuple[Op, ...]]:
    """The paths of elements, the most frequent first; each starts at the load."""
    numbers, counts = np.unique(paths[paths > 0], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return [tuple(ops[site] for site in way(record, int(number))) for number in numbers[order][:_MOST_WAYS]]


def _named(cause: str, role: str, way: tuple[Op, ...], products: Sequence[Op], *, whole: bool) -> Op:
    """The instruction whose address, or packing, is to blame."""
    if cause == "halves-exchanged":
        chosen = [op for op in way if meaning_of(op.node) is not None]
    elif role == "d" and cause == "stored-twice":
        chosen = [op for op in way if stores(op.node)][:1]
    elif role == "d":
        shared = [op for op in way if op.has("shared", "shared::cta")]
        if cause == "other-layout" and shared:
            return shared[0]  # that registers are stored by
        pitches = cause in ("pitch-mismatch", "swizzle-mismatch", "other-layout")
        chosen = shared if pitches and shared else [op for op in way if _stores(op) and op not in shared]
    elif role == "copy" and cause == "tile-exchanged":
        chosen = [op for op in way if _stores(op)]
    elif cause in _GLOBAL_INDEX and role != "copy" and whole:
        chosen = [op for op in way if _loads(op) or copies(op.node)]
        return chosen[0] if chosen else products[0]
    else:
        matrix = [op for op in way if moves_rows(op) and loads(op.node)]
        apart = cause in ("pitch-mismatch", "swizzle-mismatch")
        chosen = matrix if role == "copy" and matrix and not apart else [op for op in way if loads(op.node)]
    return (chosen or list(way) or list(products))[-1]


def moves_rows(op: Op) -> bool:
    """Whether an instruction moves rows of matrices between shared memory and registers."""
    return op.opcode in MOVES and bool(touches(op.node))


def _loads(op: Op) -> bool:
    """Whether an instruction loads from addresses that lanes compute, or a matrix of `wmma`."""
    return loads(op.node) and not moves_rows(op)


def _stores(op: Op) -> bool:
    """Whether an instruction stores to addresses that lanes compute, or a matrix of `wmma`."""
    return stores(op.node) and not moves_rows(op)


def transposing(move: Op) -> str | None:
    """A matrix move with `.trans` if it has none, else without; None if it has no such form."""
    others = [word for word in move.qualifiers if word != "trans"]
    words = others if move.has("trans") else [*others, "trans"]
    try:
        spelling = matrix_move(".".join((move.opcode, *words))).spelling
    except UnsupportedForm:
        return None
    return _spelled(move, spelling.split(".")[1:])


def _spelled(op: Op, words: Iterable[str]) -> str:
    node = op.node.replace(qualifiers=tuple(words))
    return " ".join(_text(node).split())


def _text(node: tree.Instruction) -> str:
    return print_statements((node,))


def _exchanged(
    named: Named,
    role: str,
    moves: list[Op],
    *,
    ways: Sequence[tuple[Op, ...]],
    products: Sequence[Op],
    concerned: tuple[Op, ...],
    program: Program,
) -> Culprit:
    """Registers in another order: in the vector of the product, or of the move that fills or empties them."""
    module = program.module
    vectors = {op.site: listed(op, 0 if loads(op.node) else 1) for op in moves}
    if role == "copy":
        return Culprit("matrices-exchanged", moves[0] if moves else concerned[-1], None, concerned)
    if not moves and role == "d":
        stores = [op for op in concerned if _stores(op)] or list(concerned)
        return Culprit("rows-permuted", stores[-1], None, concerned)
    if not moves and not named.registers and role in "ab" and ways:
        found = [op for op in ways[0] if _loads(op)]
        if found:  # one register's own load
            return Culprit("matrices-exchanged", found[-1], None, concerned)
    if not moves:
        repair = None
        if named.registers and role in "ab":
            repair = Repair(
                module, tuple((op.node, _permuted(op, "dab".index(role), named.registers)) for op in products)
            )
        found = [op for way in ways[:1] for op in way if _loads(op)]
        of_loads = bool(found) and (
            _is_helper(products[0], found[-1], module)
            or (role in "ab" and _filled_in_order(products[0], role, program.ops))
        )
        caller = _caller(named, role, products[0], program) if role in "ab" else None
        chosen = caller or (found[-1] if of_loads else products[0])
        return Culprit("registers-exchanged", chosen, repair, concerned)
    taken = _another_s(role, products, program) if role in "ab" else None
    used = [listed(op, "dab".index(role)) for op in products]
    straight = all(_in_order(names, tuple(vectors.values())) for names in used)
    if taken is None and (straight or role == "d" or len(products) > len(moves)):
        return Culprit("matrices-exchanged", moves[0], _of_moves(named, role, moves, used, module), concerned)
    return Culprit("registers-exchanged", products[0], taken or _reordered(named, role, products, module), concerned)


def _another_s(role: str, products: Sequence[Op], program: Program) -> Repair | None:
    """The unused registers in place of those that belong to another product, if each product has one."""
    place = "dab".index(role)
    edits: list[tuple[tree.Instruction, str]] = []
    for op in products:
        vector = op.operands[place]
        found = spares(op, place, program)
        if len(found) != 1 or not isinstance(vector, tree.Vector):
            return None
        ((at, name),) = found.items()
        elements = list(vector.elements)
        elements[at] = cast("tree.Name", elements[at]).replace(text=name)
        edits.append((op.node, _with(op, place, vector.replace(elements=tuple(elements)))))
    return Repair(program.module, tuple(edits))


def _of_moves(
    named: Named, role: str, moves: Sequence[Op], used: Sequence[tuple[str, ...]], module: Module
) -> Repair | None:
    """The vectors of the moves in their right order, where each fills one operand, or empties one."""
    place, order = (0, named.registers) if role != "d" else (1, named.registers)
    vectors = {names for names in used if names}
    if not order or any(listed(op, place) not in vectors for op in moves):
        return None
    inverse = tuple(order.index(n) for n in range(len(order)))
    order = order if role == "d" else inverse
    return Repair(module, tuple((op.node, _permuted(op, place, order)) for op in moves))


def is_divided(op: Op, products: Sequence[Op], role: str) -> bool:
    """Whether the registers that a matrix move fills go to several products, each of which takes some of them.

    Then which of them each takes explains matrices in another order as well as the rows that lanes point to.
    """
    filled = set(listed(op, 0)) if moves_rows(op) and loads(op.node) else set[str]()
    taken = [filled & set(listed(one, "dab".index(role))) for one in products] if role in "ab" else []
    return any(some and some < filled for some in taken)


def _caller(named: Named, role: str, product: Op, program: Program) -> Op | None:
    """The caller's instruction that fills a wrong register, if the product is in a function."""
    names = listed(product, "dab".index(role))
    moved = [place for place, held in enumerate(named.registers) if place != held]
    return of_caller(product, [names[place] for place in moved if place < len(names)], program)


def _is_helper(product: Op, load: Op, module: Module) -> bool:
    """Whether a product was inlined from a function of another line than the load: the order is the caller's."""
    origins = origins_in(module)
    there, here = origins.at(product.node.start), origins.at(load.node.start)
    return there is not None and here is not None and there.into is not None and there.file != here.file


def _names_twice(product: Op, role: str) -> bool:
    """Whether a product names a register of a factor twice, and so leaves out another."""
    names = listed(product, "dab".index(role))
    return len(set(names)) < len(names)


def _filled_in_order(product: Op, role: str, ops: Sequence[Op]) -> bool:
    """Whether the registers of an operand are written in the order in which a product names them.

    Then the registers are named correctly, and their writers are responsible for their contents.
    """
    filled: list[int] = []
    for name in listed(product, "dab".index(role)):
        before = reversed(ops[: product.site])
        by = next((op.site for op in before if any(out.text == name for out, _ in destinations(op.node))), None)
        if by is None:
            return False
        filled.append(by)
    return filled == sorted(filled) and len(set(filled)) == len(filled) > 1


def _reordered(named: Named, role: str, products: Sequence[Op], module: Module) -> Repair | None:
    """The registers of an operand in their right order in each product."""
    if not named.registers:
        return None
    place = "dab".index(role)
    return Repair(module, tuple((op.node, _permuted(op, place, named.registers)) for op in products))


def _in_order(names: tuple[str, ...], vectors: tuple[tuple[str, ...], ...]) -> bool:
    """Whether registers stand in a product in the order in which a move names them."""
    for vector in vectors:
        places = [vector.index(name) for name in names if name in vector]
        if places != sorted(places):
            return False
    return True


def _permuted(op: Op, place: int, order: tuple[int, ...]) -> str:
    """An instruction with the registers of a vector in the order that undoes `order`."""
    vector = cast("tree.Vector", op.operands[place])
    items = list(vector.elements)
    for here, there in enumerate(order):
        items[there] = vector.elements[here]
    return _with(op, place, vector.replace(elements=tuple(items)))


def _with(op: Op, place: int, operand: tree.Vector) -> str:
    """An instruction with another operand at a place."""
    operands = list(op.operands)
    operands[place] = operand
    return " ".join(_text(op.node.replace(operands=tuple(operands))).split())
