"""Attacks on hot code: it is made before a launch, which makes none within its time limit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ptxloom.machine.compile import tiers
from ptxloom.machine.launch.launch_state import compiled_checks
from ptxloom.machine.native.tier import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.machine.kernel import Kernel


def choose(tier: str) -> None:
    """Have kernels run in a tier from here on."""
    os.environ[VARIABLE] = tier


def prepare(kernel: Kernel, checks: Iterable[str]) -> None:
    """Make hot code of a kernel, where it is asked for, if launches with these tools run it."""
    several = compiled_checks(frozenset(checks))
    if tiers.is_hot(whole=True, checks=several):
        kernel.code.address(whole=True, checks=several)
