import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxloom.descriptors import (
    SWIZZLE_MODES,
    MatrixDescriptor,
    SharedOperand,
    SwizzleMode,
    canonical_layout,
    swizzle_mode,
)
from ptxloom.diagnostics import UsageError

BITS = st.integers(0, (1 << 64) - 1)
OFFSETS = st.integers(0, (1 << 14) - 1).map(lambda units: 16 * units)


@given(BITS)
def test_any_64_bits_that_name_a_mode_are_read_and_written_again(bits: int) -> None:
    assert MatrixDescriptor.from_bits(bits, "wgmma").bits == bits
    if bits >> 61 in {0, 1, 2, 4, 6}:
        assert MatrixDescriptor.from_bits(bits, "tcgen05").bits == bits


@given(OFFSETS, OFFSETS, OFFSETS, st.sampled_from(["none", "32B", "64B", "128B"]), st.integers(0, 7))
def test_words_stand_where_the_manual_puts_them(start: int, leading: int, stride: int, swizzle: str, base: int) -> None:
    wgmma = MatrixDescriptor(start, leading, stride, swizzle, base)
    code = {"none": 0, "128B": 1, "64B": 2, "32B": 3}[swizzle]
    assert wgmma.bits == start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | base << 49 | code << 62
    tcgen05 = MatrixDescriptor(start, leading, stride, swizzle, base, "tcgen05")
    code = {"none": 0, "128B": 2, "64B": 4, "32B": 6}[swizzle]
    assert tcgen05.bits == start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | base << 49 | code << 61
    assert MatrixDescriptor.from_bits(wgmma.bits) == wgmma
    assert MatrixDescriptor.from_bits(tcgen05.bits) == tcgen05


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"start_address": 8}, "multiple of 16"),
        ({"stride_byte_offset": 1 << 18}, "262,128"),
        ({"leading_byte_offset": -16}, "from 0"),
        ({"base_offset": 8}, "0 to 7"),
        ({"swizzle": "128B_ATOM_32B"}, "one of none, 128B, 64B, 32B for wgmma"),
        ({"generation": "mma"}, "one of wgmma, tcgen05"),
    ],
)
def test_what_the_bits_cannot_hold_is_refused(fields: dict[str, int], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        MatrixDescriptor(**fields)  # pyright: ignore[reportArgumentType] - on purpose


@pytest.mark.parametrize(
    ("bits", "said"), [(-1, "64 bits"), (1 << 64, "64 bits"), (3 << 61 | 1 << 46, "swizzling mode")]
)
def test_bits_that_are_no_descriptor_are_refused(bits: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        MatrixDescriptor.from_bits(bits)


def test_bits_outside_all_words_are_kept_apart() -> None:
    assert MatrixDescriptor.from_bits(1 << 14).stray_bits == 1 << 14
    assert MatrixDescriptor.from_bits(0, "tcgen05").stray_bits == 1 << 46


@pytest.mark.parametrize("mode", SWIZZLE_MODES.values(), ids=str)
@pytest.mark.parametrize("base_offset", range(8))
def test_a_swizzle_permutes_the_chunks_of_each_row(mode: SwizzleMode, base_offset: int) -> None:
    for row in range(0, 2048, mode.span_bytes):
        moved = {mode(row + byte, base_offset) for byte in range(mode.span_bytes)}
        assert moved == set(range(row, row + mode.span_bytes))


def test_a_base_offset_begins_the_pattern_elsewhere() -> None:
    mode = swizzle_mode("128B")
    begin = 0x480
    offset = begin >> 7 & 7
    assert [mode(begin + at, offset) - begin for at in range(0, 1024, 16)] == [mode(at) for at in range(0, 1024, 16)]


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("major", ["k", "mn"])
@pytest.mark.parametrize("swizzle", ["none", "32B", "64B", "128B"])
@pytest.mark.parametrize("element", ["u8", "f16", "tf32"])
def test_a_dense_operand_is_a_permutation_of_its_bytes(major: str, swizzle: str, element: str) -> None:
    mode = swizzle_mode(swizzle)
    width = {"u8": 1, "f16": 2, "tf32": 4}[element]
    rows, columns = 64, 32 // width
    extent = columns if major == "k" else rows  # along which elements are contiguous
    along, across = max(extent * width, mode.span_bytes), columns + rows - extent
    offsets = (across * mode.span_bytes, 8 * mode.span_bytes)
    if major == "mn" and swizzle == "none":
        offsets = offsets[::-1]
    leading, stride = offsets
    operand = SharedOperand(MatrixDescriptor(4096, leading, stride, swizzle), rows, columns, element, major)
    found = [operand.address(row, column) for row in range(rows) for column in range(columns)]
    assert len(set(found)) == rows * columns
    assert min(found) >= 4096
    assert max(found) < 4096 + along * across
    taken = {at + i for at in found for i in range(width)}
    chunks = {at // 16 for at in taken}
    assert len(taken) == 16 * len(chunks)
    assert {at for core in operand.core_matrices for at in core.addresses} == {16 * chunk for chunk in chunks}


def test_a_k_wider_than_the_swizzle_goes_on_at_the_leading_offset() -> None:
    operand = SharedOperand(MatrixDescriptor(0, 0x2000, 256, "32B"), 8, 32, "f16")
    assert [hex(operand.address(0, k)) for k in (0, 8, 16, 24)] == ["0x0", "0x10", "0x2000", "0x2010"]


def test_layouts_are_cutes() -> None:
    k = canonical_layout("k", swizzle_mode("64B"), 16, (64, 16), (16, 512))
    assert str(k) == "((8,8),(8,4,1)):((32,256),(1,8,8))"
    mn = canonical_layout("mn", swizzle_mode("64B"), 16, (64, 16), (4096, 512))
    assert str(mn) == "((8,4,2),(8,2)):((1,8,2048),(32,256))"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"major": "row"}, "k or mn"),
        ({"element": "f17"}, "type"),
        ({"rows": 0}, "1 to 256"),
        ({"columns": 65}, "1 to 64"),
    ],
)
def test_an_operand_that_is_none_is_refused(given: dict[str, str | int], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        SharedOperand(MatrixDescriptor(), **({"rows": 64, "columns": 16} | given))  # pyright: ignore[reportArgumentType]
