"""The machine finds the core matrices of wgmma where `SharedOperand` says that they lie, whatever the descriptor."""

from hypothesis import given
from hypothesis import strategies as st

from ptxloom.descriptors import MatrixDescriptor, SharedOperand
from ptxloom.machine.runtime.wgmma.operands import core_start, swizzled, width_shift

OFFSETS = st.integers(0, 255).map(lambda units: 16 * units)
MODES = st.sampled_from(["none", "32B", "64B", "128B"])
WORDS = st.builds(MatrixDescriptor, OFFSETS, OFFSETS, OFFSETS, MODES, st.integers(0, 7))


@given(WORDS, st.sampled_from(["k", "mn"]), st.sampled_from([2, 4]))
def test_both_find_the_same_rows(words: MatrixDescriptor, major: str, parts: int) -> None:
    operand = SharedOperand(words, 64, 8 * parts, "f16", major)
    across, pitch = int(major == "mn"), 1 << width_shift(words.bits)
    for core in operand.core_matrices:
        first = core_start(words.bits, core.row // 8, core.k // 8, across)
        assert core.addresses == tuple(swizzled(words.bits, first + row * pitch) for row in range(8))
