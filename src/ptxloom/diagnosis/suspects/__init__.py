"""Which instruction makes a result differ from its reference: tries single changes until one mends all of it."""

from __future__ import annotations

from ptxloom.diagnosis.suspects.search import search
from ptxloom.diagnosis.suspects.trials import Trials
from ptxloom.diagnosis.suspects.verdict import diagnoses

__all__ = ["Trials", "diagnoses", "search"]
