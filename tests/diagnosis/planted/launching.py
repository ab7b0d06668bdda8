"""Launch a kernel of the catalogue, right or broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxloom.machine import kernel
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diagnosis.planted.model import Argument, Array, RightKernel
    from ptxloom.machine import LaunchResult


def launch(case: RightKernel, text: str, arguments: Sequence[Argument], **options: Any) -> LaunchResult:
    """Launch a text of a kernel with arguments of its own, on one thread, so that races always end alike."""
    made = kernel(parse(text, case.name), case.entry, target=case.target)
    return made.launch(case.grid, case.block, arguments, case.shared_bytes, threads=1, **options)


def outcome(case: RightKernel, text: str, arguments: Sequence[Argument]) -> tuple[Array, Array]:
    """What a text of a kernel leaves in its output, and what it should."""
    wanted = case.reference(*arguments)
    launch(case, text, arguments)
    found = arguments[case.output]
    assert isinstance(found, np.ndarray)
    return found, wanted
