"""Where elements come from through tensor memory: what is traced to an element has its value, wherever it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ptxloom as pl
from machine.semantics.tensor_kernels import descriptor, lines, run, stride_of
from machine.semantics.test_tensor_moves import KERNEL, SPLIT, vector
from ptxloom.descriptors.instruction import InstructionDescriptor
from ptxloom.fragments import fragment
from ptxloom.machine import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.machine import ProvenanceRecord

SHAPES = [("32x32b", 16), ("16x64b", 4), ("16x128b", 2), ("16x256b", 2), ("16x32bx2", 8)]


def _same(record: ProvenanceRecord, name: str, found: NDArray[Any], given: dict[int, NDArray[Any]]) -> int:
    """How many elements of an array are others, bit by bit; each of which must have its value."""
    origins = record.contents(name).origins.reshape(found.shape)
    exact = origins["kind"] == Kind.EXACT
    assert (origins["byte"][exact] == 0).all()
    for number, values in given.items():
        here = exact & (origins["array"] == number)
        assert np.array_equal(values.ravel()[origins["element"][here]], found[here])
    assert (origins["kind"][~exact] == Kind.NONE).all()
    assert (found[~exact] == 0).all()
    return int(np.count_nonzero(exact))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("shape", "num"), SHAPES)
def test_what_moves_between_registers_and_tensor_memory_is_followed(shape: str, num: int, packed: bool) -> None:
    load, store = (f"tcgen05.{word}.sync.aligned.{shape}.x{num}{f'.{way}::16b' * packed}.b32" for word, way in
                   (("ld", "pack"), ("st", "unpack")))  # fmt: skip
    count, rng = fragment(load).registers, np.random.default_rng(num)
    split = f", {SPLIT}" * (shape == "16x32bx2")
    before, given = (rng.integers(1, 1 << 16, (*size, 2), np.uint16) for size in ((512, 128), (128, count)))
    body = f"mov.u32 %r9, %r5; {load} {vector(count)}, [%r9]{split}; tcgen05.wait::ld.sync.aligned;"
    body += "".join(f"st.global.u32 [%rd10+{4 * n}], %v{n}; ld.global.u32 %v{n}, [%rd9+{4 * n}];" for n in range(count))
    body += f"add.u32 %r9, %r9, 256; {store} [%r9]{split}, {vector(count)};"
    loaded, after = np.zeros_like(given), np.zeros_like(before)
    text = KERNEL.format(body=body, registers=count, lane_bytes=4 * count)
    record = (
        pl.kernel(pl.parse(text), "kernel").launch(1, 128, [before, given, loaded, after], provenance=True).provenance
    )
    assert record is not None
    arrays = {0: before, 1: given}
    assert _same(record, "loaded", loaded, arrays) == loaded.size
    changed = 128 * count * 2  # halves; stored apart, each has a word of its own
    assert _same(record, "after", after, arrays) == after.size - changed * packed


@pytest.mark.parametrize("cp", ["128x256b", "128x128b", "64x128b.warpx2::02_13", "32x128b.warpx4", "4x256b"])
def test_what_is_copied_from_shared_memory_is_followed(cp: str) -> None:
    rng = np.random.default_rng(3)
    rows = rng.integers(1, 256, (128, 32), np.uint8)
    before = np.zeros((512, 128), np.uint32)
    place = "%r13" if cp != "4x256b" else "%r21"
    body = descriptor("0", 128, stride_of(rows), "%rd10") + "add.u32 %r21, %r13, 0x1f0000;"
    after, outcome = run(f"{body} tcgen05.cp.cta_group::1.{cp} [{place}], %rd10;", lines(rows), before, provenance=True)
    origins = outcome.provenance.contents("after").origins
    come = (origins["kind"] == Kind.EXACT) & (origins["array"] == 0)
    starts = origins["element"][come][:, None] + np.arange(4)
    assert np.array_equal(lines(rows)[starts].view(np.uint32)[:, 0], after[come])
    assert np.count_nonzero(come) == np.count_nonzero(after)


def test_rows_that_are_shifted_are_followed() -> None:
    before = np.arange(1, 512 * 128 + 1, dtype=np.uint32).reshape(512, 128)
    body = "add.u32 %r21, %r13, 0x200008; tcgen05.shift.cta_group::1.down [%r21];"
    after, outcome = run(body, np.zeros(16, np.uint8), before, provenance=True)
    origins = outcome.provenance.contents("after").origins
    assert (origins["kind"] == Kind.EXACT).all()
    assert np.array_equal(origins["element"] + 1, after)
    assert np.count_nonzero(after != before) == 31 * 8


FORMS = [
    ("cta_group::1", "f16", 128, 64, np.float16),
    ("cta_group::1", "f16", 64, 24, np.float16),
    ("cta_group::1", "tf32", 128, 16, np.float32),
    ("ws.cta_group::1", "f16", 32, 64, np.float16),
    ("ws.cta_group::1", "f16", 64, 64, np.float16),
]


@pytest.mark.parametrize(("words", "kind", "m", "n", "dtype"), FORMS)
def test_factors_and_result_of_a_product_are_noted(
    words: str, kind: str, m: int, n: int, dtype: type[np.generic]
) -> None:
    k, rng = 32 // np.dtype(dtype).itemsize, np.random.default_rng(5)
    a, b = (rng.integers(-99, 100, (rows, k)).astype(dtype) for rows in (m, n))
    image = np.concatenate([lines(a), lines(b)])
    told = InstructionDescriptor(kind, m, n, kind, kind, "f32")
    body = descriptor("0", 128, stride_of(a), "%rd10") + descriptor(str(a.nbytes), 128, stride_of(b), "%rd11")
    body += f"setp.ne.u32 %p6, %r2, %r2; mov.u32 %r21, {told.bits};"
    body += f"tcgen05.mma.{words}.kind::{kind} [%r13], %rd10, %rd11, %r21, %p6;"
    after, outcome = run(body, image, np.zeros((512, 128), np.uint32), provenance=True)
    (product,) = outcome.provenance.products
    values = image.view(dtype)
    for name, wanted in (("a", a), ("b", b.T)):
        origins = product.operand(name).origins
        assert (origins["kind"] == Kind.EXACT).all()
        assert np.array_equal(values[origins["element"] // values.itemsize], wanted)
    assert (product.operand("c").origins["kind"] == Kind.NONE).all()
    made = outcome.provenance.contents("after").origins
    there = made["kind"] == Kind.PRODUCT
    result = (a.astype(np.float32) @ b.astype(np.float32).T).ravel()
    assert np.array_equal(np.sort(made["item"][there]), np.arange(m * n))
    assert np.array_equal(result[made["item"][there]], after[there].view(np.float32))


def test_a_factor_in_tensor_memory_and_what_is_added_are_noted() -> None:
    rng = np.random.default_rng(6)
    a, b = (rng.integers(-99, 100, (rows, 16)).astype(np.float16) for rows in (128, 32))
    before = np.zeros((512, 128), np.uint32)
    before[64:72] = np.ascontiguousarray(a).view(np.uint32).T
    before[:32] = rng.integers(-99, 100, (32, 128)).astype(np.float32).view(np.uint32)
    told = InstructionDescriptor("f16", 128, 32, "f16", "f16", "f32")
    body = descriptor("0", 128, stride_of(b), "%rd11") + f"setp.eq.u32 %p6, %r2, %r2; mov.u32 %r21, {told.bits};"
    body += "add.u32 %r22, %r13, 64; tcgen05.mma.cta_group::1.kind::f16 [%r13], [%r22], %rd11, %r21, %p6;" * 2
    _, outcome = run(body, lines(b), before, provenance=True)
    first, second = outcome.provenance.products
    origins = first.operand("a").origins
    assert np.array_equal(before.view(np.float16).ravel()[2 * origins["element"] + origins["byte"] // 2], a)
    added = first.operand("c").origins
    assert np.array_equal(before.ravel()[added["element"]], before[:32].T)
    assert (second.operand("c").origins["kind"] == Kind.PRODUCT).all()
    assert np.array_equal(second.operand("c").origins["item"].ravel(), np.arange(128 * 32))
