"""Matrices that a warp holds together: moves between memory and lanes, and products (PTX ISA 9.7.14).

Hardware lets part of a warp run an `.aligned` instruction: the lanes present get their share of the data, without an
error; `synccheck` reports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.fragments.derive import transposition
from ptxloom.isa.limits import LANES
from ptxloom.isa.matrix import matrix_move
from ptxloom.isa.products import matrix_form
from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import READ, WRITE, Access
from ptxloom.machine.codegen.addresses import addresses_or_register
from ptxloom.machine.codegen.convergence import aligned
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import vector
from ptxloom.machine.native.signature import signature
from ptxloom.machine.program.symbols import Register
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.memory import matrices
from ptxloom.machine.tensor import emit
from ptxloom.machine.tensor.scales import ScaleSelectors
from ptxloom.meaning.moves import packed
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.isa.matrix import MatrixMove
    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.native.ir import Value
    from ptxloom.machine.program.model import Op

family: Final = Family()

_TURING: Final = 75


@family("ldmatrix", starts=True)
def ldmatrix(b: Builder, op: Op) -> None:
    """Load matrices, row by row, each row from the address one lane names."""
    move = _move(op)
    aligned(b)
    target, source = op.operands[0], op.operands[1]
    places, staged = _results(b, target, move.registers, 32)
    _rows(b, move, source, places)
    if staged:
        _write(b, target, places, 32)


@family("stmatrix", starts=True)
def stmatrix(b: Builder, op: Op) -> None:
    """Store matrices, row by row, each row to the address one lane names."""
    move = _move(op)
    aligned(b)
    target, source = op.operands[0], op.operands[1]
    _rows(b, move, target, _sources(b, (source,), 32, scratch.VALUES))


@family("movmatrix", starts=True)
def movmatrix(b: Builder, op: Op) -> None:
    """Transpose the matrix that the warp holds."""
    aligned(b)
    halves = b.bitcast(b.read(op.operands[1], "b32"), vector("i16", 2 * LANES))
    b.write(op.operands[0], b.bitcast(b.shuffle(halves, transposition()), vector("i32")))


@family("mma", starts=True)
@family("wmma", when=lambda op: op.has("mma"), starts=True)
def mma(b: Builder, op: Op) -> None:
    """D = A * B + C, with the tensor cores' own rounding; `mma.sp` takes metadata too, block-scaled forms scales."""
    try:
        form = matrix_form(op.spelling)
        function = emit.function(form, b.program.target, *_selectors(b, op, form))
    except (UnsupportedForm, UsageError) as why:
        raise op.unsupported(str(why)) from why
    aligned(b)
    bits = form.register_bits
    target, *sources = op.operands
    places, staged = _results(b, target, form.vector_lengths[0], bits)
    inputs = _sources(b, sources[:3], bits, scratch.VALUES + (len(places) * LANES * bits // 8 if staged else 0))
    words = [*(sources[3:4] if form.sparse else ()), *(sources[-4::2] if form.scale_vector else ())]
    metadata = tuple(_word(b, word, n) for n, word in enumerate(words))
    if len(places) + len(inputs) + len(metadata) != function.arguments:
        raise op.unsupported(f"it takes {function.arguments} registers")
    stages = emit.stages(form, b.program.target)
    keys = tuple(_plain_registers(b, source) for source in sources[:2])
    if stages is None or not all(keys):
        _call(b, function, *places, *inputs, *metadata)
    else:
        _, first, second, _ = form.vector_lengths
        groups = inputs[:first], inputs[first : first + second]
        images = [
            _image(b, stages, index, key, registers)
            for index, (key, registers) in enumerate(zip(keys, groups, strict=True))
        ]
        _call(b, stages.multiply, *places, *images, *inputs[first + second :])
    if staged:
        _write(b, target, places, bits)


def _image(
    b: Builder, stages: emit.TensorStages, index: int, key: tuple[int, ...], registers: Sequence[Value]
) -> Value:
    """The image of A (`index` 0) or B, unpacked here unless it has been before."""
    unpack = stages.unpack[index]
    return b.images.image(b, unpack.symbol, key, stages.bytes[index], lambda place: _call(b, unpack, place, *registers))


def _call(b: Builder, function: emit.TensorFunction, *operands: Value) -> None:
    b.helper(function.symbol, function.ir)
    b.call(function.symbol, *operands)


def _plain_registers(b: Builder, operand: tree.Operand) -> tuple[int, ...]:
    """The places of an operand's registers if it is nothing else."""
    elements = tree.elements_of(operand)
    found = [b.find(e.text) if isinstance(e, tree.Name) else None for e in elements]
    plain = tuple(r.offset for r in found if isinstance(r, Register) and r.vector == 1)
    return plain if len(plain) == len(elements) else ()


def _word(b: Builder, operand: tree.Operand, number: int) -> Value:
    """The place of a register of metadata or scales, or of a word composed of several elements."""
    if isinstance(operand, tree.Vector) and len(operand.elements) > 1:
        place = b.scratch(number * LANES * 4)
        b.store(packed(b, operand, 32), place, 64)
        return place
    return _sources(b, (operand,), 32, number * LANES * 4)[0]


def _selectors(b: Builder, op: Op, form: MatrixForm) -> tuple[int, ScaleSelectors | None]:
    """The sparsity selector, and which bytes and lanes hold the scales."""
    sparsity = _constant(b, op.operands[5], "its sparsity selector") if form.sparse else 0
    if not form.scale_vector:
        return sparsity, None
    chosen = [element for pair in (op.operands[-3], op.operands[-1]) for element in tree.elements_of(pair)]
    if len(chosen) != len(ScaleSelectors._fields):
        raise op.unsupported("its scales have no selectors")
    return sparsity, ScaleSelectors(*(_constant(b, element, "a selector of its scales") for element in chosen))


def _constant(b: Builder, operand: tree.Operand, what: str) -> int:
    found = b.literal(operand)
    if found is None:
        raise b.op.unsupported(f"{what} is not a constant")
    return found


def _move(op: Op) -> MatrixMove:
    try:
        return matrix_move(op.spelling)
    except UnsupportedForm as why:
        raise op.unsupported(str(why)) from why


def _rows(b: Builder, move: MatrixMove, operand: tree.Operand, places: Sequence[Value]) -> None:
    """Call the function of a move for the rows that an address operand names."""
    width = 32 if move.space else 64
    kind, space = WRITE if move.opcode == "stmatrix" else READ, state.SHARED if move.space else state.GENERIC
    addresses, offset = addresses_or_register(b, operand, space, move.row_bytes, width)
    if len(places) != move.registers:
        raise b.op.unsupported(f"it moves {move.registers} registers")
    mask = b.active_mask
    if move.address_lanes < LANES:
        mask = b.apply("and", mask, b.constant("i32", (1 << move.address_lanes) - 1))
    in_memory = move.destination if move.opcode == "stmatrix" else move.source
    payload = move.row_elements * in_memory.bits // 8
    row_bits = 8 * move.row_bytes
    told = (_rows_of(b, move, places),) if kind == WRITE and "racecheck" in b.checks else ()
    b.touch(
        Access(kind, space, addresses, row_bits, offset, address_bits=width, places=told, lanes=mask, payload=payload)
    )
    lanes = LANES if b.program.architecture == _TURING else move.address_lanes
    name = matrices.name_of(move, lanes)
    b.natives[signature(matrices.place_rows).name] = matrices.place_rows
    b.helper(name, matrices.function_of(move, lanes))
    operands = (W, addresses, b.constant("i64", offset), b.active_mask, b.constant("i32", b.op.site))
    b.check(b.call(name, *operands, *places, result="i32"))


def _rows_of(b: Builder, move: MatrixMove, places: Sequence[Value]) -> Value:
    """The rows that are about to be stored, in order: those of equal bytes do not race."""
    rows = b.scratch(scratch.VALUES + move.registers * LANES * 4)
    name = matrices.name_of_rows(move)
    b.helper(name, matrices.function_of_rows(move))
    b.call(name, rows, *places)
    return rows


def _results(b: Builder, operand: tree.Operand, number: int, bits: int) -> tuple[tuple[Value, ...], bool]:
    """The places of results, 32 lanes each; and whether they are in the scratch, from which they must be written."""
    elements = tree.elements_of(operand)
    registers = [b.find(e.text) if isinstance(e, tree.Name) else None for e in elements]
    plain = [r for r in registers if isinstance(r, Register) and r.type.bits == bits and r.vector == 1]
    if b.active is None and len(plain) == number == len({r.offset for r in plain}) == len(elements):
        return tuple(b.value_place(r) for r in plain), False
    return tuple(b.scratch(scratch.VALUES + n * LANES * bits // 8) for n in range(number)), True


def _write(b: Builder, operand: tree.Operand, places: Sequence[Value], bits: int) -> None:
    b.write_all(operand, tuple(b.load(vector(f"i{bits}"), place, 64) for place in places))


def _sources(b: Builder, operands: Sequence[tree.Operand], bits: int, at: int) -> tuple[Value, ...]:
    """The places of operands' registers, 32 lanes each; other operands are stored in the scratch."""
    places: list[Value] = []
    for operand in operands:
        for element in tree.elements_of(operand):
            found = b.find(element.text) if isinstance(element, tree.Name) else None
            if isinstance(found, Register) and found.type.bits == bits:
                places += [b.value_place(found, n) for n in range(found.vector)]
                continue
            if at + LANES * bits // 8 > state.SCRATCH_BYTES:
                raise b.op.unsupported("too many of its operands are not registers of their own")
            place = b.scratch(at)
            b.store(b.read(element, f"b{bits}"), place, 64)
            places.append(place)
            at += LANES * bits // 8
    return tuple(places)
