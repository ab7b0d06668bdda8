"""The static judge: is this PTX legal, on this target and PTX version, and if not, why and what instead?"""

from ptxloom.checker.explain import RulePage, explain, rules
from ptxloom.checker.judge import check

__all__ = ["RulePage", "check", "explain", "rules"]
