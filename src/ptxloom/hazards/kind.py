"""A kind of hazard as a value, and its page."""

from __future__ import annotations

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import Severity


@dataclass(frozen=True, slots=True)
class HazardKind:
    """One kind of hazard.

    Attributes:
        tool: memcheck, racecheck, initcheck or synccheck.
        name: Kebab-case, unique within the tool.
        about: What the tool finds, as a sentence.
        message: A sentence, lower case, no full stop.
        help: What to do.
        section: The manual's section; empty for that of the instruction at fault.
        severity: A warning if the results can be right anyway.
    """

    tool: str
    name: str
    about: str
    message: str
    help: str
    section: str = ""
    severity: Severity = Severity.ERROR

    @property
    def rule(self) -> str:
        """Its name in reports, such as `memcheck.misaligned`."""
        return f"{self.tool}.{self.name}"

    @property
    def markdown(self) -> str:
        """Its page."""
        what = f"{self.tool} finds it while a kernel runs (`ptxloom run --checks {self.tool}`)."
        grave = "A warning: the results can be right anyway." if self.severity is Severity.WARNING else ""
        section = f"PTX ISA {self.section}" if self.section else "That of the instruction at fault."
        parts = [
            f"# {self.rule}",
            f"## What it does\n\n{self.about}",
            f"## Found by\n\n{' '.join(filter(None, (what, grave)))}",
            f"## Use instead\n\n{self.help[0].upper()}{self.help[1:]}.",
            f"## Manual section\n\n{section}",
        ]
        return "\n\n".join(parts) + "\n"
