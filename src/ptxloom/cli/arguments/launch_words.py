"""A launch described on the command line: `--arg A=normal:f16:192x96` means what a table of a launch file would."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ptxloom.cli.arguments.launch_keys import ACCUMULATE, FILLS, LAUNCH, TITLE
from ptxloom.cli.arguments.type_names import type_name
from ptxloom.cli.schema_action import PrintSchema
from ptxloom.diagnostics import PtxloomError
from ptxloom.source import title

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_NAME: Final = re.compile(r"([A-Za-z_]\w{0,99})=(.*)", re.DOTALL)
_ARRAY_FILE: Final = re.compile(r"\s*(\w{1,100})\s*=\s*(\S.*\.npy)\s*", re.DOTALL)
_EXTENTS: Final = re.compile(r"\d{1,18}([x,]\d{1,18})*")
_BRACKETED: Final = re.compile(r"([^:\[\]]{1,100})\[ *([\dx, ]{1,200}?) *\](?=:|$)")
_INTEGER: Final = re.compile(r"[+-]?(0[xX][0-9a-fA-F]{1,16}|\d{1,20})")
_FLOAT: Final = re.compile(r"[+-]?((\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][+-]?\d{1,4})?|inf|nan)")
_LEGAL: Final = "a number, a file (a.npy), or how an array is filled: normal:f16:192x96, with :seed=1, :low=-4, :high=4"


class BadWord(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """Options of the command line contradict each other."""


def declare(parser: ArgumentParser) -> None:
    """Add them."""
    own = parser.add_argument_group("a launch in words", "adds to a launch file, or replaces parts of it")
    which = "the kernel, such as gemm or scale<2>; not needed if the PTX holds only one"
    own.add_argument("--kernel", metavar="NAME", help=which)
    for name, what in (("grid", "CTAs"), ("block", "threads of a CTA"), ("cluster", "CTAs of a cluster")):
        own.add_argument(f"--{name}", type=extents, metavar="X,Y,Z", help=f"{what} in x, y, z")
    own.add_argument("--shared-bytes", type=int, metavar="N", help="bytes of dynamic shared memory")
    own.add_argument("--target", metavar="SM", help="the architecture whose tensor cores compute, sm_75 to sm_121")
    own.add_argument(
        "--arg",
        dest="args",
        action="append",
        default=[],
        type=argument,
        metavar="[NAME=]WHAT",
        help=f"a parameter, in order: {_LEGAL}; fills are {', '.join(FILLS)}",
    )
    own.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="'C = A @ B'",
        help="what an array must hold afterwards, computed from the others with + - * / @ .T, sum, softmax and more; "
        "or the file that holds it: C=right.npy",
    )
    allowed = "difference that --expect allows for each element (default: what rounding can explain)"
    own.add_argument("--rtol", type=float, metavar="R", help=f"relative {allowed}")
    own.add_argument("--atol", type=float, metavar="A", help="absolute difference, likewise")
    own.add_argument(
        "--accumulate",
        type=type_name,
        choices=ACCUMULATE,
        help="the type that sums may be rounded to (default: no type coarser than the array's)",
    )
    own.add_argument("--save", action="append", default=[], metavar="NAME=FILE.npy", help="write an array afterwards")
    own.add_argument("--init", action="store_true", help="write a launch file for PTX, to be filled in; nothing runs")
    own.add_argument(
        "--schema", action=PrintSchema, schema=_launch_schema, help="print the JSON Schema of launch files, and exit"
    )


def _launch_schema() -> str:
    """The JSON Schema of launch files."""
    from ptxloom.settings.toml_model import schema  # noqa: PLC0415 - only this asks for it
    from ptxloom.views.core.json_text import to_text  # noqa: PLC0415 - likewise

    return to_text(schema(LAUNCH, TITLE))


def extents(text: str) -> int | list[int]:
    """`2,3` or `2x3`; a single number is no list.

    Raises:
        ArgumentTypeError: It is something else.
    """
    if not _EXTENTS.fullmatch(text):
        raise ArgumentTypeError(f"{text!r} is not of the form 2,3 or 2x3")
    first, *others = (int(part) for part in re.split("[x,]", text))
    return [first, *others] if others else first


def argument(text: str) -> dict[str, Any]:
    """The table of a launch file that describes the same argument.

    Raises:
        ArgumentTypeError: The word is not an argument.

    Example:
        >>> argument("A=normal:f16:192x96:seed=3")
        {'name': 'A', 'normal': {'dtype': 'f16', 'shape': [192, 96], 'seed': 3}}
        >>> argument("ones:f32[16,512]")
        {'ones': {'dtype': 'f32', 'shape': [16, 512]}}
        >>> argument("192")
        {'value': 192}
    """
    named = _NAME.fullmatch(text)
    start: dict[str, Any] = {"name": named[1]} if named else {}
    what = named[2] if named else text
    if _INTEGER.fullmatch(what):
        return {**start, "value": int(what, 0 if "x" in what.lower() else 10)}
    if _FLOAT.fullmatch(what):
        return {**start, "value": float(what)}
    source, _, rest = what.partition(":")
    if source in FILLS:
        return {**start, source: _fill(rest, text)}
    if what.endswith(".npy"):
        return {**start, "npy": str(Path(what).absolute())}
    raise ArgumentTypeError(f"{text!r} is not an argument: it must be {_LEGAL}")


def _fill(rest: str, text: str) -> dict[str, Any]:
    """The table of a fill: its type and its shape, `f16:192x96` or `f16[192, 96]`, then keys and numbers."""
    if bracketed := _BRACKETED.match(rest):
        rest = ":".join((bracketed[1], bracketed[2].replace(" ", ""))) + rest[bracketed.end() :]
    dtype, _, rest = rest.partition(":")
    shape, *options = rest.split(":")
    if not dtype or not _EXTENTS.fullmatch(shape):
        raise ArgumentTypeError(f"{text!r} lacks its type or its shape, as in zeros:f32:192x128")
    table: dict[str, Any] = {"dtype": dtype, "shape": extents(shape)}
    for option in options:
        name, _, number = option.partition("=")
        if _INTEGER.fullmatch(number):
            table[name] = int(number, 10) if "x" not in number.lower() else int(number, 0)
        elif _FLOAT.fullmatch(number):
            table[name] = float(number)
        else:
            raise ArgumentTypeError(f"{text!r} has {option!r} where :seed=1, :low=-4 or :high=4 could stand")
    return table


def said(options: Namespace) -> bool:
    """Whether any of the options was given."""
    return any(getattr(options, name) not in (None, []) for name in _WORDS)


_TOP: Final = ("kernel", "grid", "block", "cluster", "shared_bytes", "target")
_TOLERANCES: Final = ("rtol", "atol", "accumulate")
_WORDS: Final = (*_TOP, "args", "expect", "save", *_TOLERANCES)


def merged(table: dict[str, Any], options: Namespace) -> dict[str, Any]:
    """Merge the words into a launch file's table that has been checked: they override it, and new names are added.

    Arrays that words fill at random without a seed differ from each other.
    """
    whole = {**table, **{name: given for name in _TOP if (given := getattr(options, name)) is not None}}
    entries: list[dict[str, Any]] = [*table.get("args", [])]
    names = [entry.get("name") for entry in entries]
    for word in options.args:
        _replace(entries, names, word)
    if entries:
        whole["args"] = entries
    if options.expect:
        tolerances = {name: given for name in _TOLERANCES if (given := getattr(options, name)) is not None}
        whole["compare"] = [*table.get("compare", []), *({**compared(text), **tolerances} for text in options.expect)]
    return whole


def compared(text: str) -> dict[str, str]:
    """The equivalent table of a launch file: an expression for an array, or the file that it equals.

    Example:
        >>> compared("C = A @ B")
        {'expect': 'C = A @ B'}
        >>> compared("C=/data/right.npy")
        {'array': 'C', 'equals': '/data/right.npy'}
    """
    file = _ARRAY_FILE.fullmatch(text)
    return {"array": file[1], "equals": str(Path(file[2]).absolute())} if file else {"expect": text}


def _replace(entries: list[dict[str, Any]], names: list[str | None], word: dict[str, Any]) -> None:
    """Replace the argument of the word's name, or append it."""
    named = "name" in word and word["name"] in names
    place = names.index(word["name"]) if named else len(entries)
    for source in sorted({"normal", "uniform", "integers", "random"} & word.keys()):
        word[source].setdefault("seed", place + 1)
    entries[place : place + 1] = [word]


def saved(table: dict[str, Any], options: Namespace) -> dict[str, Path]:
    """The files for `--save`, by the names of arguments in the table.

    Raises:
        BadWord: There is no such argument.
    """
    names = [entry["name"] for entry in table.get("args", []) if "name" in entry]
    places: dict[str, Path] = {}
    for text in options.save:
        name, _, path = text.partition("=")
        if name not in names or not path:
            known = ", ".join(names) or "(none)"
            raise BadWord(f"--save {title(text)}: write NAME=FILE.npy; the arguments with a name are {known}")
        places[name] = Path(path)
    return places
