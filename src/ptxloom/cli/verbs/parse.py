"""`ptxloom parse`: what the text says, as a summary, a tree or JSON."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ptxloom.cli.findings import render, verdict
from ptxloom.cli.inputs import read
from ptxloom.cli.output import Outcome, style_for
from ptxloom.syntax import parse, walk
from ptxloom.syntax.node import StatementNode
from ptxloom.views import findings, trees

if TYPE_CHECKING:
    from ptxloom.cli.arguments import Options
    from ptxloom.syntax import Module


def run(options: Options) -> Outcome:
    """Read one file."""
    source = read(options.file)
    module = parse(source.text, source.name)
    code, remark = verdict(module.diagnostics, 1)
    return Outcome(_text(module, options), code, remark if module.diagnostics else "")


def _text(module: Module, options: Options) -> str:
    """The module in the format asked for."""
    match options.output_format:
        case "json":
            return trees.as_json(module)
        case "full":
            said = findings.full(module.diagnostics, style_for(options))
            return (trees.text(module) if options.tree else _summary(module)) + ("\n" + said if said else "")
        case _:
            return render(module.diagnostics, options)


def _summary(module: Module) -> str:
    """The headline, and how many of each kind of statement there are."""
    kinds = Counter(type(node).__name__ for node in walk(module) if isinstance(node, StatementNode))
    return "\n".join([trees.headline(module), *(f"{n:8} {kind}" for kind, n in kinds.most_common())]) + "\n"
