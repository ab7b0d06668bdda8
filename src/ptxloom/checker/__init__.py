"""The static judge: is this PTX legal, on this target and PTX version, and if not, why and what instead?"""

from ptxloom.checker.findings.selection import Selection
from ptxloom.checker.pages import RulePage, rule_page, rules
from ptxloom.checker.walk import check

__all__ = ["RulePage", "Selection", "check", "rule_page", "rules"]
