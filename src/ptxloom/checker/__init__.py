"""The static judge: is this PTX legal, on this target and PTX version, and if not, why and what instead?"""

from ptxloom.checker.explain import RulePage, explain, rules
from ptxloom.checker.judge import check
from ptxloom.checker.selection import Selection

__all__ = ["RulePage", "Selection", "check", "explain", "rules"]
