"""A whole `tcgen05.mma` of a CTA as an LLVM function of a `TensorJob`: tile after tile, exact in every bit.

A tile is the result of an `mma` of 16 rows and eight columns, with `tcgen05`'s own arithmetic (`recipe`). The tiles of
A and B are unpacked once. C and D are read and written where they are: 16 lanes of eight columns of tensor memory.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.isa.types import element_type
from ptxloom.machine.native import language
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.runtime.tensor_cores import model
from ptxloom.machine.runtime.tensor_cores.model import IMAGE_BYTES, REGISTER_BYTES, TENSOR_LANES
from ptxloom.machine.tensor.builder import TensorBuilder
from ptxloom.machine.tensor.convert import decode, float_to_half
from ptxloom.machine.tensor.emit import TensorFunction, module, rule_of
from ptxloom.machine.tensor.exact import integer_columns
from ptxloom.machine.tensor.exponents import Exponents
from ptxloom.machine.tensor.factors import COLUMNS, Factors, SparseFactors
from ptxloom.machine.tensor.fused import FusedSum
from ptxloom.machine.tensor.recipe import Accumulation, Recipe, recipe
from ptxloom.machine.tensor.registers import ROWS
from ptxloom.machine.tensor.scales import Scales, ScaleSelectors
from ptxloom.machine.tensor.wide import WideSum

if TYPE_CHECKING:
    from ptxloom.isa.products import MatrixForm

_M: Final = 16
_JOB: Final = Value("ptr", "%job")
_FIELDS: Final = language.record(model.TensorJob).offsets
_PLAN: Final = language.record(model.TensorPlan).offsets
_WORDS: Final = language.record(model.TensorMemory).offsets["words"]
_COLUMN_BYTES: Final = 4 * TENSOR_LANES
_ORDER: Final = tuple(8 * half + row for half in range(2) for row in ROWS)
_BACK: Final = tuple(_ORDER.index(row) for row in range(_M))


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of product.

    Attributes:
        form: The form of one tile, as the `mma` of that shape.
        rule: Its recipe.
        across: The bytes of an element of A and of B if lines are contiguous; 0 if k is.
    """

    form: MatrixForm
    rule: Recipe
    across: tuple[int, int]

    @property
    def has_images(self) -> bool:
        """Whether tiles are unpacked once: with metadata, tiles of B depend on those of A."""
        return not self.form.sparse

    def raw_bytes(self, operand: str) -> int:
        """The bytes of a tile before unpacking."""
        return self.form.registers(operand) * REGISTER_BYTES


@cache
def function(form: MatrixForm, across: tuple[int, int] = (0, 0), target: str = "sm_100") -> TensorFunction:
    """The function for products of a kind.

    Args:
        form: The form of one tile: `tcgen05`, m 16, n 8.
        across: The bytes of an element of A and of B if lines are contiguous in shared memory; else 0.
        target: The architecture of the arithmetic.
    """
    name = ".".join(
        (form.a_type, form.b_type, form.d_type, form.kind, form.scale_vector, form.scale_type, form.sparse,
         "sat" if form.satfinite else "", *map(str, across)),
    )  # fmt: skip
    symbol = f"tensor.memory.k{form.k}.{name}.{target}"
    kind = _Kind(replace(form, opcode="mma"), recipe(form, target), across)
    parts = [_unpack(kind, operand) for operand in "ab"] if kind.has_images else []
    parts += [_multiply(kind), _main(kind, f'"{symbol}"')]
    return TensorFunction(symbol, module(tuple(parts)), 1)


def _main(kind: _Kind, symbol: str) -> TensorBuilder:
    """All tiles."""
    b = TensorBuilder(symbol, (_JOB,))
    b.result = "i32"
    plan = b.load("ptr", b.offset(_JOB, _FIELDS["plan"]), 8)
    counts = [b.resize(b.load("i32", b.offset(plan, _PLAN[name]), 4), 64) for name in ("a_tiles", "b_tiles")]
    if kind.has_images:
        for operand, count in zip("ab", counts, strict=True):
            with b.loop(count) as tile:
                raw = b.at(_JOB, tile, kind.raw_bytes(operand), _FIELDS[operand])
                image = b.at(_JOB, tile, IMAGE_BYTES, _FIELDS[f"{operand}_image"])
                b.do(f'call void @"tensor.unpack.{operand}"({image}, {raw})')
    memory = b.load("ptr", b.offset(_JOB, _FIELDS["memory"]), 8)
    base = b.resize(b.load("i32", b.offset(_JOB, _FIELDS["base"]), 4), 64)
    places = b.load("ptr", b.offset(plan, _PLAN["places"]), 8)
    with b.loop(counts[1]) as right, b.loop(counts[0]) as left:
        number = b.apply("add", b.apply("mul", left, counts[1]), right)
        place = b.apply("add", base, b.resize(b.load("i32", b.at(places, number, 4), 4), 64))
        d = b.at(memory, place, 4, _WORDS)
        b.do(f'call void @"tensor.tile"({_JOB}, {d}, {left}, {right}) noinline')
    return b


def _unpack(kind: _Kind, operand: str) -> TensorBuilder:
    """From a tile to its image."""
    image, raw = Value("ptr", "%image"), Value("ptr", "%raw")
    b = TensorBuilder(f'"tensor.unpack.{operand}"', (image, raw))
    b.linkage = "internal"
    factors = Factors(b, kind.form, _steps(kind), (image, image))
    registers = _registers(b, kind, operand, raw)
    if operand == "a":
        factors.unpack_a(registers)
    else:
        factors.unpack_b(registers)
    if _is_surveyed(kind):
        exponents = Exponents(b, factors, kind.rule.least, ranged=True)
        if operand == "a":
            exponents.survey_a()
        else:
            exponents.survey_b()
    return b


def _steps(kind: _Kind) -> tuple[tuple[int, ...], ...]:
    return kind.rule.steps or (tuple(range(kind.form.stored_k)),)


def _is_surveyed(kind: _Kind) -> bool:
    return kind.rule.sum is Accumulation.FUSED and not kind.form.scale_vector and not kind.form.sparse


def _registers(b: TensorBuilder, kind: _Kind, operand: str, raw: Value) -> tuple[Value, ...]:
    """The registers of a tile: unchanged, or built from its columns."""
    count = kind.form.registers(operand)
    across = kind.across[0 if operand == "a" else 1]
    if not across:
        return tuple(b.offset(raw, number * REGISTER_BYTES) for number in range(count))
    room = b.array(count * REGISTER_BYTES)
    rows = _M if operand == "a" else COLUMNS
    halves = rows // 8
    depth = 16 // across  # columns with a part in a register
    scalar = f"i{8 * across}"
    for part in range(count // halves):
        block = b.load(vector(scalar, depth * rows), b.offset(raw, part * depth * rows * across), 4)
        for half in range(halves):
            picks = [k * rows + 8 * half + row for row in range(8) for k in range(depth)]
            place = b.offset(room, (part * halves + half) * REGISTER_BYTES)
            b.store(b.shuffle(block, picks), place, 64)
    return tuple(b.offset(room, number * REGISTER_BYTES) for number in range(count))


def _multiply(kind: _Kind) -> TensorBuilder:
    """One tile of D: 16 lanes of eight columns."""
    d, left, right = Value("ptr", "%d"), Value("i64", "%left"), Value("i64", "%right")
    b = TensorBuilder('"tensor.tile"', (_JOB, d, left, right))
    b.linkage = "internal"
    factors = _factors(b, kind, left, right)
    addends, results = _addends(b, kind, d), b.array(COLUMNS * _M * 4)
    b.settle(addends)
    window = factors.window(Value("i64", "0"))
    if kind.rule.sum is Accumulation.INTEGER:
        integer_columns(b, kind.form, window, addends, results)
    elif kind.form.scale_vector:
        rows = b.at(_JOB, left, 8 * _M, _FIELDS["a_scales"])
        columns = b.at(_JOB, right, 8 * COLUMNS, _FIELDS["b_scales"])
        scales = _TensorScales(b, kind.form, (rows, columns), ScaleSelectors())
        WideSum(b, rule_of(kind.rule), window, scales).add(addends, results)
    else:
        exponents = Exponents(b, factors, kind.rule.least, ranged=True) if _is_surveyed(kind) else None
        FusedSum(b, rule_of(kind.rule), window, exponents).add(addends, results)
    _store(b, kind, results, d)
    return b


def _factors(b: TensorBuilder, kind: _Kind, left: Value, right: Value) -> Factors:
    """The images of two tiles; for a sparse product, factors from their registers and the metadata."""
    if kind.has_images:
        images = tuple(
            b.at(_JOB, tile, IMAGE_BYTES, _FIELDS[f"{operand}_image"])
            for operand, tile in zip("ab", (left, right), strict=True)
        )
        return Factors(b, kind.form, _steps(kind), (images[0], images[1]))
    registers = tuple(
        _registers(b, kind, operand, b.at(_JOB, tile, kind.raw_bytes(operand), _FIELDS[operand]))
        for operand, tile in zip("ab", (left, right), strict=True)
    )
    metadata = b.at(_JOB, left, 8 * _M, _FIELDS["metadata"])
    return _TensorSparse(b, kind.form, (registers[0], registers[1]), _steps(kind), (metadata, 0))


class _TensorSparse(SparseFactors):
    """With the metadata of a row in a 64-bit word, four bits per chunk."""

    def _choices(self, metadata: tuple[Value, int]) -> Value:
        b = self.b
        words = b.shuffle(b.load(vector("i64", _M), metadata[0], 8), _ORDER)
        count = self.form.k // self.form.chunk
        choices = b.array(count * _M * 4)
        for chunk in range(count):
            b.store(b.resize(b.shift_right(words, 4 * chunk), 32), b.offset(choices, chunk * _M * 4), 64)
        return choices


class _TensorScales(Scales):
    """With the scales of a row, and of a column, in a 64-bit word."""

    def _words(self, registers: tuple[Value, Value], selectors: ScaleSelectors) -> tuple[Value, Value]:
        del selectors
        b = self.b
        rows = b.shuffle(b.load(vector("i64", _M), registers[0], 8), _ORDER)
        return rows, b.load(vector("i64", COLUMNS), registers[1], 8)


def _addends(b: TensorBuilder, kind: _Kind, d: Value) -> Value:
    """C as columns, scaled; zeros if it is not added."""
    array = b.array(COLUMNS * _M * 4)
    wanted = b.compare("ne", b.load("i32", b.offset(_JOB, _FIELDS["adds"]), 4), Value("i32", "0"))
    power = b.bitcast(b.load("i32", b.offset(_JOB, _FIELDS["power"]), 4), "float")
    element = kind.form.d_type
    for n in range(COLUMNS):
        word = b.shuffle(b.load(vector("i32", _M), b.offset(d, n * _COLUMN_BYTES), 4), _ORDER)
        word = b.select(b.splat(wanted, _M), word, b.number(_M, "i32", 0))
        value = word
        if element != "s32":
            value = decode(b, word, 0, element)
            if element_type(kind.form.a_type).packed_bits > 8:  # kinds whose D can be scaled
                value = b.apply("fmul", value, b.splat(power, _M))
        b.store(value, b.offset(array, n * _M * 4), 64)
    return array


def _store(b: TensorBuilder, kind: _Kind, results: Value, d: Value) -> None:
    """Columns to D; a column of tensor memory has one half, in its low bits."""
    for n in range(COLUMNS):
        word = b.load(vector("i32", _M), b.offset(results, n * _M * 4), 64)
        if kind.form.d_type == "f16":
            word = float_to_half(b, b.float_of(word))
        b.store(b.shuffle(word, _BACK), b.offset(d, n * _COLUMN_BYTES), 4)
