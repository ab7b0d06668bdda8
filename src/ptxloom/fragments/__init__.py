"""Which lane, register and bits hold which element of a matrix; PTX ISA 9.7.14 to 9.7.16."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.lazy import later

if TYPE_CHECKING:
    from ptxloom.fragments.derive import fragment, fragment_operands
    from ptxloom.fragments.errors import UndefinedBehavior
    from ptxloom.fragments.model import Axis, Digit, Element, Evidence, Fragment

__all__ = ["Axis", "Digit", "Element", "Evidence", "Fragment", "UndefinedBehavior", "fragment", "fragment_operands"]

__getattr__ = later(
    __name__,
    {
        "ptxloom.fragments.derive": "fragment fragment_operands",
        "ptxloom.fragments.errors": "UndefinedBehavior",
        "ptxloom.fragments.model": "Axis Digit Element Evidence Fragment",
    },
)
