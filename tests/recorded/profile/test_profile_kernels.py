"""What ncu counted on an H200 for whole kernels that ptxas left as the PTX says (-O0), replayed by the machine."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from kernels.catalog import cases
from ptxloom.machine import kernel
from ptxloom.syntax import parse
from recorded.profile.profile_examples import Example, examples

if TYPE_CHECKING:
    from kernels.case import KernelCase
    from ptxloom.machine.results.profile import Profile

LOADS: Final = ("ld", "ldmatrix", "cp", "wmma.load")
STORES: Final = ("st", "wmma.store")
ATOMICS: Final = ("atom", "red")
WAVEFRONTS: Final = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
BY_INSTRUCTION: Final = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
CONFLICTS: Final = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
SECTORS: Final = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
COLUMNS: Final = {  # of ours: the field, the opcodes and ncu's counters, which are added
    "loads": ("wavefronts", ("ld", "ldmatrix", "wmma.load"), (WAVEFRONTS.format("ld"),)),
    "stores": ("wavefronts", STORES, (BY_INSTRUCTION.format("st"),)),
    "atomics": ("wavefronts", ATOMICS, (BY_INSTRUCTION.format("atom"),)),
    "ldmatrix": ("wavefronts", ("ldmatrix",), (BY_INSTRUCTION.format("ldsm"),)),
    "stmatrix": ("wavefronts", ("stmatrix",), (BY_INSTRUCTION.format("stsm"),)),
    "conflicts of loads": ("conflicts", ("ld", "ldmatrix", "wmma.load"), (CONFLICTS.format("ld"),)),
    "conflicts of stores": ("conflicts", (*STORES, "stmatrix"), (CONFLICTS.format("st"),)),
    "conflicts of atomics": ("conflicts", ATOMICS, (CONFLICTS.format("atom"),)),
    "sectors loaded": ("sectors", LOADS, (SECTORS.format("ld"),)),
    "sectors stored": ("sectors", STORES, (SECTORS.format("st"),)),
    "sectors of atomics": ("sectors", ATOMICS, tuple(SECTORS.format(op) for op in ATOMICS)),
    "ideal sectors": ("ideal_sectors", (*LOADS, *STORES, *ATOMICS), ("memory_l2_theoretical_sectors_global_ideal",)),
}
GLOBAL: Final = frozenset(name for name in COLUMNS if "sectors" in name)
WAITING: Final = "warps look again and again until another has written: how often is a matter of time"
ORDER: Final = "which lanes go together after they have parted is for the hardware to choose"
ASIDE: Final = "ncu counts a few conflicts of stores with other work; the wavefronts are equal"
DIFFERENT: Final[dict[str, tuple[str, frozenset[str]]]] = {
    "cooperation.grid_rounds": (WAITING, GLOBAL),
    "cooperation.spin_lock": (WAITING, GLOBAL),
    "cooperation.ticket_lock": (WAITING, GLOBAL),
    "graphs.union_find": (WAITING, GLOBAL),
    "scans.scan_lookback": (WAITING, GLOBAL | {"conflicts of stores"}),
    "triton_atomics.atomics": (WAITING, frozenset(COLUMNS)),
    "control.ackermanns": (ORDER, GLOBAL),
    "control.leavers": (ORDER, GLOBAL),
    "control.queens_counts": (ORDER, GLOBAL),
    "control.quicksorts": (ORDER, GLOBAL),
    "dense.lu": (ASIDE, frozenset({"conflicts of stores"})),
    "sorts.sort_bitonic": (ASIDE, frozenset({"conflicts of stores"})),
    "printing.hello": ("ptxas makes calls of printf that write to a buffer", GLOBAL),
    "printing.lists": ("ptxas makes calls of printf and malloc that go to memory", GLOBAL),
    "cooperation.atomic_medley": ("ptxas makes loops of what the hardware cannot do at once", GLOBAL),
    "cooperation.cluster_histogram": (
        "ncu does not count what goes to the shared memory of another CTA",
        frozenset({"atomics", "conflicts of atomics"}),
    ),
    "tensor.wmma_gemm": ("ptxas stores two registers at once", frozenset({"sectors stored"})),
}

with np.load(Path(__file__).parent / "kernels.npz") as recorded:
    COUNTERS = [str(name) for name in recorded["counters"]]
    COUNTS: dict[str, list[int]] = {
        str(name): row for name, row in zip(recorded["names"], recorded["counts"].tolist(), strict=True)
    }
CASES: Final = (*examples(), *(case for case in cases() if "sm_90" in case.architectures))


def profiled(case: KernelCase | Example) -> Profile:
    ready = kernel(parse(case.ptx("sm_90"), case.name), case.kernel)
    arguments = list(case.arguments())
    result = ready.launch(case.grid, case.block, arguments, case.shared_bytes, profile=True, threads=1, timeout=300)
    assert result.profile is not None
    return result.profile


def opcode(instruction: str) -> str:
    """The opcode; of wmma, also what it does."""
    words = instruction.split()
    parts = words[1 if words[0].startswith("@") else 0].rstrip(";").split(".")
    return ".".join(parts[:2]) if parts[0] == "wmma" else parts[0]


@pytest.mark.sample(every=9)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_kernel_costs_what_ncu_counted(case: KernelCase | Example) -> None:
    counted = dict(zip(COUNTERS, COUNTS[f"{case.name} O0"], strict=True))
    ours = Counter[tuple[str, str]]()
    for row in profiled(case).rows:
        for field in ("wavefronts", "conflicts", "sectors", "ideal_sectors"):
            ours[field, opcode(row.instruction)] += getattr(row.counts, field)
    _, aside = DIFFERENT.get(case.name, ("", frozenset[str]()))
    for column, (field, opcodes, counters) in COLUMNS.items():
        if column not in aside:
            assert sum(ours[field, one] for one in opcodes) == sum(counted[name] for name in counters), column


def test_what_is_named_as_different_is_a_kernel() -> None:
    assert set(DIFFERENT) <= {case.name for case in CASES}
    assert len(COUNTS) == 2 * len(CASES)
