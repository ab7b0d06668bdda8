"""The results of a path on this machine: its kernel run by ptxloom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.conformance.inputs import cells, registers
from ptxloom.conformance.kernel_text import BLOCK, kernel_text, module_text, results_of
from ptxloom.conformance.operands import CELL_BYTES
from ptxloom.machine import kernel
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from ptxloom.conformance.inputs import Words
    from ptxloom.conformance.paths import Path
    from ptxloom.isa.target import Target
    from ptxloom.isa.version import PtxVersion

_CELL: Final = CELL_BYTES // 8


def threads_of(path: Path, cases: int) -> int:
    """The number of threads for a number of cases, in whole blocks."""
    return -(-cases * path.lanes // BLOCK) * BLOCK


def input_words(path: Path, threads: int) -> Words:
    """The input of a path's kernel: its parameter `in`."""
    parts = registers(path, 0, threads)
    if path.cell is not None:
        parts.append(cells(path, path.cell.type, 0, threads).reshape(-1))
    return np.concatenate(parts) if parts else np.zeros(1, np.uint64)


def result_words(path: Path, threads: int) -> int:
    """The number of words in the output of a path's kernel: its parameter `out`."""
    return threads * (results_of(path) + (_CELL if path.cell is not None else 0))


def run_here(path: Path, target: Target, version: PtxVersion, cases: int) -> Words:
    """The results of a path: the words of `out`.

    Raises:
        PtxloomError: The machine cannot run it.
    """
    threads = threads_of(path, cases)
    module = parse(module_text(version, target, [kernel_text("k", path, threads)]))
    out = np.zeros(result_words(path, threads), np.uint64)
    kernel(module, "k").launch(grid=threads // BLOCK, block=BLOCK, args=[out, input_words(path, threads)])
    return out
