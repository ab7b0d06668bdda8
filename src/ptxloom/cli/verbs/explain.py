"""`ptxloom explain`: the page of a rule or of an opcode."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from ptxloom.checker import explain, rules
from ptxloom.cli.output import Outcome
from ptxloom.diagnostics import PtxloomError
from ptxloom.isa import explain as explain_opcode
from ptxloom.isa import instruction_spec, known, opcodes

if TYPE_CHECKING:
    from ptxloom.cli.arguments import Options


def run(options: Options) -> Outcome:
    """Print one page, or list what has one.

    Raises:
        PtxloomError: Nothing of that name has a page.
    """
    if not options.topic:
        return Outcome(contents())
    topic = options.topic.strip().strip("[]").lower()
    if topic in rules():
        return Outcome(explain(topic).markdown.rstrip() + "\n")
    opcode = topic.partition(".")[0]
    if known(opcode):
        return Outcome(explain_opcode(opcode).rstrip() + "\n")
    near = get_close_matches(topic, [*rules(), *opcodes()], n=1)
    hint = f"did you mean `{near[0]}`?" if near else "`ptxloom explain` lists what there is"
    raise PtxloomError(f"`{options.topic}` is neither a rule nor an opcode that ptxloom describes; {hint}")


def contents() -> str:
    """Every rule and every opcode that has a page, one a line."""
    listed = [(rule, " ".join(explain(rule).what.split())) for rule in rules()]
    described = [(opcode, instruction_spec(opcode).title) for opcode in opcodes()]
    width = max(len(name) for name, _ in (*listed, *described))
    sections = (("rules", listed), ("opcodes", described))
    return "\n".join(
        f"{head}:\n" + "".join(f"  {name:{width}}  {what}\n" for name, what in entries) for head, entries in sections
    )
