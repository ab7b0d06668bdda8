"""Every real kernel that the machine is held to: `cases()`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernels import basics, hopper, logic, matrices, science

if TYPE_CHECKING:
    from kernels.case import KernelCase


def cases() -> tuple[KernelCase, ...]:
    """The cases in order of name."""
    found = (*basics.CASES, *science.CASES, *logic.CASES, *hopper.CASES, *matrices.CASES)
    return tuple(sorted(found, key=lambda case: case.name))
