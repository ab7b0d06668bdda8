"""What was judged is counted, what was not is named, and no kernel that is right is accused with certainty."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import ptxloom as pl
from diagnosis.planted import kernels as planted
from diagnosis.planted.launching import launch
from kernels.catalog import cases
from kernels.launching import launch as launch_case
from ptxloom.diagnosis import examine
from ptxloom.views.runs.diagnoses import ReportedRun, full

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from diagnosis.planted.model import RightKernel
    from ptxloom.diagnosis import Examination

PTX = (Path(__file__).parent / "ptx" / "judging.ptx").read_text()
EXAMPLES = Path(__file__).parents[2] / "examples"
M, N, K = 64, 32, 48
NAMES = {0: "A", 1: "B", 2: "C"}


class Case(NamedTuple):
    """A launch of a kernel of the file, and what it must leave in its last array; None where its inputs say no more."""

    kernel: str
    grid: tuple[int, ...]
    args: list[Any]
    wanted: NDArray[Any] | None


def _halves(rng: np.random.Generator, *shape: int) -> NDArray[Any]:
    return rng.integers(-4, 5, shape).astype(np.float16)


def _wide(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.float64)


def _padded(width: int = K + 8, name: str = "padded") -> Case:
    rng = np.random.default_rng(1)
    a, b = _halves(rng, M, width), _halves(rng, N, width)
    wanted = _wide(a)[:, :K] @ _wide(b)[:, :K].T
    return Case(name, (N // 8, M // 16), [a, b, np.zeros((M, N), np.float32), N, K, width], wanted)


def _slices(count: int) -> Case:
    rng = np.random.default_rng(2)
    a, b = _halves(rng, M, 16 * count), _halves(rng, N, 16 * count)
    args = [a, b, np.zeros((M, N), np.float32), N, 16 * count, 16]
    return Case("slices", (N // 8, M // 16, count), args, _wide(a) @ _wide(b).T)


def _wmma() -> Case:
    rng = np.random.default_rng(3)
    a, b = _halves(rng, M, K), _halves(rng, K, M)
    return Case("by_wmma", (M // 16, M // 16), [a, b, np.zeros((M, M), np.float32), M, K], _wide(a) @ _wide(b))


def _wide_a(lines: int, width: int, length: int = K, columns: int = 16) -> Case:
    """A of `width` columns times B of `lines` rows, of which the kernel multiplies `length`."""
    rng = np.random.default_rng(9)
    a, b = _halves(rng, 16, width), _halves(rng, lines, columns)
    wanted = _wide(a)[:, :length] @ _wide(b)[:length]
    return Case("wide", (columns // 16, 1), [a, b, np.zeros((16, columns), np.float32), columns, length, width], wanted)


def _dequantised() -> Case:
    rng = np.random.default_rng(4)
    a, w = _halves(rng, M, K), rng.integers(0, 16, (N, K), np.uint8)
    scale = rng.integers(1, 3, N).astype(np.float32)
    wanted = _wide(a) @ ((_wide(w) - 8) * scale[:, None]).T
    return Case("dequantised", (N // 8, M // 16), [a, w, scale, np.zeros((M, N), np.float32), N, K], wanted)


def _sparse() -> Case:
    rng = np.random.default_rng(5)
    a, b = _halves(rng, 16, 16), _halves(rng, 8, 32)
    whole = np.zeros((16, 8, 4))
    whole[:, :, :2] = a.reshape(16, 8, 2)  # 0x4: the first two of each four
    args = [a, b, np.full(8, 0x44444444, np.uint32), np.zeros((16, 8), np.float32)]
    return Case("sparse", (1,), args, whole.reshape(16, 32) @ _wide(b).T)


def _weighted(length: int) -> Case:
    rng = np.random.default_rng(6)
    q, v = rng.integers(0, 3, (16, 4)).astype(np.float32), _halves(rng, length, 8)
    wanted = np.outer(q.sum(axis=1), _wide(v).sum(axis=0))
    return Case("weighted", (1,), [q, v, np.zeros((16, 8), np.float32), length], wanted)


def _clamped(length: int) -> Case:
    rng = np.random.default_rng(7)
    q, k, v = (
        rng.integers(-1, 2, (lines, width)).astype(np.float16) for lines, width in ((16, 16), (length, 16), (length, 8))
    )
    return Case("clamped", (1,), [q, k, v, np.zeros((16, 8), np.float32), length], _wide(q) @ _wide(k).T @ _wide(v))


def examined(case: Case, text: str = PTX, expected: str | None = None) -> Examination:
    """The examination of a case, which must leave what it should unless its text was changed."""
    made = pl.kernel(pl.parse(text), case.kernel, target="sm_90a")
    result = made.launch(case.grid, 32, case.args, provenance=True, threads=1)
    arrays: list[NDArray[Any]] = [one for one in case.args if isinstance(one, np.ndarray)]
    assert case.wanted is None or text is not PTX or np.array_equal(arrays[-1], case.wanted)
    assert result.provenance is not None
    return examine(result.provenance, expected, names=NAMES)


@pytest.mark.parametrize(
    "case", [_dequantised(), _wmma(), _slices(2), _slices(3), _slices(30), _padded(K)], ids=lambda case: case.kernel
)
def test_a_right_product_is_judged_whole(case: Case) -> None:
    found = examined(case)
    assert (found.found, found.verdict, found.unjudged) == ((), "clean", ())
    assert found.elements == next(one.size for one in reversed(case.args) if isinstance(one, np.ndarray))
    assert found.products > 0
    assert full(ReportedRun(found)).startswith("no law is broken: every element")


@pytest.mark.parametrize(
    ("case", "products", "why"),
    [
        (_sparse(), 1, "which k the metadata of a sparse A choose was not judged"),
        (_weighted(32), 2, "A is computed"),
    ],
    ids=lambda value: value.kernel if isinstance(value, Case) else None,
)
def test_products_that_were_not_judged_are_named_by_line_and_nobody_is_acquitted(
    case: Case, products: int, why: str
) -> None:
    found = examined(case)
    assert (found.found, found.verdict, found.products, found.elements) == ((), "unjudged", 0, 0)
    product, stores = found.unjudged
    assert (product.what, product.count, stores.what) == ("products", products, "elements")
    assert why in product.why
    assert "mma" in PTX.split("\n")[product.line - 1]
    assert all(PTX.split("\n")[line - 1].strip().startswith("st.") for line in stores.lines)
    said = full(ReportedRun(found))
    assert said.startswith("could not judge")
    assert "no law is broken" not in said
    assert f"{product.origin} (PTX line {product.line}): {products} product" in said


def test_what_is_computed_without_products_is_not_acquitted() -> None:
    kernel = pl.kernel(pl.parse((EXAMPLES / "vector_add.ptx").read_text()), "vector_add")
    a, b, c = (np.ones(128, np.float32) for _ in range(3))
    record = kernel.launch(1, 128, [a, b, c, 128], provenance=True).provenance
    assert record is not None
    found = examine(record)
    assert (found.found, found.verdict, found.products, found.elements) == ((), "unjudged", 0, 0)
    assert sum(one.count for one in found.unjudged) == c.size
    assert all("computed" in one.why for one in found.unjudged)


SGEMM = (EXAMPLES / "sgemm.ptx").read_text()


def _sgemm(text: str, expected: str | None = None, m: int = 32, n: int = 48, k: int = 64) -> Examination:
    rng = np.random.default_rng(8)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n)))
    args = [a, b, np.zeros((m, n), np.float32), m, n, k]
    record = pl.kernel(pl.parse(text), "sgemm").launch((n // 16, m // 16), (16, 16), args, provenance=True).provenance
    assert record is not None
    return examine(record, expected, names=NAMES)


@pytest.mark.parametrize("expected", [None, "C = A @ B"])
def test_sums_of_products_are_judged_term_by_term(expected: str | None) -> None:
    found = _sgemm(SGEMM, expected)
    assert (found.found, found.verdict, found.terms, found.elements) == ((), "clean", 32 * 48 * 64, 32 * 48)


@pytest.mark.parametrize("expected", [None, "C = A @ B"])
def test_k_that_a_sum_takes_twice_are_named(expected: str | None) -> None:
    fma = re.compile(r"(fma\.rn\.f32\s+(%f\d+), (%f\d+), (%f\d+), %f\d+;)")
    first = fma.search(SGEMM)
    assert first is not None
    text = SGEMM.replace(first[1], f"{first[1]} fma.rn.f32 {first[2]}, {first[3]}, {first[4]}, {first[2]};")
    (one,) = _sgemm(text, expected).found
    assert (one.cause, one.law, one.line) == ("k-twice", "once", SGEMM[: first.start()].count("\n") + 1)
    assert one.certain == (expected is not None)


@pytest.mark.parametrize(
    "case", [planted.ATTENTION, planted.CONVOLUTION, planted.BY_LDMATRIX], ids=lambda case: case.name
)
def test_what_is_judged_of_kernels_that_are_no_plain_product(case: RightKernel) -> None:
    record = launch(case, case.text, case.make(), provenance=True).provenance
    assert record is not None
    found = examine(record, case.says, names=dict(enumerate(case.names)))
    judged = {"attention": (48, 1024), "transpose-ldmatrix": (0, 1024), "convolution": (288, 4096)}[case.name]
    assert (found.products, found.elements, found.found) == (*judged, ())
    assert found.verdict == ("unjudged" if case is planted.CONVOLUTION else "clean")
    assert all("of operand a: filled" in one.why for one in found.unjudged)  # what lies beyond the image


def test_products_by_wgmma_are_judged_like_others() -> None:
    case = next(case for case in cases() if case.name.endswith("triton_hopper_pointers.pointers"))
    record = launch_case(case, "sm_90a", case.arguments(), provenance=True).provenance
    assert record is not None
    found = examine(record)
    assert (found.found, found.verdict, found.products) == ((), "clean", len(record.products))


@pytest.mark.parametrize(
    ("lines", "width", "gone"),
    [(80, 64, {"A": 16 * 16, "B": 16 * 16}), (64, 64, {"A": 16 * 16, "B": 16 * 16}), (80, 48, {})],
)
def test_what_belongs_to_a_product_and_is_never_multiplied_acquits_nobody(
    lines: int, width: int, gone: dict[str, int]
) -> None:
    found = examined(_wide_a(lines, width))
    assert found.found == ()
    assert found.verdict == ("unjudged" if gone else "clean")
    never = {one.array: one.count for one in found.unjudged if "never multiplied (k 48 to 63)" in one.why}
    said = [one for one in found.unjudged if "k 48 to 63 is never multiplied" in one.why]
    assert never == gone or (said and not never)


def test_what_is_never_stored_of_a_result_acquits_nobody() -> None:
    case = _wmma()
    found = examined(case._replace(grid=(M // 16, 1), wanted=None))
    assert (found.found, found.verdict, found.elements) == ((), "unjudged", 16 * M)
    never = {one.array: (one.count, one.why) for one in found.unjudged}
    assert never.keys() == {"A", "C"}
    assert never["C"] == (48 * M, f"never stored (m 16 to {M - 1}): no law says whether that is intended")


def test_rows_of_a_sum_that_are_never_computed_acquit_nobody() -> None:
    rng = np.random.default_rng(8)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((32, 64), (64, 48)))
    args = [a, b, np.zeros((32, 48), np.float32), 32, 48, 64]
    record = pl.kernel(pl.parse(SGEMM), "sgemm").launch((3, 1), (16, 16), args, provenance=True).provenance
    assert record is not None
    found = examine(record, names=NAMES)
    assert (found.found, found.verdict) == ((), "unjudged")
    assert {one.array: one.count for one in found.unjudged} == {"A": 16 * 64, "C": 16 * 48}


@pytest.mark.parametrize("expected", [None, "C = A @ B.T"])
def test_chunks_that_came_through_no_shared_memory_are_not_surely_swizzled(expected: str | None) -> None:
    case = _padded(K, "chunks_exchanged")._replace(wanted=None)
    del case.args[5]
    (one,) = examined(case, expected=expected).found
    assert (one.cause, one.operand, one.certain) == ("swizzle-mismatch", "a", False)


def test_heads_that_share_those_of_another_array_accuse_nobody() -> None:
    rng = np.random.default_rng(11)
    q, k, v = (rng.integers(-1, 2, shape).astype(np.float16) for shape in ((32, 4, 16), (48, 2, 16), (48, 2, 16)))
    both = [one.astype(np.float64).transpose(1, 0, 2).repeat(4 // one.shape[1], axis=0) for one in (q, k, v)]
    wanted = (both[0] @ both[1].transpose(0, 2, 1) @ both[2]).transpose(1, 0, 2)
    args = [q, k, v, np.zeros((32, 4, 16), np.float32), 48, 4, 2]
    found = examined(Case("grouped_heads", (4, 2), args, wanted))
    assert (found.found, found.verdict) == ((), "unjudged")


def _joined(kernel: str) -> Case:
    rng = np.random.default_rng(10)
    a, b, r = _halves(rng, M, K), _halves(rng, N, K), _halves(rng, M, N)
    bias = rng.integers(-4, 5, N).astype(np.float32)
    wanted = np.maximum(_wide(a) @ _wide(b).T + bias, 0) + _wide(r) if kernel == "joined" else None
    args = [a, b, bias, r, np.zeros((M, N), np.float32), M, N, K]
    return Case(kernel, (N // 8, M // 16), args, wanted)


@pytest.mark.parametrize(
    ("kernel", "array"), [("joined", None), ("bias_at_row", "bias"), ("residual_turned", "R")], ids=lambda one: one
)
def test_what_joins_a_product_behind_a_function_of_it_is_judged(kernel: str, array: str | None) -> None:
    case = _joined(kernel)
    record = pl.kernel(pl.parse(PTX), kernel, target="sm_90a").launch(case.grid, 32, case.args, provenance=True)
    assert record.provenance is not None
    assert case.wanted is None or np.array_equal(case.args[4], case.wanted)
    found = examine(record.provenance, names=dict(enumerate(("A", "B", "bias", "R", "C"))))
    if array is None:
        assert (found.found, found.verdict, found.unjudged) == ((), "clean", ())
    else:
        (one,) = found.found
        assert (one.cause, one.array, one.certain) == ("order-exchanged", array, False)
        assert one.instruction.startswith("ld.global")


@pytest.mark.parametrize("expected", [None, "C = A @ B.T"])
def test_an_order_without_a_name_is_never_certain(expected: str | None) -> None:
    case = _padded(K, "shuffled")._replace(wanted=None)
    del case.args[5]
    found = examined(case, expected=expected).found
    assert [(one.cause, one.operand, one.certain) for one in found] == [("unknown", "a", False)] * len(found)
    assert bool(found) == (expected is not None)  # else no reading is believed


@pytest.mark.parametrize("case", [_padded(), _weighted(24), _clamped(24)], ids=lambda case: case.kernel)
def test_a_right_product_that_origins_cannot_tell_from_a_wrong_one_is_left_open(case: Case) -> None:
    found = examined(case)
    assert (found.found, found.verdict) == ((), "unjudged")
    assert any("which is right only if" in one.why for one in found.unjudged)


@pytest.mark.parametrize("bound", [16, N])
def test_k_that_end_early_are_missing_for_all_that_is_known(bound: int) -> None:
    ends = re.compile(r"(\$L__BB0_\d+:.*?setp\.lt\.s32\s+%p\d+, %r\d+, )%r\d+;", re.DOTALL)
    text, count = ends.subn(rf"\g<1>{bound};", PTX, count=1)
    assert count == 1
    (one,) = examined(_padded(K), text).found
    assert (one.cause, one.certain, one.wrong, one.total) == ("k-missing", False, 16 * (K - bound), 16 * K)


def test_k_left_out_in_between_are_missing_with_certainty() -> None:
    start, end = PTX.index(".entry padded("), PTX.index(".entry slices(")
    kernel, count = re.subn(
        r"(add\.s(?:32|64)\s+(%r\d+|%rd\d+), \2, )(16|32);",
        lambda found: f"{found[1]}{2 * int(found[3])};",
        PTX[start:end],
    )
    assert count == 4  # k, and the addresses of two rows of A and one of B
    (one,) = examined(_padded(K), PTX[:start] + kernel + PTX[end:]).found
    assert (one.cause, one.certain) == ("k-missing", True)


BROKEN: list[tuple[str, Callable[[str], str], str, str]] = [
    (
        "a-layout",
        lambda text: text.replace("load.a.sync.aligned.row", "load.a.sync.aligned.col"),
        "order-exchanged",
        "a",
    ),
    (
        "b-layout",
        lambda text: text.replace("load.b.sync.aligned.row", "load.b.sync.aligned.col"),
        "order-exchanged",
        "b",
    ),
    (
        "c-layout",
        lambda text: text.replace("store.d.sync.aligned.row", "store.d.sync.aligned.col"),
        "order-exchanged",
        "d",
    ),
    (
        "b-stride",
        lambda text: re.sub(r"(load\.b\..*, )%r\d+;", rf"\g<1>{_register('a')};", text),
        "leading-dimension",
        "b",
    ),
    (
        "c-stride",
        lambda text: re.sub(r"(store\.d\..*, )%r\d+;", rf"\g<1>{_register('a')};", text),
        "leading-dimension",
        "d",
    ),
]


def _register(operand: str) -> str:
    found = re.search(rf"wmma\.load\.{operand}\..*, (%r\d+);", PTX)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("expected", [None, "C = A @ B"])
@pytest.mark.parametrize(("change", "cause", "operand"), [one[1:] for one in BROKEN], ids=[one[0] for one in BROKEN])
def test_what_is_wrong_with_a_product_by_wmma_is_named_first(
    change: Callable[[str], str], cause: str, operand: str, expected: str | None
) -> None:
    text = change(PTX)
    changed = [
        number + 1
        for number, pair in enumerate(zip(PTX.split("\n"), text.split("\n"), strict=True))
        if len(set(pair)) > 1
    ]
    first, *_ = examined(_wmma(), text, expected).found
    assert (first.cause, first.operand, first.line) == (cause, operand, changed[0])


def test_a_register_that_a_product_names_twice_is_told_of_at_the_product() -> None:
    start = PTX.index(".entry padded(")
    kernel, count = re.subn(
        r"(mma\.sync.*\}, \{%r\d+, ?%r\d+, ?)(%r\d+), ?%r\d+\}", r"\g<1>\2,\2}", PTX[start:], count=1
    )
    assert count == 1
    text = PTX[:start] + kernel
    first, *_ = examined(_padded(K), text).found
    assert (first.cause, first.operand) == ("registers-exchanged", "a")
    assert first.instruction.startswith("mma.sync")
