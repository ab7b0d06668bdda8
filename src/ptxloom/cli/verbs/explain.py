"""`ptxloom explain`: the page of a rule, a hazard, an opcode, a special register, a directive or a target."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from ptxloom.checker import explain, rules
from ptxloom.cli.output import Outcome
from ptxloom.diagnostics import PtxloomError
from ptxloom.isa import explain as explain_opcode
from ptxloom.isa import instruction_spec, known, opcodes
from ptxloom.isa.word_page import word_page
from ptxloom.isa.words import directives, special_about, special_names

if TYPE_CHECKING:
    from ptxloom.cli.arguments import Options

TOOLS: Final = ("memcheck", "racecheck", "initcheck", "synccheck")


def run(options: Options) -> Outcome:
    """Print one page, or list what has one.

    Raises:
        PtxloomError: Nothing of that name has a page.
    """
    if not options.topic:
        return Outcome(contents())
    written = options.topic.strip().strip("[]").rstrip(";").partition(" ")[0]
    topic = written.lower()
    if topic in rules():
        return Outcome(explain(topic).markdown.rstrip() + "\n")
    if topic.partition(".")[0] in TOOLS:
        return Outcome(_hazards(topic))
    opcode, *qualifiers = written.split(".")
    if known(opcode.lower()):
        return Outcome(explain_opcode(opcode.lower(), tuple(filter(None, qualifiers))).rstrip() + "\n")
    page = word_page(topic) or word_page(f".{topic}") or word_page(f"%{topic}")
    if page:
        return Outcome(page.rstrip() + "\n")
    names = [*rules(), *opcodes(), *special_names(), *(f".{name}" for name in directives())]
    near = get_close_matches(topic, names, n=1)
    hint = f"did you mean `{near[0]}`?" if near else "`ptxloom explain` lists what there is"
    raise PtxloomError(f"`{options.topic}` is nothing that ptxloom describes; {hint}")


def _hazards(topic: str) -> str:
    """The page of a kind of hazard, or the list of a tool's.

    Raises:
        PtxloomError: There is no such kind.
    """
    from ptxloom.machine.results.hazard_kinds import BY_RULE  # noqa: PLC0415 - brings NumPy and llvmlite
    from ptxloom.views.runs.hazard_reports import page  # noqa: PLC0415 - likewise

    if topic in BY_RULE:
        return page(BY_RULE[topic])
    listed = {rule: kind.about for rule, kind in BY_RULE.items() if rule.startswith(f"{topic}.")}
    if not listed:
        near = get_close_matches(topic, BY_RULE, n=1)
        raise PtxloomError(f"`{topic}` is no hazard" + (f"; did you mean `{near[0]}`?" if near else ""))
    width = max(map(len, listed))
    return "".join(f"{rule:{width}}  {about}\n" for rule, about in listed.items())


def _in_short(text: str) -> str:
    """How a page begins, up to the first stop and without what is in brackets: what stands beside its name."""
    line = re.sub(r" \([^()]*\)", "", " ".join(text.split()))
    return re.split(r"[.:;](?:\s|$)", line, maxsplit=1)[0]


def contents() -> str:
    """Everything that has a page, one a line."""
    listed = [(rule, _in_short(explain(rule).what)) for rule in rules()]
    described = [(opcode, instruction_spec(opcode).title) for opcode in opcodes()]
    special = [(name, special_about(name)) for name in special_names()]
    written = [(f".{name}", words.about) for name, words in directives().items()]
    width = max(len(name) for name, _ in (*listed, *described, *special, *written))
    tools = [(tool, f"hazards that a run finds: `ptxloom explain {tool}` lists them") for tool in TOOLS]
    sections = (
        ("rules", listed),
        ("hazards", tools),
        ("opcodes", described),
        ("special registers", special),
        ("directives", written),
    )
    return "\n".join(
        f"{head}:\n" + "".join(f"  {name:{width}}  {what}\n" for name, what in entries) for head, entries in sections
    )
