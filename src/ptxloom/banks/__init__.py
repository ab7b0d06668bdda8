"""What an access to shared memory costs, as ncu counts it: bank conflicts, and the swizzles that avoid them."""

from __future__ import annotations

from ptxloom.banks.access import Access, access
from ptxloom.banks.report import BankReport, bank_conflicts
from ptxloom.banks.swizzles import Choice, Cost, Found, find_swizzles
from ptxloom.banks.tiles import Arrangement, Tile, make_tile
from ptxloom.banks.traffic import NoTile
from ptxloom.banks.warps import BankUse, Phase

__all__ = [
    "Access",
    "Arrangement",
    "BankReport",
    "BankUse",
    "Choice",
    "Cost",
    "Found",
    "NoTile",
    "Phase",
    "Tile",
    "access",
    "bank_conflicts",
    "find_swizzles",
    "make_tile",
]
