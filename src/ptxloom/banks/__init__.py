"""What an access to shared memory costs: phases, wavefronts and bank conflicts, as ncu counts them."""

from __future__ import annotations

from ptxloom.banks.access import Access, access
from ptxloom.banks.report import BankReport, BankUse, Phase, bank_conflicts

__all__ = ["Access", "BankReport", "BankUse", "Phase", "access", "bank_conflicts"]
