from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxloom.banks import access, bank_conflicts
from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.isa.matrix import matrix_move, variants

LANES = range(32)


def swizzled(unit: int, bits: int, base: int, shift: int) -> int:
    """CuTe's Swizzle<B, M, S> of an offset in units."""
    return unit ^ (unit >> shift & ((1 << bits) - 1) << base)


@pytest.mark.parametrize(
    ("pitch", "swizzle", "wavefronts"),
    [
        (128, (0, 3, 3), 8), (128, (1, 3, 3), 4), (128, (2, 3, 3), 2), (128, (3, 3, 3), 1),
        (64, (0, 3, 3), 4), (64, (1, 3, 3), 2), (64, (2, 3, 3), 1), (64, (3, 3, 3), 1),
        (32, (0, 3, 3), 2), (32, (1, 3, 3), 1), (32, (2, 3, 3), 1), (32, (3, 3, 3), 1),
        (256, (0, 3, 3), 8), (256, (1, 3, 3), 8), (256, (2, 3, 3), 4), (256, (3, 3, 3), 2), (256, (3, 3, 4), 1),
        (16, (0, 3, 3), 1), (80, (0, 3, 3), 1), (144, (0, 3, 3), 1),
    ],
)  # fmt: skip
def test_the_published_pitches_and_swizzles(pitch: int, swizzle: tuple[int, int, int], wavefronts: int) -> None:
    addresses = [2 * swizzled(pitch // 2 * (lane % 8), *swizzle) for lane in LANES]
    report = bank_conflicts("ldmatrix.sync.aligned.m8n8.x1.shared.b16", addresses)
    assert (report.wavefronts, report.ideal, report.conflicts) == (wavefronts, 1, wavefronts - 1)


def test_phases_never_merge_and_trans_and_stores_cost_the_same() -> None:
    same = [128 * (lane % 8) for lane in LANES]
    for form in ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "m8n8.x4.trans.b16"):
        report = bank_conflicts(form, same)
        assert (report.wavefronts, report.ideal, report.ways) == (32, 4, 8)
    assert bank_conflicts("stmatrix.sync.aligned.m8n8.x4.shared.b16", same).wavefronts == 32
    one_row = bank_conflicts("m8n8.x4.b16", [0] * 32)
    assert (one_row.wavefronts, one_row.conflicts) == (4, 0)


def test_the_report_says_what_a_person_needs() -> None:
    report = bank_conflicts("m8n8.x4.b16", [128 * lane for lane in LANES])
    assert report.pitch == 128
    assert "rows 128 bytes apart: 8-way bank conflict, 32 wavefronts where 4 would do" in str(report)
    assert "no bank conflict" in str(bank_conflicts("m8n8.x4.b16", [16 * lane for lane in LANES]))
    phase = report.phases[1]
    assert phase.lanes == tuple(range(8, 16))
    assert (phase.wavefronts, phase.conflicts) == (8, 7)
    assert [use.bank for use in phase.worst] == [0, 1, 2, 3]
    assert phase.worst[1].words == tuple(128 * lane + 4 for lane in range(8, 16))
    assert phase.worst[1].lanes == tuple((lane,) for lane in range(8, 16))


def test_equal_words_are_shared() -> None:
    report = bank_conflicts("ld.shared.b32", [4 * (lane // 8) for lane in LANES])
    assert report.wavefronts == 1
    (phase,) = report.phases
    assert phase.banks[1].lanes == (tuple(range(8, 16)),)


@pytest.mark.parametrize(
    ("instruction", "size", "phases"),
    [
        ("ld.shared.u8", 1, 1),
        ("st.shared.b16", 2, 1),
        ("ld.shared.f32", 4, 1),
        ("ld.shared.v2.f16", 4, 1),
        ("ld.volatile.shared::cta.f64", 8, 2),
        ("st.shared.v2.b32", 8, 2),
        ("ld.shared.v4.f32", 16, 4),
        ("st.shared.v2.u64", 16, 4),
        ("ld.shared.b128", 16, 4),
    ],
)
def test_contiguous_lanes_are_free_of_conflicts(instruction: str, size: int, phases: int) -> None:
    report = bank_conflicts(instruction, [size * lane for lane in LANES])
    assert (report.wavefronts, report.ideal, len(report.phases)) == (phases, phases, phases)
    assert access(instruction).lane_bytes == size


@pytest.mark.parametrize("form", [move.spelling for move in variants()])
def test_every_matrix_move_has_its_phases(form: str) -> None:
    move = matrix_move(form)
    report = bank_conflicts(form, [move.row_bytes * lane for lane in LANES])
    assert report.ideal == max(1, move.address_lanes * move.row_bytes // 128)
    assert report.conflicts == 0
    assert access(form).is_load == form.startswith("ld")


def test_an_instruction_of_a_module_will_do() -> None:
    class Instruction(NamedTuple):
        opcode: str
        qualifiers: tuple[str, ...]

    assert bank_conflicts(Instruction("ld", ("shared", "b32")), [128 * lane for lane in LANES]).wavefronts == 32
    assert bank_conflicts(matrix_move("m8n8.x1.b16", "ldmatrix"), [0] * 32).wavefronts == 1


def test_lanes_that_are_off_want_nothing() -> None:
    addresses = [128 * lane for lane in LANES]
    report = bank_conflicts("ld.shared.b32", addresses, active=0b1011)
    assert report.wavefronts == 3
    assert report.phases[0].lanes == (0, 1, 3)
    assert report.pitch is None
    nobody = bank_conflicts("ld.shared.v4.b32", addresses, active=0)
    assert (nobody.wavefronts, nobody.ideal, nobody.conflicts, nobody.ways) == (0, 0, 0, 0)
    assert bank_conflicts("st.shared.b64", [1, *[0] * 31], active=0xFFFFFFFE).wavefronts == 2


def test_addresses_of_unused_lanes_are_ignored() -> None:
    assert bank_conflicts("m8n8.x1.b16", [16 * lane if lane < 8 else 3 for lane in LANES]).wavefronts == 1


def test_a_batch_is_the_sum_of_its_warps() -> None:
    rng = np.random.default_rng(0)
    addresses = (16 * rng.integers(0, 256, (4, 5, 32))).astype(np.uint32)
    report = bank_conflicts("m8n8.x4.b16", addresses)
    singles = np.array([[bank_conflicts("m8n8.x4.b16", warp).wavefronts for warp in block] for block in addresses])
    np.testing.assert_array_equal(report.by_warp, singles)
    assert report.wavefronts == singles.sum()
    assert report.ideal == 4 * 20
    worst = report.worst_warp
    assert singles[worst] == singles.max()
    one = report.warp(*worst)
    assert one.phases == report.phases
    assert [phase.wavefronts for phase in one.phases] == one.by_phase.tolist()


def test_an_empty_batch_costs_nothing() -> None:
    report = bank_conflicts("m8n8.x4.b16", np.zeros((0, 32), np.uint32))
    assert (report.wavefronts, report.phases, report.pitch) == (0, (), None)


@settings(deadline=None)
@given(
    st.sampled_from([("ld.shared.b8", 1), ("ld.shared.b32", 4), ("st.shared.b64", 8), ("ld.shared.v4.b32", 16)]),
    st.lists(st.integers(0, 200), min_size=32, max_size=32),
    st.integers(0, 2**32 - 1),
)
def test_the_count_is_the_formula(of: tuple[str, int], units: list[int], active: int) -> None:
    instruction, size = of
    addresses = [size * unit for unit in units]
    report = bank_conflicts(instruction, addresses, active)
    group = min(32, 128 // size)
    total = 0

    spans = [range(start, start + group) for start in range(0, 32, group)]
    on = [lane for lane in LANES if active >> lane & 1]
    if size >= 8 and instruction.startswith("ld"):
        for distance in (1, 2):
            off_or_alike = (lane ^ distance not in on or addresses[lane] == addresses[lane ^ distance] for lane in on)
            if all(off_or_alike):
                spans = [range(start, start + 2 * group) for start in range(0, 32, 2 * group)]
    for span in spans:
        words = {(addresses[lane] + byte) // 4 for lane in span if active >> lane & 1 for byte in range(size)}
        total += max((sum(word % 32 == bank for word in words) for bank in range(32)), default=0)
    assert report.wavefronts == total
    in_an_array = bank_conflicts(instruction, np.array(addresses), active)
    assert (in_an_array.wavefronts, in_an_array.ideal, in_an_array.ways) == (
        report.wavefronts,
        report.ideal,
        report.ways,
    )
    assert (in_an_array.phases, in_an_array.pitch) == (report.phases, report.pitch)
    detail = [phase.wavefronts for phase in report.phases]
    assert [count for count in detail if count] == [count for count in report.by_phase.tolist() if count]


def test_wide_loads_merge_when_neighbouring_lanes_agree() -> None:
    pairs = [16 * (lane // 2 % 4) for lane in LANES]
    load, store = bank_conflicts("ld.shared.v4.b32", pairs), bank_conflicts("st.shared.v4.b32", pairs)
    assert (load.wavefronts, load.ideal) == (2, 2)
    assert [phase.lanes for phase in load.phases] == [tuple(range(16)), tuple(range(16, 32))]
    assert (store.wavefronts, store.ideal) == (4, 4)
    halves = [16 * ((lane & ~2) % 8) for lane in LANES]
    assert bank_conflicts("ld.shared.v4.b32", halves).wavefronts == 2
    halves[5] += 16
    assert bank_conflicts("ld.shared.v4.b32", halves).wavefronts == 4
    turned = [16 * (lane % 4) for lane in LANES]
    assert bank_conflicts("ld.shared.v4.b32", turned).wavefronts == 4


@pytest.mark.parametrize("text", ["ld.global.b32", "ld.b32", "ld.shared", "ld.shared.v8.b32", "add.f32", "m8n8.b8"])
def test_what_reaches_no_bank_is_unsupported(text: str) -> None:
    with pytest.raises(UnsupportedForm):
        bank_conflicts(text, [0] * 32)


def test_movmatrix_reaches_no_memory() -> None:
    with pytest.raises(UnsupportedForm, match="does not access memory"):
        bank_conflicts("movmatrix.sync.aligned.m8n8.trans.b16", [0] * 32)


@pytest.mark.parametrize(
    ("addresses", "says"),
    [([0] * 31, "of shape"), ([0.5] * 32, "float64"), ([8] * 32, "multiple of 16"), ([-16] * 32, "not negative")],
)
def test_wrong_addresses_are_named(addresses: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        bank_conflicts("m8n8.x4.b16", addresses)
