"""`mma` on NumPy arrays of registers, many warps in one call."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxloom.diagnostics import UnsupportedForm, UsageError, must_be
from ptxloom.isa.limits import LANES
from ptxloom.isa.products import MatrixForm, matrix_form
from ptxloom.isa.target import Target
from ptxloom.machine.native.ir import Value
from ptxloom.machine.native.jit import helper_address
from ptxloom.machine.tensor.builder import TensorBuilder
from ptxloom.machine.tensor.emit import TensorFunction, function
from ptxloom.machine.tensor.scales import ScaleSelectors

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def mma(
    instruction: str | MatrixForm,
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[Any],
    *,
    metadata: NDArray[Any] | None = None,
    selector: int = 0,
    scales: tuple[NDArray[Any], NDArray[Any]] | None = None,
    scale_selectors: tuple[int, int, int, int] = (0, 0, 0, 0),
    target: Target | str = "sm_90",
) -> NDArray[Any]:
    """Multiply and accumulate matrices in registers of warps, bit for bit as on the hardware.

    Realises PTX ISA 9.7.14.4 (`wmma.mma`), 9.7.14.5 (`mma`) and 9.7.14.6 (`mma.sp`); `ptxloom.fragment` has the place
    of each element, `machine.tensor.recipe` the rules of sums and their evidence.

    Args:
        instruction: The spelling, full or from the shape on: `m16n8k16.row.col.f32.f16.f16.f32`.
        a: `(..., 32, registers)`: the registers of A of each warp and lane; 32 bits each, 64 for `.f64`, of any dtype.
        b: The registers of B, likewise.
        c: The registers of C.
        metadata: `(..., 32)`: for sparse forms, the register with the places of the elements of A.
        selector: For sparse forms, the lanes whose metadata count.
        scales: For block-scaled forms, the registers with the scales of A and of B, each `(..., 32)`.
        scale_selectors: For block-scaled forms, byte and thread of A's scales, then of B's.
        target: `sm_75` to `sm_121`: the architecture of the arithmetic. Only `sm_90` has been checked against silicon
            by us.

    Returns:
        The registers of D, `(..., 32, registers)`, `uint32` (`uint64` for `.f64`).

    Raises:
        UnsupportedForm: There is no such form, or not on this architecture.
        UsageError: An array has the wrong shape or element size, or there is no such selector or architecture.

    Example:
        >>> a, b, c = np.ones((32, 4), "f4"), np.ones((32, 2), "f4"), np.zeros((32, 4), "f4")
        >>> d = mma("m16n8k8.row.col.f32.tf32.tf32.f32", a, b, c)
        >>> float(d.view("f4")[0, 0])
        8.0
    """
    form = instruction if isinstance(instruction, MatrixForm) else matrix_form(instruction)
    if form.opcode == "wgmma":
        raise UnsupportedForm(f"`{form.spelling}` takes matrices from shared memory; run it in a kernel (`pl.kernel`)")
    if (metadata is None) is bool(form.sparse):
        raise UsageError("metadata", metadata, "given for the sparse forms, and only for them")
    if (scales is None) is bool(form.scale_vector):
        raise UsageError("scales", scales, "given for the block-scaled forms, and only for them")
    run, (results, *lengths) = _batch(form, str(Target.of(target)), selector, ScaleSelectors(*scale_selectors))
    kind = np.uint64 if form.register_bits == 64 else np.uint32
    for name, array in zip("abc", (a, b, c), strict=True):
        must_be(np.ndarray, name, array, "a NumPy array of registers, (..., 32, registers)")
    batch = np.broadcast_shapes(*(array.shape[:-2] for array in (a, b, c)))
    inputs = [
        _registers(name, array, batch, number, kind)
        for name, array, number in zip("abc", (a, b, c), lengths, strict=True)
    ]
    if metadata is not None:
        inputs.append(_registers("metadata", metadata[..., None], batch, 1, np.uint32))
    inputs += [_registers("scales", array[..., None], batch, 1, np.uint32) for array in scales or ()]
    d = np.empty((*batch, LANES, results), kind)
    warps = d.size // (LANES * results)
    if warps:
        run(d.ctypes.data, *(array.ctypes.data for array in inputs), warps)
    return d


def _registers(name: str, array: NDArray[Any], batch: tuple[int, ...], number: int, kind: Any) -> NDArray[Any]:
    size = np.dtype(kind).itemsize
    if array.shape[-2:] != (LANES, number) or array.dtype.itemsize != size:
        legal = f"an array (..., 32, {number}) of {8 * size}-bit elements"
        raise UsageError(name, f"shape {array.shape} of {array.dtype}", legal)
    whole = (*batch, LANES, number)
    return np.ascontiguousarray(array if array.shape == whole else np.broadcast_to(array, whole))


@cache
def _batch(
    form: MatrixForm, target: str, selector: int, scales: ScaleSelectors
) -> tuple[Callable[..., None], tuple[int, int, int, int]]:
    """The compiled loop over warps, which holds no GIL, and the registers of D, A, B and C in one lane."""
    lengths = form.vector_lengths
    single = function(form, target, selector, scales)
    counts = (*lengths, *((1,) if form.sparse else ()), *((1, 1) if form.scale_vector else ()))
    symbol = single.symbol.replace("tensor.", "tensor.batch.", 1)
    # a separate function: kernels load one of the same name, too
    head = f'void @"{single.symbol}"('
    inner = single.ir.replace(head, f"internal {head}", 1)
    address = helper_address(symbol, lambda: inner + _driver(symbol, single, counts, form.register_bits), light=False)
    arguments = [ctypes.c_void_p] * len(counts) + [ctypes.c_int64]
    return ctypes.CFUNCTYPE(None, *arguments)(address), lengths


def _driver(symbol: str, single: TensorFunction, counts: tuple[int, ...], bits: int) -> str:
    """A function over arrays `(warps, 32, registers)`: each warp's registers are made contiguous for the call."""
    arrays = tuple(Value("ptr", f"%registers{index}") for index in range(len(counts)))
    warps = Value("i64", "%warps")
    b = TensorBuilder(f'"{symbol}"', (*arrays, warps))
    kind = f"i{bits}"
    stages = [[b.array(LANES * bits // 8) for _ in range(count)] for count in counts]
    with b.loop(warps) as warp:
        for array, stage in zip(arrays[1:], stages[1:], strict=True):
            source = b.at(array, warp, LANES * len(stage) * bits // 8)
            with b.loop(LANES) as lane:
                for index, register in enumerate(stage):
                    value = b.load(kind, b.at(source, lane, len(stage) * bits // 8, index * bits // 8), bits // 8)
                    b.store(value, b.at(register, lane, bits // 8), bits // 8)
        operands = ", ".join(f"ptr {register.text}" for stage in stages for register in stage)
        b.do(f'call void @"{single.symbol}"({operands}) noinline')  # inlined into the loops it takes a tenth longer
        target = b.at(arrays[0], warp, LANES * counts[0] * bits // 8)
        with b.loop(LANES) as lane:
            for index, register in enumerate(stages[0]):
                value = b.load(kind, b.at(register, lane, bits // 8), bits // 8)
                b.store(value, b.at(target, lane, counts[0] * bits // 8, index * bits // 8), bits // 8)
    return b.text() + "\n"
