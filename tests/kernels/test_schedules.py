"""The order of warps and the number of host threads change nothing that a race-free kernel leaves."""

from __future__ import annotations

import pytest

from kernels.case import KernelCase, differs
from kernels.catalog import cases
from ptxloom.machine import Kernel, kernel
from ptxloom.syntax import parse

NAMES = (
    "cooperation.cluster_histogram",
    "cooperation.grid_rounds",
    "cooperation.lane_lock",
    "cooperation.producer_mbarrier",
    "cooperation.producer_named",
    "cooperation.ticket_lock",
    "dense.lu",
    "reductions.reduce_shared",
    "scans.scan_lookback",
    "sorts.sort_radix",
    "tensor.hgemm_half",
    "triton_matmul.matmul",
)
CASES = [case for case in cases() if case.name in NAMES]
SEEDS = range(12)


def ready(case: KernelCase) -> Kernel:
    return kernel(parse(case.ptx("sm_90")), case.kernel, target="sm_90")


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_a_race_free_kernel_leaves_the_same_bytes(case: KernelCase) -> None:
    prepared = ready(case)
    expected = case.expected("sm_90")
    cluster = 2 if case.kernel == "cluster_histogram" else 1
    for seed in SEEDS:
        arguments = case.arguments()
        shape = (case.grid, case.block, arguments, case.shared_bytes)
        prepared.launch(*shape, cluster=cluster, threads=1 + seed % 3, schedule_seed=seed, timeout=300)
        for position, wanted in zip(case.outputs, expected.arrays, strict=True):
            assert differs(arguments[position], wanted, case.tolerance) is None, f"seed {seed}, argument {position}"


def test_every_named_case_exists() -> None:
    assert {case.name for case in CASES} == set(NAMES)
