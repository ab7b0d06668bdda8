"""Why a result is wrong: laws that need no reference, causes proved by undoing them, and the change that mends them."""

from __future__ import annotations

from ptxloom.diagnosis.diagnose import diagnose, examine
from ptxloom.diagnosis.examination import Examination, Unjudged
from ptxloom.diagnosis.model import Diagnosis, Repair
from ptxloom.diagnosis.pictures import Picture
from ptxloom.glossary import CAUSES, Cause

__all__ = [
    "CAUSES",
    "Cause",
    "Diagnosis",
    "Examination",
    "Picture",
    "Repair",
    "Unjudged",
    "diagnose",
    "examine",
]
