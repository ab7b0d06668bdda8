"""`ptxloom debug`: a kernel on its way to machine code, for whoever looks for a fault in the machine."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ptxloom.cli.hazard_options import read_checks
from ptxloom.cli.inputs import read
from ptxloom.cli.output import Outcome, style_for
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.machine import kernel
from ptxloom.machine.compile import listing
from ptxloom.syntax import parse
from ptxloom.views.runs import plans

if TYPE_CHECKING:
    from ptxloom.cli.arguments import Options
    from ptxloom.syntax import Module


def run(options: Options) -> Outcome:
    """Print one stage of one kernel."""
    source = read(options.file, options.target)
    module = parse(source.text, source.name)
    made = kernel(module, _chosen(module, options.function), options.target)
    made = made.fused if options.contract == "fused" else made
    program = made.program
    checks = frozenset(read_checks(options.checks))
    match options.stage:
        case "plan":
            return Outcome(plans.full(program, style_for(options), made.fusions))
        case "ir":
            return Outcome(listing.kernel_ir(program, whole=not options.part, checks=checks))
        case "asm":
            return Outcome(listing.kernel_assembly(program, whole=not options.part, checks=checks))
        case _:
            return Outcome(listing.runtime_ir(program, whole=not options.part, checks=checks))


def _chosen(module: Module, pattern: str | None) -> str:
    """The name of the one kernel that is meant.

    Raises:
        UsageError: There is no such kernel.
        PtxloomError: The module has none, or several, and nobody says which.
    """
    names = [f.name for f in module.functions.values() if f.kind == "entry"]
    if not names:
        raise PtxloomError(f"{module.source.name} holds no kernel")
    if pattern is None and len(names) > 1:
        raise PtxloomError(f"{module.source.name} holds several kernels; name one with --function: {', '.join(names)}")
    found = [name for name in names if fnmatchcase(name, pattern or "*")]
    if len(found) != 1:
        raise UsageError("--function", pattern, f"one of {', '.join(names)}")
    return found[0]
