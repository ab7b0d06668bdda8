"""The pages of the reference that are made when the site is built: from the ISA data, the command line and the API.

    python tools/docs/reference.py FOLDER

writes them; `docs/conf.py` does that before each build. Nothing here knows a fact: every text is one that
`ptxloom explain`, `ptxloom VERB --help` or a docstring shows.
"""

from __future__ import annotations

import re
import sys
from inspect import ismodule
from pathlib import Path
from typing import TYPE_CHECKING, Final

import ptxloom
from ptxloom.cli.command_line import INTRODUCTION, VERBS, build_parser
from ptxloom.cli.json_schemas import NAMES, schema
from ptxloom.cli.usage.examples import EXAMPLES, EXITS
from ptxloom.diagnostics import TOOLS, PtxloomError
from ptxloom.explanation import Topic, explain, maps_of, topics
from ptxloom.fragments import fragment_operands
from ptxloom.hazards.kinds import BY_RULE
from ptxloom.isa import instruction_spec
from ptxloom.isa.target import targets
from ptxloom.isa.types import element_type, is_type
from ptxloom.views.core.json_text import to_text
from ptxloom.views.pictures import draw

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator

EACH: Final = {"rule": "rules", "instruction": "instructions"}
"""Kinds of which every word has a page of its own, and the folder of these pages."""
TOGETHER: Final = {"special register": "special-registers", "directive": "directives"}
"""Kinds whose words share a page."""
INTRODUCTIONS: Final = {
    "rules": "What `ptxloom check` can find. `ptxloom explain RULE` prints a rule's page.",
    "instructions": "Every opcode of PTX: its forms, operands, constraints and availability. "
    "`ptxloom explain OPCODE` prints its page.",
    "special-registers": "`ptxloom explain %laneid` prints one of these entries.",
    "directives": "`ptxloom explain .reqntid` prints one of these entries.",
    "hazards": "What the tools can find while a kernel runs (`ptxloom run --checks TOOLS`).",
    "targets": "The architectures that a module can be written for (`.target`).",
    "types": "The types of registers, variables and elements. `ptxloom explain .f16x2` prints one of these entries.",
    "json": "What each verb prints as JSON, profiles, and launch files. `ptxloom schema NAME` prints one of these.",
    "command-line": INTRODUCTION,
    "api": "Everything here is documented in the docstrings, too: `help(ptxloom.fragment)`.",
}


def main(folder: Path) -> None:
    """Write every page, and remove those that are no more."""
    made = dict(pages())
    for path in folder.rglob("*.md"):
        if path.relative_to(folder).as_posix() not in made:
            path.unlink()
    for name, text in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # what has not changed is not built again
            path.write_text(text, encoding="utf-8")


def pages() -> Iterator[tuple[str, str]]:
    """Every page: its file's name and its Markdown."""
    known = list(topics())
    for kind, folder in EACH.items():
        of_kind = [topic for topic in known if topic.kind == kind]
        yield f"{folder}/index.md", _index(folder, of_kind)
        yield from ((f"{folder}/{topic.word}.md", _own_page(topic)) for topic in of_kind)
    for kind, name in TOGETHER.items():
        words = [topic.word for topic in known if topic.kind == kind]
        yield f"{name}.md", _joined(name, ((word, explain(word).markdown) for word in words))
    yield "hazards.md", _hazards()
    yield "types.md", _joined("types", ((word, explain(word).markdown) for word in _types()))
    yield "targets.md", _joined("targets", ((str(one), explain(str(one)).markdown) for one in targets()))
    yield "command-line.md", _command_line()
    yield "json.md", _joined("json", ((name, f"```json\n{to_text(schema(name))}```\n") for name in NAMES))
    yield from _api()


def _types() -> list[str]:
    """Every type that an instruction takes, by kind and width."""
    texts = (explain(topic.word).markdown for topic in topics() if topic.kind == "instruction")
    names = {name for text in texts for name in re.findall(r"\.(\w+)", text) if is_type(name)}
    known = sorted((one.kind, one.storage_bits, one.bits, one.name) for one in map(element_type, names))
    return [f".{name}" for *_, name in known]


def _index(folder: str, words: list[Topic]) -> str:
    """A list of the pages in a folder."""
    rows = "".join(f"| [`{topic.word}`]({topic.word}.md) | {_cell(topic.about)} |\n" for topic in words)
    pages = "".join(f"{topic.word} <{topic.word}>\n" for topic in words)
    return f"{_head(folder)}| | |\n|---|---|\n{rows}\n```{{toctree}}\n:hidden:\n\n{pages}```\n"


def _own_page(topic: Topic) -> str:
    """The page as `explain` prints it; of an instruction that moves or multiplies matrices with their maps."""
    text = _tidy(explain(topic.word).markdown)
    maps = "".join(_maps(topic.word)) if topic.kind == "instruction" else ""
    if not maps:
        return text
    text = text.replace(maps_of(topic.word), "\n")  # the pictures that these commands draw stand there instead
    about, syntax, rest = text.partition("\n## ")  # the maps stand before the syntax
    return f"{about}\n## Which lane holds what\n\n{maps}{syntax.removeprefix(chr(10))}{rest}"


def _maps(opcode: str) -> Iterator[str]:
    """A picture of each of the instruction's own examples that holds matrices."""
    spec = instruction_spec(opcode)
    for spelling in dict.fromkeys(example.split()[0].rstrip(";") for example in spec.examples if spec.judged):
        for operand in _drawn_operands(spelling):
            which = f" --operand {operand}" if operand else ""
            caption = f"Which lane holds which element of {spelling}{f', operand {operand}' if operand else ''}"
            yield f"```{{picture}} {caption}\nptxloom map {spelling}{which} -o map.svg\n```\n\n"


def _drawn_operands(spelling: str) -> tuple[str, ...]:
    """The operands that are drawn one by one; `""` where one picture shows all of them."""
    operands = _operands(spelling)
    if len(operands) < 2:
        return ("",) * len(operands)
    try:
        draw(spelling)
    except PtxloomError:
        return operands
    return ("",)


def _operands(spelling: str) -> tuple[str, ...]:
    """The operands that hold matrices; none of an instruction without."""
    try:
        return fragment_operands(spelling)
    except PtxloomError:
        return ()


def _joined(name: str, entries: Iterable[tuple[str, str]]) -> str:
    """Short pages as sections of one."""
    return _head(name) + "\n".join(f"## `{word}`\n\n{_tidy(text)}" for word, text in entries)


def _hazards() -> str:
    parts = [_head("hazards")]
    for tool in TOOLS:
        parts.append(f"## {tool}\n\n")
        of_tool = (kind for rule, kind in BY_RULE.items() if rule.startswith(f"{tool}."))
        parts += [_deeper(_tidy(kind.markdown), 2) + "\n" for kind in of_tool]
    return "".join(parts)


def _command_line() -> str:
    return _head("command-line") + "\n".join(_verb(verb, about) for verb, (about, _) in VERBS.items())


def _verb(verb: str, about: str) -> str:
    """One verb: its usage, its arguments and options by group, examples and exit codes."""
    (verbs,) = (action.choices for action in build_parser(verb)._actions if action.dest == "verb")  # noqa: SLF001 - argparse has no other way to ask
    parser: argparse.ArgumentParser = verbs[verb]  # type: ignore[index]
    parts = [f"## {verb}\n\n{about[0].upper()}{about[1:]}.\n"]
    for group in parser._action_groups:  # noqa: SLF001 - likewise
        entries = "".join(_option(parser, action) for action in group._group_actions if action.dest != "help")  # noqa: SLF001
        if entries:
            title = group.title if group.title != "positional arguments" else "arguments"
            described = f"{group.description}\n\n" if group.description else ""
            parts.append(f"**{title[0].upper()}{title[1:]}**\n\n{described}| | |\n|---|---|\n{entries}")
    shown = "".join(f"| `{_command(command)}` | {_cell(what)} |\n" for command, what in EXAMPLES[verb])
    parts.append(f"**Examples**\n\n| | |\n|---|---|\n{shown}")
    parts.append(f"Exit codes: {EXITS[verb]}.\n")
    return "\n".join(parts)


def _option(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """One row of a table."""
    spelled = parser._get_formatter()._format_action_invocation(action)  # noqa: SLF001 - as `--help` spells it
    about = (action.help or "") % {"prog": parser.prog, **vars(action)}
    return f"| `{_cell(spelled)}` | {_cell(about)} |\n"


def _command(command: str) -> str:
    return _cell(command if "ptxloom" in command else f"ptxloom {command}")


def _api() -> Iterator[tuple[str, str]]:
    """A page for the names on top, and one for each namespace; what is on top stands there alone."""
    about = dict(re.findall(r"(?m)^- `(\w+)`: (.*)$", ptxloom.__doc__ or ""))
    top = [name for name in ptxloom.__all__ if name not in about]
    rows = "".join(f"| [`ptxloom.{name}`]({name}.md) | {_cell(words)} |\n" for name, words in about.items())
    listed = "".join(f"{name}\n" for name in about)
    body = f"## Namespaces\n\n| | |\n|---|---|\n{rows}\n## On top\n\n{_automodule('ptxloom', top)}"
    yield "api/index.md", f"{_head('api')}{body}\n```{{toctree}}\n:hidden:\n\n{listed}```\n"
    for name in about:
        module = getattr(ptxloom, name)
        members = [member for member in module.__all__ if member not in top and not ismodule(getattr(module, member))]
        yield f"api/{name}.md", f"# ptxloom.{name}\n\n{_automodule(f'ptxloom.{name}', members)}"


def _automodule(module: str, members: Iterable[str]) -> str:
    options = f"   :members: {', '.join(members)}\n   :imported-members:\n"
    return f"```{{eval-rst}}\n.. automodule:: {module}\n{options}```\n"


def _head(name: str) -> str:
    title = name.replace("-", " ").capitalize().replace("Api", "Python API").replace("Json", "JSON schemas")
    return f"# {title}\n\n{INTRODUCTIONS[name]}\n\n"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _deeper(markdown: str, by: int) -> str:
    """A page as a section: its headings a number of levels deeper."""
    return re.sub(r"(?m)^(#+ )", "#" * by + r"\1", markdown)


def _tidy(markdown: str) -> str:
    return markdown.rstrip() + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
