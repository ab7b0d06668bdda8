"""The options of pictures, and the format that the name of the output implies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.cli.formats import formats

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence

PICTURES: Final = ("svg", "html", "tex", "png", "pdf")
_FORMATS: Final = {
    **{f".{name}": name for name in PICTURES},
    ".csv": "csv",
    ".dot": "dot",
    ".htm": "html",
    ".json": "json",
    ".md": "markdown",
    ".sarif": "sarif",
    ".xml": "junit",
}
"""The format that a suffix of `-o` selects; all other names get text."""
_DRAWN_BY_OTHERS: Final = frozenset((".bmp", ".eps", ".gif", ".jpeg", ".jpg", ".ps", ".tif", ".tiff", ".webp"))
"""Picture formats that ptxloom cannot write; text under such a name would mislead."""
_PLAIN: Final = "full"
_OTHERS: Final = {"explain": ("markdown",), "schema": ("json",), "web": ("html",)}
"""The formats of verbs without `--output-format`, besides text."""
OF_FRAGMENTS: Final = ("lane", "register", "matrix", "bank")
"""The possible meanings of a colour in a fragment."""


def pictures(parser: ArgumentParser, names: Sequence[str], colours: Sequence[str] = ()) -> None:
    """Let a verb print its result in one of several text formats, or draw it.

    Args:
        parser: Of the verb.
        names: The text formats.
        colours: The possible meanings of colours, the default first; empty if there is no choice.
    """
    formats(parser, (*names, *PICTURES))
    group = parser.add_argument_group("pictures", "of -o FILE.svg, .html, .tex (TikZ), .png or .pdf")
    if colours:
        group.add_argument(
            "--colour-by",
            choices=tuple(colours),
            default=colours[0],
            help=f"what a colour stands for (default {colours[0]})",
        )
    group.add_argument("--dark", action="store_true", help="light text on a dark background")
    group.add_argument("--transparent", action="store_true", help="no background, for slides that have their own")


def settle(parser: ArgumentParser, options: Any) -> None:
    """Let the suffix of `-o` select the format if no option does; refuse a format that the verb does not write."""
    actions = {action.dest: action for action in parser._actions}  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - argparse has no public way
    if "output" not in actions:
        return
    verb = parser.prog.rpartition(" ")[2]
    form = actions.get("output_format")
    if form is not None and options.output_format is not None:
        return
    choices = tuple(form.choices or ()) if form else _OTHERS.get(verb, ())
    suffix = _suffix(options.output or "")
    asked = suffix if suffix in _DRAWN_BY_OTHERS else _FORMATS.get(suffix, _PLAIN)
    if asked != _PLAIN and asked not in choices:
        known = [name for name, means in _FORMATS.items() if means in choices]
        instead = f"{', '.join(known)}, or text under any other name" if known else "text, under any other name"
        parser.error(f"`{verb}` cannot write {suffix}: it writes {instead}")
    if form is not None:
        options.output_format = asked


def _suffix(name: str) -> str:
    """The end of a file's name, from its last dot on."""
    last = name.replace("\\", "/").rpartition("/")[2]
    stem, dot, end = last.rpartition(".")
    return f"{dot}{end}".lower() if stem else ""
