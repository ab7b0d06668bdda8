"""What `pl.mma` and `emit.function` accept, refuse and promise."""

from __future__ import annotations

import ctypes

import ml_dtypes
import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.fragments import fragment
from ptxloom.isa.products import matrix_form
from ptxloom.isa.target import RENAMED, targets
from ptxloom.machine.native.jit import helper_address
from ptxloom.machine.tensor import batch, convert, factors
from ptxloom.machine.tensor.emit import function
from ptxloom.machine.tensor.recipe import ARCHITECTURES, known_forms, recipe
from recorded.mma.mma_cases import Inputs, inputs

F16 = "m16n8k16.row.col.f32.f16.f16.f32"


def ones() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a, b = np.full((32, 8), 1, np.float16).view(np.uint32), np.full((32, 4), 1, np.float16).view(np.uint32)
    return a, b, np.zeros((32, 4), np.uint32)


def test_a_product_of_ones_counts() -> None:
    d = pl.mma(F16, *ones())
    assert (d.view(np.float32) == 16).all()


def test_leading_axes_are_warps_and_broadcast() -> None:
    a, b, c = ones()
    many = np.stack([c, np.full((32, 4), 2, np.float32).view(np.uint32)])[:, None]
    d = pl.mma(F16, np.broadcast_to(a, (3, 32, 4)), b, many).view(np.float32)
    assert d.shape == (2, 3, 32, 4)
    assert (d[0] == 16).all()
    assert (d[1] == 18).all()


def test_no_warps_at_all() -> None:
    a, b, c = ones()
    assert pl.mma(F16, np.empty((0, 32, 4), np.uint32), b, c).shape == (0, 32, 4)
    del a


def test_float_arrays_are_taken_for_their_bits() -> None:
    a, b = np.ones((32, 4), np.float32), np.ones((32, 2), np.float32)
    d = pl.mma("m16n8k8.row.col.f32.tf32.tf32.f32", a, b, np.zeros((32, 4), np.float32))
    assert (d.view(np.float32) == 8).all()


def test_f64_registers_have_64_bits() -> None:
    one = np.ones((32, 1))
    d = pl.mma("m8n8k4.row.col.f64.f64.f64.f64", one, one, np.full((32, 2), 0.5))
    assert (d.view(np.float64) == 4.5).all()


def test_fp8_multiplies() -> None:
    a = np.full((32, 16), 2, ml_dtypes.float8_e4m3fn).view(np.uint32)
    b = np.full((32, 8), 0.5, ml_dtypes.float8_e5m2).view(np.uint32)
    d = pl.mma("m16n8k32.row.col.f32.e4m3.e5m2.f32", a, b, np.ones((32, 4), np.float32))
    assert (d.view(np.float32) == 33).all()


@pytest.mark.parametrize("operation", ["and", "xor"])
@pytest.mark.parametrize("shape", ["m8n8k128", "m16n8k128", "m16n8k256"])
def test_products_of_bits_are_counted(shape: str, operation: str) -> None:
    spelling = f"{shape}.row.col.s32.b1.b1.s32.{operation}.popc"
    rng = np.random.default_rng(3)
    matrices: dict[str, np.ndarray] = {}
    registers: dict[str, np.ndarray] = {}
    for name in "abc":
        held = fragment(f"mma.sync.aligned.{spelling}", name)
        most = 1000 if name == "c" else 2
        matrices[name] = rng.integers(-most if name == "c" else 0, most, (held.rows, held.columns))
        registers[name] = np.zeros((32, held.registers), np.uint32)
        for one in held:
            value = int(matrices[name][one.row, one.column]) << one.bit
            registers[name][one.lane, one.register] |= np.uint32(value & 0xFFFFFFFF)
    met = {"and": np.logical_and, "xor": np.logical_xor}[operation]
    a, b = (matrices[name].astype(bool) for name in "ab")
    wanted = met(a[:, :, None], b[None]).sum(1) + matrices["c"]
    found = pl.mma(spelling, *registers.values()).view(np.int32)
    assert [found[one.lane, one.register] for one in fragment(f"mma.sync.aligned.{spelling}", "d")] == [
        wanted[one.row, one.column] for one in fragment(f"mma.sync.aligned.{spelling}", "d")
    ]


@pytest.mark.parametrize(
    "spelling",
    [
        "m16n8k16.row.row.f32.f16.f16.f32",
        "m16n8k16.row.col.f16.f16.f16.f32",
        "m16n8k64.row.col.f32.f16.f16.f32",
        "wmma.mma.sync.aligned.row.col.m16n8k16.f32.f32",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        "",
    ],
)
def test_what_is_no_form_is_refused(spelling: str) -> None:
    with pytest.raises(UnsupportedForm, match="not a form"):
        pl.mma(spelling, *ones())


def test_a_form_whose_matrices_lie_in_shared_memory_is_refused() -> None:
    with pytest.raises(UnsupportedForm, match="run it in a kernel"):
        pl.mma("wgmma.mma_async.m64n8k16.f32.f16.f16", *ones())


@pytest.mark.parametrize(
    ("spelling", "target"),
    [
        (F16, "sm_75"),
        ("m16n8k32.row.col.f32.e4m3.e4m3.f32", "sm_80"),
        ("m16n8k16.row.col.f64.f64.f64.f64", "sm_89"),
        ("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "sm_75"),
        ("m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", "sm_90"),
        ("m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e4m3.f32", "sm_103"),
    ],
)
def test_a_form_that_the_architecture_lacks_is_refused(spelling: str, target: str) -> None:
    with pytest.raises(UnsupportedForm, match="higher"):
        recipe(matrix_form(spelling), target)


def test_the_arithmetic_of_every_target_since_turing_is_known_but_that_of_the_newest() -> None:
    known = {RENAMED.get(one.number, one.number) for one in targets() if one.number >= 75}
    assert sorted(known - {107}) == list(ARCHITECTURES)


@pytest.mark.parametrize(
    ("target", "legal"), [("sm_95", "sm_75"), ("sm_70", "sm_75"), ("90", "a target such as"), ("", "a target such as")]
)
def test_an_unknown_architecture_is_refused(target: str, legal: str) -> None:
    with pytest.raises(UsageError, match=legal):
        pl.mma(F16, *ones(), target=target)


def test_wrong_arrays_are_refused() -> None:
    a, b, c = ones()
    with pytest.raises(UsageError, match=r"\(..., 32, 4\) of 32-bit"):
        pl.mma(F16, b, b, c)
    with pytest.raises(UsageError, match="32-bit"):
        pl.mma(F16, a, b, c.astype(np.float64))
    with pytest.raises(UsageError, match="metadata"):
        pl.mma(F16, a, b, c, metadata=np.zeros(32, np.uint32))
    with pytest.raises(UsageError, match="metadata"):
        pl.mma("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", a, a, c)
    with pytest.raises(UsageError, match="0 to 1"):
        function(matrix_form("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"), "sm_90", 2)


def test_spellings_name_their_forms() -> None:
    for form in known_forms():
        assert matrix_form(form.spelling) == form


@pytest.mark.parametrize("operand", ["a", "b", "c"])
def test_d_may_be_another_operand(operand: str) -> None:
    form = matrix_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    single = function(form)
    address = helper_address(single.symbol, single.ir)
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * single.arguments)(address)
    given = inputs(form, "normal", 1)
    wanted = call(run, given, np.zeros((4, 32), np.uint32))
    arrays = {"a": given.a[0], "b": given.b[0], "c": given.c[0]}
    own = arrays[operand]
    if len(own) < 4:
        own = np.concatenate([own, np.zeros((4 - len(own), 32), np.uint32)])
    arrays[operand] = own
    changed = Inputs(arrays["a"][None], arrays["b"][None], arrays["c"][None], given.e)
    np.testing.assert_array_equal(call(run, changed, own), wanted)


def call(run: object, given: Inputs, d: np.ndarray) -> np.ndarray:
    counts = (4, 4, 2, 4)
    pointers = [
        array[register].ctypes.data
        for array, count in zip((d, given.a[0], given.b[0], given.c[0]), counts, strict=True)
        for register in range(count)
    ]
    assert callable(run)
    run(*pointers)
    return d.copy()


def test_halves_convert_the_same_without_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    form = matrix_form("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16")
    native = function(form)
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * native.arguments)(helper_address(native.symbol, native.ir))
    for module in (convert, factors):
        monkeypatch.setattr(module, "has_half_conversions", lambda: False)
    function.cache_clear()
    try:
        portable = function(form)
    finally:
        function.cache_clear()
    assert "half" not in portable.ir
    text = portable.ir.replace(portable.symbol, "tensor.portable")
    other = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * native.arguments)(helper_address("tensor.portable", text))
    for case in ("normal", "bits", "specials", "tiny", "huge"):
        given = inputs(form, case, 8)
        for warp in range(8):
            operands = [*given.a[warp], *given.b[warp], *given.c[warp]]
            results = [np.zeros((2, 32), np.uint32) for _ in range(2)]
            for result, code in zip(results, (run, other), strict=True):
                code(*(register.ctypes.data for register in (*result, *operands)))
            np.testing.assert_array_equal(results[0], results[1])


def test_arrays_are_multiplied_after_a_kernel_that_multiplies_alike() -> None:
    form = matrix_form("m16n8k8.row.col.f32.f16.f16.f32")
    loaded = function(form, "sm_80", 0)
    helper_address(loaded.symbol, loaded.ir)  # as a kernel does
    batch._batch.cache_clear()
    d = batch.mma(form, *(np.zeros((32, count), np.uint32) for count in form.vector_lengths[1:]), target="sm_80")
    assert not d.any()
