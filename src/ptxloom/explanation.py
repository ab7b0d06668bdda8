"""The page of every word that ptxloom knows: of rules, hazards, instructions, special registers, directives, targets.

The pages themselves are with their facts; this module finds them.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from ptxloom.atoms import copy_atoms
from ptxloom.atoms.page import atom_page
from ptxloom.checker import rule_page, rules
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import TOOLS, PtxloomError, UsageError, must_be
from ptxloom.display import mimebundle
from ptxloom.fragments import fragment_operands
from ptxloom.glossary import CAUSES, concepts
from ptxloom.hazards.kinds import BY_RULE
from ptxloom.isa import instruction_page, instruction_spec, known, opcodes
from ptxloom.isa.pages.word_page import word_page
from ptxloom.isa.pages.words import directives, special_about, special_names

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Page:
    """What ptxloom knows of a word.

    Attributes:
        word: What it is about, as it is written in PTX or in reports.
        kind: "rule", "hazard", "tool", "instruction", "special register", "directive", "cause" of a wrong result,
            "concept", "atom" of CuTe, or "word" for types and targets.
        markdown: The page.

    Example:
        >>> explain("%laneid").kind
        'special register'
    """

    word: str
    kind: str
    markdown: str

    _repr_mimebundle_ = mimebundle

    def __str__(self) -> str:
        return self.markdown


@dataclass(frozen=True, slots=True)
class Topic:
    """A word that has a page, and what the page is about.

    Attributes:
        word: The word.
        kind: As of `Page`.
        about: In short.

    Example:
        >>> [topic.about for topic in topics() if topic.word == "ret"]
        ['return']
    """

    word: str
    kind: str
    about: str


def explain(word: str) -> Page:
    """The page about a word: what `ptxloom explain` prints.

    Args:
        word: A rule (`missing-trans`), a hazard (`racecheck.read-after-write`) or the tool that finds it, an opcode,
            with qualifiers or without (`cp.async.bulk`), a special register (`%laneid`), a directive (`.reqntid`), a
            cause that `why` names (`k-twice`), a word of the documents (`core matrix`), a type (`.f16x2`), a target
            (`sm_90a`) or an atom of CuTe (`SM75_U32x4_LDSM_N`). `ptxloom explain` lists them.

    Returns:
        The page; `print` shows the whole of it.

    Raises:
        UsageError: There is no page of that name; the message names the nearest one.
        UnsupportedForm: The opcode is known, but no form of it has these qualifiers.

    Example:
        >>> print(explain("missing-trans").markdown.splitlines()[4])
        Finds a shape that exists in column-major order only and lacks `.trans`.
    """
    must_be(str, "word", word, 'a word that has a page, such as "missing-trans" or "cp.async"')
    if page := _of_glossary(" ".join(word.lower().split())):
        return page
    written = word.strip().strip("[]").rstrip(";").partition(" ")[0]
    low = written.lower()
    if low in rules():
        return Page(low, "rule", rule_page(low).markdown + _found_by(low))
    if low.partition(".")[0] in TOOLS:
        return _of_runs(low)
    opcode, *qualifiers = written.split(".")
    if known(opcode.lower()):
        words = tuple(filter(None, qualifiers))
        text = instruction_page(opcode.lower(), words)
        head, mark, tail = text.rpartition("\nManual section: ")
        return Page(low, "instruction", f"{head}{maps_of(opcode.lower(), words)}{mark}{tail}")
    for spelled in (low, f".{low}", f"%{low}"):
        if text := word_page(spelled):
            return Page(spelled, _kind(spelled), text)
    if text := atom_page(written):
        return Page(written, "atom", text)
    raise _unknown("word", word, [topic.word for topic in topics()])


def maps_of(opcode: str, words: tuple[str, ...] = ()) -> str:
    """The part of an instruction's page on how to see which lane holds what; empty if it holds no matrix.

    Args:
        opcode: The instruction.
        words: Its qualifiers, if a page is only about some forms.

    Example:
        >>> print(*[line for line in maps_of("tcgen05", ("shift",)).split() if "shift" in line])
        tcgen05.shift.cta_group::1.down
    """
    examples = (each.split()[0].rstrip(";") for each in instruction_spec(opcode).examples)
    fitting = [each for each in examples if {*words} <= {*each.split(".")}]
    commands = [command for each in fitting or (".".join((opcode, *words)),) for command in _maps(each)]
    listed = "\n".join(dict.fromkeys(commands))
    return f"\n## Which lane holds what\n\n```\n{listed}\n```\n" if listed else ""


def _maps(spelled: str) -> tuple[str, ...]:
    """The commands that draw a form; empty if there is no such form, or if it holds no matrix."""
    try:
        operands = fragment_operands(spelled)
    except PtxloomError:
        return ()
    return tuple(f"ptxloom map {spelled}" + f" --operand {operand}" * bool(operand) for operand in operands)


def _of_glossary(word: str) -> Page | None:
    """The page of a cause of wrong results, or of a word of the documents."""
    if word in CAUSES:
        return Page(word, "cause", CAUSES[word].markdown)
    return Page(word, "concept", concepts()[word].markdown) if word in concepts() else None


def _found_by(rule: str) -> str:
    """The functions that make a rule's findings, for readers of the source."""
    from ptxloom.checker.index import finders  # noqa: PLC0415 - only here is the code itself read

    return "\n## Found by\n\n" + "".join(f"- `{name}`\n" for name in finders(rule))


def _kind(word: str) -> str:
    if word.startswith("%"):
        return "special register"
    return "directive" if word.removeprefix(".") in directives() else "word"


def _unknown(argument: str, word: str, words: list[str]) -> UsageError:
    near = get_close_matches(word.lower(), words, n=1)
    hint = f"did you mean `{near[0]}`?" if near else "`ptxloom explain` lists them"
    return UsageError(argument, word, f"a word that has a page; {hint}")


def _of_runs(word: str) -> Page:
    """The page of a kind of hazard, or the list of those that a tool finds.

    Raises:
        UsageError: There is no such kind.
    """
    if word in BY_RULE:
        return Page(word, "hazard", BY_RULE[word].markdown)
    listed = {rule: kind.about for rule, kind in BY_RULE.items() if rule.startswith(f"{word}.")}
    if not listed:
        raise _unknown("word", word, list(BY_RULE))
    width = max(map(len, listed))
    return Page(word, "tool", "".join(f"{rule:{width}}  {about}\n" for rule, about in listed.items()))


def topics() -> Iterator[Topic]:
    """Everything that has a page and can be listed, by kind.

    Returns:
        The topics; kinds of hazards stand on the pages of their tools.
    """
    yield from (Topic(rule, "rule", _in_short(rule_page(rule).what)) for rule in rules())
    for tool in TOOLS:
        yield Topic(tool, "tool", f"hazards that a run finds: `ptxloom explain {tool}` lists them")
    yield from (Topic(name, "cause", _in_short(one.about)) for name, one in CAUSES.items())
    yield from (Topic(name, "concept", _in_short(one.about)) for name, one in concepts().items())
    yield from (Topic(opcode, "instruction", instruction_spec(opcode).title) for opcode in opcodes())
    yield from (Topic(name, "special register", special_about(name)) for name in special_names())
    yield from (Topic(f".{name}", "directive", words.about) for name, words in directives().items())
    yield from (Topic(one.name, "atom", one.ptx) for one in copy_atoms() if one.name)


def _in_short(text: str) -> str:
    """The start of a page, up to the first stop and without brackets: its summary in lists."""
    line = re.sub(r" \([^()]*\)", "", " ".join(text.split()))
    return re.split(r"[.:;](?:\s|$)", line, maxsplit=1)[0]
