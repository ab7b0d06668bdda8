"""One form on one architecture as an LLVM function."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.fragments.wmma import tiling
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.tensor.accumulators import load_columns, store_columns
from ptxloom.machine.tensor.builder import TensorBuilder
from ptxloom.machine.tensor.convert import canonical, float_to_half, half_to_float
from ptxloom.machine.tensor.exact import bit_sum, double_sum, integer_sum
from ptxloom.machine.tensor.exponents import Exponents
from ptxloom.machine.tensor.factors import COLUMNS, Factors, SparseFactors
from ptxloom.machine.tensor.fused import FusedSum
from ptxloom.machine.tensor.quads import ROWS, QuadFactors, chain_sum, load_quads, store_quads
from ptxloom.machine.tensor.recipe import Accumulation, Recipe, recipe
from ptxloom.machine.tensor.scales import Scales, ScaleSelectors
from ptxloom.machine.tensor.wgmma import FP8, tile
from ptxloom.machine.tensor.wide import Rule, WideSum

if TYPE_CHECKING:
    from ptxloom.isa.products import MatrixForm


@dataclass(frozen=True, slots=True)
class TensorFunction:
    """A function that computes one form for one warp.

    Its arguments are pointers, one per register, each to the 32 contiguous lanes of that register (`uint32`, or 64
    bits wide for `.f64`): first those of D, then A, B and C, then the metadata if the form is sparse. D may be any
    of the others. It returns nothing, reads no other memory and preserves the rounding mode.

    Attributes:
        symbol: Its name.
        ir: A module that defines it; nothing else in it is visible from outside.
        arguments: The number of pointers that it takes.
    """

    symbol: str
    ir: str
    arguments: int


@cache
def function(
    form: MatrixForm, target: str = "sm_90", selector: int = 0, scales: ScaleSelectors | None = None
) -> TensorFunction:
    """The function for a form.

    Args:
        form: Which `mma`, `mma.sp` or `wmma.mma`; for a `wgmma`, a warp's work on eight columns (`wgmma.tile`).
        target: `sm_75` to `sm_121`: the architecture of the arithmetic.
        selector: The sparsity selector of sparse forms.
        scales: The selectors of block-scaled forms' scales.

    Raises:
        UnsupportedForm: The architecture does not have the form.
        UsageError: There is no such architecture or selector.
    """
    rule = recipe(form, target)
    canonical_form = same_arithmetic(form)
    if form != canonical_form:
        return function(canonical_form, target, selector, scales)
    if not 0 <= selector < form.selectors:
        raise UsageError("selector", selector, f"0 to {form.selectors - 1} for `{form.spelling}`")
    chosen = scales or ScaleSelectors()
    if not chosen.fit(form):
        raise UsageError("scale selectors", tuple(chosen), f"those that the manual lists for `{form.spelling}`")
    selected = f"{selector}.{'.'.join(map(str, chosen))}" if form.scale_vector else str(selector)
    symbol = f"tensor.{form.spelling.replace('::', '.')}.{target}.{selected}"
    if form.opcode == "wmma":
        return _wmma(form, rule, f'"{symbol}"')
    b = _function(f'"{symbol}"', tile(form), rule, (selector, chosen))
    return TensorFunction(symbol, module((b,)), len(b.arguments))


@dataclass(frozen=True, slots=True)
class TensorStages:
    """`TensorFunction` in three parts, so that a multiplicand used several times is unpacked once.

    Attributes:
        unpack: By operand, a and b: a function from the operand's registers to its image, the first argument.
        bytes: The size of the images of a and b, which must be aligned to 64.
        multiply: Takes the registers of D, the images of A and B, and the registers of C.
    """

    unpack: tuple[TensorFunction, TensorFunction]
    bytes: tuple[int, int]
    multiply: TensorFunction


@cache
def stages(form: MatrixForm, target: str = "sm_90") -> TensorStages | None:
    """The parts of the function for a form; None if it does not consist of parts.

    Raises:
        UnsupportedForm: The architecture does not have the form.
        UsageError: There is no such architecture.
    """
    rule = recipe(form, target)
    if (
        form.opcode == "wmma"
        or form.sparse
        or form.scale_vector
        or form.quad_pairs
        or rule.sum is not Accumulation.FUSED
    ):
        return None
    form = same_arithmetic(form)
    symbol = f"{form.spelling.replace('::', '.')}.{target}"
    form = tile(form)
    unpack = tuple(_unpack(form, rule, operand, f"tensor.{operand}.{symbol}") for operand in "ab")
    d, _, _, c = (_pointers(name, number) for name, number in zip("dabc", form.vector_lengths, strict=True))
    images = (Value("ptr", "%a"), Value("ptr", "%b"))
    b = TensorBuilder(f'"tensor.multiply.{symbol}"', (*d, *images, *c))
    factors = Factors(b, form, rule.steps, images)
    _fused(b, (form, rule), (factors, Exponents(b, factors, rule.least, ranged=True)), c, d)
    multiply = TensorFunction(f"tensor.multiply.{symbol}", module((b,)), len(b.arguments))
    return TensorStages((unpack[0], unpack[1]), (factors.a_bytes, factors.b_bytes), multiply)


def _unpack(form: MatrixForm, rule: Recipe, operand: str, symbol: str) -> TensorFunction:
    """From registers to an image."""
    registers = _pointers("r", form.vector_lengths[1 if operand == "a" else 2])
    image = Value("ptr", "%image")
    b = TensorBuilder(f'"{symbol}"', (image, *registers))
    factors = Factors(b, form, rule.steps, (image, image))
    exponents = Exponents(b, factors, rule.least, ranged=True)
    if operand == "a":
        factors.unpack_a(registers)
        exponents.survey_a()
    else:
        factors.unpack_b(registers)
        exponents.survey_b()
    return TensorFunction(symbol, module((b,)), len(b.arguments))


def same_arithmetic(form: MatrixForm) -> MatrixForm:
    """The representative of all forms with the same function.

    A `wmma`'s layouts matter only to its loads; ordered metadata is metadata; `.rn` is the default.
    """
    if form.opcode == "wmma":
        form = replace(form, a_layout="row", b_layout="col")
    if form.sparse:
        form = replace(form, sparse="sp")
    if form.opcode == "wgmma":
        return replace(form, n=COLUMNS) if form.a_type in FP8 else tile(form)
    return replace(form, rounding="") if form.rounding == "rn" else form


def module(functions: tuple[TensorBuilder, ...]) -> str:
    """Functions as the text of one module."""
    declarations = dict(item for b in functions for item in b.declarations.items())
    return "\n".join((*declarations.values(), *(b.text() for b in functions), ""))


def _pointers(name: str, number: int) -> tuple[Value, ...]:
    return tuple(Value("ptr", f"%{name}{index}") for index in range(number))


def _function(
    symbol: str, form: MatrixForm, rule: Recipe, selectors: tuple[int, ScaleSelectors] = (0, ScaleSelectors())
) -> TensorBuilder:
    d, a, second, c = (_pointers(name, number) for name, number in zip("dabc", form.vector_lengths, strict=True))
    metadata = _pointers("e", 1 if form.sparse else 0)
    scales = _pointers("s", 2 if form.scale_vector else 0)
    b = TensorBuilder(symbol, (*d, *a, *second, *c, *metadata, *scales))
    if form.quad_pairs:
        _quads(b, form, rule, (d, a, second, c))
    elif rule.sum is Accumulation.DOUBLE:
        double_sum(b, form, (d, a, second, c))
    elif rule.sum is Accumulation.BITS:
        bit_sum(b, form, (d, a, second, c))
    else:
        factors = _factors(b, form, rule, (a, second), (metadata, selectors[0]))
        if scales:
            _scaled(b, (form, rule), factors, Scales(b, form, (scales[0], scales[1]), selectors[1]), (c, d))
        else:
            _sums(b, form, rule, factors, (c, d))
    return b


def _factors(
    b: TensorBuilder,
    form: MatrixForm,
    rule: Recipe,
    registers: tuple[tuple[Value, ...], tuple[Value, ...]],
    sparsity: tuple[tuple[Value, ...], int],
) -> Factors:
    """A and B, unpacked."""
    metadata, selector = sparsity
    steps = rule.steps or (tuple(range(form.stored_k)),)
    if metadata:
        return SparseFactors(b, form, registers, steps, (metadata[0], selector))
    factors = Factors(b, form, steps)
    factors.unpack_a(registers[0])
    factors.unpack_b(registers[1])
    return factors


def _sums(
    b: TensorBuilder,
    form: MatrixForm,
    rule: Recipe,
    factors: Factors,
    accumulators: tuple[tuple[Value, ...], tuple[Value, ...]],
) -> None:
    c, d = accumulators
    if rule.sum is Accumulation.INTEGER:
        integer_sum(b, form, factors.window(Value("i64", "0")), c, d)
        return
    exponents = None if form.sparse else Exponents(b, factors, rule.least)
    if exponents:
        exponents.scan()
    _fused(b, (form, rule), (factors, exponents), c, d)


def _scaled(
    b: TensorBuilder,
    kind: tuple[MatrixForm, Recipe],
    factors: Factors,
    scales: Scales,
    accumulators: tuple[tuple[Value, ...], tuple[Value, ...]],
) -> None:
    """C to D with block scales."""
    c, d = accumulators
    addends = load_columns(b, kind[0], c)
    b.settle(addends)
    result = b.array(COLUMNS * factors.rows * 4)
    WideSum(b, rule_of(kind[1]), factors.window(Value("i64", "0")), scales).add(addends, result)
    store_columns(b, kind[0], result, d)


def rule_of(recipe_: Recipe) -> Rule:
    """The part of a recipe that a fused sum needs."""
    return Rule(recipe_.fraction_bits, recipe_.wide, recipe_.least, recipe_.group, recipe_.floor_depth)


def _fused(
    b: TensorBuilder,
    kind: tuple[MatrixForm, Recipe],
    factors: tuple[Factors, Exponents | None],
    c: tuple[Value, ...],
    d: tuple[Value, ...],
) -> None:
    """C to D through all steps, one on top of the other."""
    form = kind[0]
    addends = load_columns(b, form, c)
    b.settle(addends)
    result = b.array(COLUMNS * factors[0].rows * 4)
    _steps(b, kind[1], factors, (addends, result))
    store_columns(b, form, result, d)


def _steps(
    b: TensorBuilder,
    recipe_: Recipe,
    multiplicands: tuple[Factors, Exponents | None],
    arrays: tuple[Value, Value],
) -> None:
    factors, exponents = multiplicands
    addends, result = arrays
    rule = rule_of(recipe_)
    if len(recipe_.steps) == 1:
        first = Value("i64", "0")
        FusedSum(b, rule, factors.window(first), exponents).add(addends, result)
        return
    if exponents is None or not rule.wide or recipe_.from_zero:
        _one_by_one(b, (recipe_, rule), multiplicands, arrays)
        return
    if not exponents.ranged:
        _side_by_side(b, (recipe_, rule), (factors, exponents), arrays)
        return
    # if nothing is truncated, the order of additions does not matter
    with b.when(FusedSum(b, rule, factors.whole(), exponents).try_exact(addends, result)):
        exponents.complete()
        _side_by_side(b, (recipe_, rule), (factors, exponents), arrays)


def _side_by_side(
    b: TensorBuilder,
    rules: tuple[Recipe, Rule],
    multiplicands: tuple[Factors, Exponents],
    arrays: tuple[Value, Value],
) -> None:
    """All steps of a column before the next column, if the fast way suffices; else one step after the other."""
    factors, exponents = multiplicands
    numbers = [Value("i64", str(step)) for step in range(len(rules[0].steps))]
    steps = [(factors.window(number), number) for number in numbers]
    with b.when(FusedSum(b, rules[1], steps[0][0], exponents).narrow(steps, exponents, *arrays)):
        _one_by_one(b, rules, (factors, None), arrays)


def _one_by_one(
    b: TensorBuilder,
    rules: tuple[Recipe, Rule],
    multiplicands: tuple[Factors, Exponents | None],
    arrays: tuple[Value, Value],
) -> None:
    """One step after the other, each on the result of the one before."""
    recipe_, rule = rules
    factors, exponents = multiplicands
    addends, result = arrays
    size = COLUMNS * factors.rows * 4
    start = addends
    if recipe_.from_zero:
        start = b.array(size)
        _clear(b, start, factors.rows)
    other = b.array(size)  # steps alternate between it and the result, and end in the result
    last = len(recipe_.steps) - 1
    with b.loop(len(recipe_.steps)) as step:
        odd = b.apply("and", b.apply("xor", step, Value("i64", str(last))), Value("i64", "1"))
        to_other = b.compare("ne", odd, Value("i64", "0"))
        source = b.select(to_other, result, other)
        source = b.select(b.compare("eq", step, Value("i64", "0")), start, source)
        seen = exponents.at_step(step) if exponents else None
        FusedSum(b, rule, factors.window(step), seen).add(source, b.select(to_other, other, result))
    if recipe_.from_zero:
        _add_last(b, recipe_, (addends, result), factors.rows)


def _clear(b: TensorBuilder, target: Value, rows: int) -> None:
    """Zeros to all columns."""
    with b.loop(COLUMNS) as n:
        b.store(b.number(rows, "float", 0.0), b.at(target, n, rows * 4), 4 * rows)


def _add_last(b: TensorBuilder, recipe_: Recipe, arrays: tuple[Value, Value], rows: int) -> None:
    """Add C to the sum of the products, in IEEE arithmetic."""
    addends, sums = arrays
    with b.loop(COLUMNS) as n:
        place = b.at(sums, n, rows * 4)
        kind = vector("float", rows)
        total = b.apply("fadd", b.load(kind, b.at(addends, n, rows * 4), 4 * rows), b.load(kind, place, 4 * rows))
        if not recipe_.wide:
            # 24 bits are more than twice 11 and two, so that the second rounding is harmless.
            total = half_to_float(b, float_to_half(b, total))
        b.store(canonical(b, total), place, 4 * rows)


def _quads(b: TensorBuilder, form: MatrixForm, recipe_: Recipe, operands: tuple[tuple[Value, ...], ...]) -> None:
    d, a, second, c = operands
    factors = QuadFactors(b, form, a, second)
    addends = load_quads(b, form, c)
    results = b.array(COLUMNS * ROWS * 4)
    if recipe_.sum is Accumulation.FUSED:
        FusedSum(b, rule_of(recipe_), factors, None).add(addends, results)
    else:
        chain_sum(b, factors, (addends, results), pairs=recipe_.sum is Accumulation.PAIRS)
    store_quads(b, form, results, d)


def _wmma(form: MatrixForm, rule: Recipe, symbol: str) -> TensorFunction:
    plan = tiling(form)
    inner = _function('"tensor.tile"', plan.base, rule)
    inner.linkage = "internal"
    d, a, second, c = (_pointers(name, number) for name, number in zip("dabc", form.vector_lengths, strict=True))
    outer = TensorBuilder(symbol, (*d, *a, *second, *c))
    if plan.exchanged:
        a, second = second, a
    # D may be any other operand: every tile reads its inputs before the first result is written.
    results = outer.array(len(d) * 32 * form.register_bits // 8)
    staged = tuple(outer.offset(results, index * 32 * form.register_bits // 8) for index in range(len(d)))
    for starts in plan.tiles:
        groups = zip((staged, a, second, c), starts, plan.base.vector_lengths, strict=True)
        operands = [pointer for group, start, number in groups for pointer in group[start : start + number]]
        outer.do(f"call void @{inner.symbol}({', '.join(map(str, operands))})")
    for place, value in zip(d, staged, strict=True):
        outer.store(outer.load(vector(f"i{form.register_bits}", 32), value, 4), place, 4)
    return TensorFunction(symbol.strip('"'), module((inner, outer)), len(outer.arguments))
