"""`ptxloom debug`: a kernel on its way to machine code, for anyone who looks for a fault in the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.cli.results.output import Outcome, style_for
from ptxloom.cli.sources.cuda_flags import flags_for
from ptxloom.cli.sources.inputs import read
from ptxloom.cli.sources.kernels import chosen_kernel
from ptxloom.machine import kernel
from ptxloom.machine.port.prepare import read_checks
from ptxloom.machine.port.stages import listing, planned
from ptxloom.syntax.parser import parse_source
from ptxloom.tellings import told
from ptxloom.views.runs import plans, tellings_text

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options


def run(options: Options) -> Outcome:
    """Print one stage of one kernel, or all that is known of an opcode."""
    if options.stage == "opcode":
        return Outcome(tellings_text.page(told(options.file)))
    source = read(options.file, options.target, flags_for(options, options.file, target=options.target))
    module = parse_source(source)
    made = kernel(module, chosen_kernel(module, options.function, "--function"), options.target)
    made = made.fused if options.contract == "fused" else made
    checks = read_checks(options.checks)
    if options.stage == "plan":
        return Outcome(plans.full(planned(made), style_for(options)))
    return Outcome(listing(made, options.stage, checks=checks, whole=not options.part))
