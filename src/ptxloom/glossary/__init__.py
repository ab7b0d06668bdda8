"""Words that people ask with and PTX does not have: causes of wrong results, and what the documents call things."""

from __future__ import annotations

from ptxloom.glossary.causes import CAUSES, Cause
from ptxloom.glossary.concepts import Concept, concepts

__all__ = ["CAUSES", "Cause", "Concept", "concepts"]
