"""Which instructions hardware's recordings confirm, gathered from the recordings themselves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from kernels.case import read_ptx
from kernels.catalog import cases as kernel_cases
from machine.opcode_cases import families
from machine.opcode_recording import FOLDER, load
from ptxloom.machine.tensor.recipe import known_forms
from ptxloom.syntax import instructions, parse
from recorded.conformance import conformance_cases
from recorded.matrix import matrix_cases
from recorded.mma.mma_cases import cases, result_name
from recorded.textures import texture_cases
from recorded.wgmma import wgmma_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

MMA: Final = Path(__file__).parent / "mma" / "mma.npz"


def _spelled(text: str) -> Iterator[str]:
    """Every instruction of a PTX text, without its operands."""
    for one in instructions(parse(text)):
        yield ".".join((one.opcode, *one.qualifiers))


def by_themselves() -> set[str]:
    """Instructions whose results were recorded over their inputs, and are compared bit by bit."""
    found: set[str] = set()
    for family, known in families():
        path = FOLDER / f"{family}.npz.xz"
        for case in load(path, known) if path.exists() else ():
            found |= set(_spelled(re.sub(r"\{(\w)\}", r"%\1", case.text)))
    with np.load(MMA) as recorded:
        names = set(recorded["names"].tolist())
    found |= {form.spelling for form in known_forms() if result_name(form, 0, cases(form)[0]) in names}
    found |= {*matrix_cases.LOADS, *matrix_cases.STORES, *matrix_cases.SIGNED_LOADS, matrix_cases.TRANSPOSE}
    found |= {spelled for it in wgmma_cases.instructions() for spelled in _spelled(it.text)}
    found |= {conformance_cases.known()[one.path].form.spelling for one in conformance_cases.recorded().verdicts}
    for name in conformance_cases.SCENES:
        asked = conformance_cases.recorded(name).verdicts
        found |= {conformance_cases.scenes()[one.path].form.spelling for one in asked}
    found |= {spelled for case in texture_cases.cases() for spelled in _spelled(case.ptx)}
    return found


def text() -> str:
    """The table as the machine reads it."""
    alone = by_themselves()
    rows = [*(f"bits {one}" for one in alone), *(f"kernels {one}" for one in in_kernels() - alone)]
    return "".join(f"{row}\n" for row in sorted(rows))


def in_kernels() -> set[str]:
    """Instructions of whole kernels, all of whose output was recorded."""
    sources = {(case.source, architecture) for case in kernel_cases() for architecture in case.architectures}
    return {spelled for source, architecture in sources for spelled in _spelled(read_ptx(source, architecture))}
