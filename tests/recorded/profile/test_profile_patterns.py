"""What ncu counted on an H200 for single accesses: `banks` says the same of shared memory, the machine of global."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

from ptxloom.banks import bank_conflicts
from ptxloom.machine import kernel
from ptxloom.syntax import parse
from recorded.profile.profile_cases import GLOBAL_BYTES, ProfileCase, atomic_cases, profile_cases
from recorded.profile.profile_kernels import HEAD, kernel_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

FOLDER: Final = Path(__file__).parent
WAVEFRONTS: Final = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
CONFLICTS: Final = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
MATRIX_WAVEFRONTS: Final = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
MATRIX_CONFLICTS: Final = "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
SECTORS: Final = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
IDEAL: Final = "memory_l2_theoretical_sectors_global_ideal"
LOOPS: Final = ("red.shared.add.u64", "red.shared.add.f32")  # a loop around a compare-and-swap, with loads of its own


def recorded(part: str, cases: Iterator[ProfileCase]) -> dict[str, list[tuple[ProfileCase, dict[str, int]]]]:
    """The cases and what was counted, by instruction."""
    with np.load(FOLDER / f"{part}.npz") as kept:
        names = [str(name) for name in kept["counters"]]
        rows: list[list[int]] = kept["counts"].tolist()
    found: dict[str, list[tuple[ProfileCase, dict[str, int]]]] = {}
    for case, row in zip(cases, rows, strict=True):
        found.setdefault(case.instruction, []).append((case, dict(zip(names, row, strict=True))))
    return found


PATTERNS: Final = recorded("patterns", profile_cases())
ATOMICS: Final = recorded("atomics", atomic_cases())
SHARED: Final = [name for name in PATTERNS if ".shared" in name and not name.startswith("cp")]
GLOBAL: Final = [name for name in PATTERNS if ".global" in name and ".shared" not in name]


def counters(case: ProfileCase) -> tuple[str, str]:
    """What counts the wavefronts and the conflicts of a case."""
    if case.opcode in {"ldmatrix", "stmatrix"}:
        of = {"ldmatrix": "ldsm", "stmatrix": "stsm"}[case.opcode]
        return MATRIX_WAVEFRONTS.format(of), MATRIX_CONFLICTS.format(of)
    of = "atom" if case.opcode == "red" else case.opcode
    return WAVEFRONTS.format(of), CONFLICTS.format(of)


@pytest.mark.parametrize("instruction", [name for name in SHARED if name not in LOOPS])
def test_shared_accesses(instruction: str) -> None:
    for case, counted in PATTERNS[instruction]:
        report = bank_conflicts(instruction, case.first, case.active)
        assert (report.wavefronts, report.conflicts) == tuple(counted[name] for name in counters(case)), case.label


@pytest.mark.parametrize("instruction", LOOPS)
def test_loops_around_a_compare_and_swap_but_for_equal_addresses(instruction: str) -> None:
    """Two lanes of different phases that name one address: whether both succeed at once depends on what they add."""
    compared = 0
    for case, counted in PATTERNS[instruction]:
        size = 8 if instruction.endswith("64") else 4
        lanes = [lane for lane in range(32) if case.active >> lane & 1]
        named = {(int(case.first[lane]), lane * size // 128) for lane in lanes}
        if size == 8 and len({address for address, _ in named}) < len(named):
            continue
        compared += 1
        assert bank_conflicts(instruction, case.first, case.active).wavefronts == counted[counters(case)[0]], case.label
    assert compared >= 20


def differences(cases: list[tuple[ProfileCase, dict[str, int]]]) -> list[tuple[str, int]]:
    """Where the machine's sectors are not those that were counted: the case, and how many more were counted."""
    instruction = cases[0][0].instruction
    ready = kernel(parse(HEAD + kernel_of(cases[0][0]), instruction), cases[0][0].kernel)
    memory, out = (np.zeros(size, np.uint8) for size in (2 * GLOBAL_BYTES, 512))
    found: list[tuple[str, int]] = []
    for case, counted in cases:
        words: NDArray[Any] = case.first
        result = ready.launch(1, 32, [words.tobytes(), words.tobytes(), case.active, memory, out], profile=True)
        assert result.profile is not None
        (counts,) = (row.counts for row in result.profile.rows if f" {instruction} " in f" {row.instruction}")
        assert result.profile.totals.ideal_sectors == counted[IDEAL], case.label
        if counts.sectors != counted[SECTORS.format(case.opcode)]:
            found.append((case.label, counted[SECTORS.format(case.opcode)] - counts.sectors))
    return found


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("instruction", GLOBAL)
def test_global_accesses(instruction: str) -> None:
    narrow_atomic = instruction.startswith(("atom", "red")) and "64" not in instruction
    assert differences(PATTERNS[instruction]) == [("random 0", 1)] * narrow_atomic


@pytest.mark.parametrize(("instruction", "missed"), [(name, 9 if "64" in name else 3) for name in ATOMICS])
def test_atomic_operations_in_disorder(instruction: str, missed: int) -> None:
    """Lanes that name one address go one after the other; a few crowds of lanes cost a sector or two more."""
    found = differences(ATOMICS[instruction])
    assert len(ATOMICS[instruction]) == 86
    assert len(found) == missed
    assert {more for _, more in found} <= {1, 2}
