"""What hardware computes with machine code as ptxas makes it by default, the machine computes fused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import ptxloom as pl
from kernels.case import differs, read_ptx
from kernels.catalog import cases as kernel_cases
from ptxloom.syntax import parse
from recorded.ptxas.contraction_cases import MIXTURES, cases, given, module_text, stored_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kernels.case import KernelCase

RECORDED: Final = dict(np.load(Path(__file__).parent / "fused.npz"))
KERNELS: Final = sorted({key.rpartition("/")[0] for key in RECORDED if key.count("/") == 2})


def launched(case: KernelCase, architecture: str, contract: str) -> dict[str, NDArray[Any]]:
    arguments = case.arguments()
    kernel = pl.kernel(parse(read_ptx(case.source, architecture)), case.kernel, "sm_90")
    kernel.launch(case.grid, case.block, list(arguments), case.shared_bytes, contract=contract)
    return {f"{case.name}/{architecture}/{position}": arguments[position] for position in case.outputs}


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_that_fusing_changes(name: str) -> None:
    kernel, _, architecture = name.partition("/")
    case = next(case for case in kernel_cases() if case.name == kernel)
    wanted = {key: found for key, found in RECORDED.items() if key.startswith(f"{name}/")}
    fused, apart = (launched(case, architecture, contract) for contract in ("fused", "as written"))
    assert [differs(fused[key], wanted[key], 0.0) for key in wanted] == [None] * len(wanted)
    assert all(differs(apart[key], wanted[key], 0.0) for key in wanted)


@pytest.mark.sample(every=35)
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("name", [name for name, mixture in MIXTURES.items() if mixture.target == "sm_90"])
def test_programs(name: str, part: int) -> None:
    programs = cases(MIXTURES[name])
    module = parse(module_text(programs))
    wrong: list[str] = []
    for at in range(part, len(programs), 8):
        out = np.zeros(stored_bytes(programs[at]), np.uint8)
        pl.kernel(module, f"k{at}").launch(1, 1, [given(MIXTURES[name]), out], contract="fused")
        if out.tolist() != RECORDED[f"{name}/{at}"].tolist():
            wrong.append(f"k{at}: {programs[at].lines}")
    assert wrong == []
