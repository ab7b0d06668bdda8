"""What a sweep varies in a launch file: `BK=32,64`, `n/grid=64/1,128/2`, and what such names mean."""

from __future__ import annotations

import copy
import re
from argparse import ArgumentTypeError
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ptxloom.cli.arguments.launch_keys import FILLS, SOURCES, TENSOR_MAP
from ptxloom.cli.arguments.launch_words import argument, extents
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.files.limited import MOST_SETTINGS, named
from ptxloom.isa.spelling import near_misses
from ptxloom.source import title

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_OVER: Final = re.compile(r"([A-Za-z_][\w.]*(?:/[A-Za-z_][\w.]*)*)=(.+)", re.DOTALL)
_MACRO: Final = re.compile(r"[A-Za-z_]\w*")
_EXTENTS: Final = ("grid", "block", "cluster")
_TEXTS: Final = ("kernel", "ptx", "target", "contract")
FLAGS: Final = ("nvcc_flags", "nvrtc_flags")
"""Options of compilers, which belong to the command line and not to the launch file."""
_CUDA: Final = ("std", "use_fast_math", *FLAGS)
RUN: Final = ("seed", "checks")
"""The names that vary the run and not the launch file."""
_FILL_KEYS: Final = frozenset(key.name for keys in FILLS.values() for key in keys)
_MAP_KEYS: Final = frozenset(key.name for key in TENSOR_MAP.keys) - {"of"}
MOST_POINTS: Final = 100_000


class BadVariation(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """An `--over` has a name or value that a launch file cannot have."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Names that vary together, and their values at each step."""

    names: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...]


def axes(texts: Sequence[str]) -> tuple[Axis, ...]:
    """Read `NAME=VALUE,VALUE`, or `NAME/NAME=VALUE/VALUE,VALUE/VALUE` for names that vary together.

    Raises:
        BadVariation: A text is something else, or a name is varied twice.

    Example:
        >>> axes(["n/grid=64/1,128/2"])[0].steps
        (('64', '1'), ('128', '2'))
    """
    found: list[Axis] = []
    for text in texts:
        read = _OVER.fullmatch(text)
        if read is None:
            raise BadVariation(f"--over {title(text)}: write NAME=VALUE,VALUE, or NAME/NAME=VALUE/VALUE,VALUE/VALUE")
        names = tuple(read[1].split("/"))
        steps = tuple((one,) if len(names) == 1 else tuple(one.split("/")) for one in read[2].split(","))
        for step in steps:
            if len(step) != len(names) or not all(step):
                said = title("/".join(step))
                raise BadVariation(f"--over {title(text)}: {said} is not a value for each of {', '.join(names)}")
        found.append(Axis(names, steps))
    every = [name for axis in found for name in axis.names]
    if twice := [name for name in every if every.count(name) > 1]:
        raise BadVariation(f"--over names {twice[0]} twice")
    count = prod(len(axis.steps) for axis in found)
    if count > MOST_POINTS:
        raise BadVariation(f"--over asks for {count:,} runs; {MOST_POINTS:,} are the most")
    return tuple(found)


def points(over: Sequence[Axis]) -> Iterator[dict[str, str]]:
    """Each combination of values, the last axis the fastest."""
    for steps in product(*(axis.steps for axis in over)):
        yield {
            name: value
            for axis, step in zip(over, steps, strict=True)
            for name, value in zip(axis.names, step, strict=True)
        }


def varied(file: str, table: dict[str, Any], point: dict[str, str]) -> dict[str, Any]:
    """The table of a launch file at a point of a sweep.

    Args:
        file: The launch file.
        table: Its table on the disk.
        point: Values by varied name; those of `RUN` are ignored.

    Raises:
        BadVariation: A name is unknown there, or a value is illegal.
    """
    found: dict[str, Any] = copy.deepcopy(table)
    entries: list[dict[str, Any]] = found.get("args", [])
    by_name = {entry["name"]: entry for entry in entries if "name" in entry}
    for name, value in sorted(point.items(), key=lambda one: one[0] not in _TEXTS):  # which file comes first
        if name in RUN:
            continue
        try:
            if name in _CUDA and Path(str(found.get("ptx", ""))).suffix != ".cu":
                raise BadVariation(f"--over {name}: the launch file names no CUDA C++ to compile")
            if not _of_launch(found, name, value) and not _of_arguments(by_name, name, value):
                _define(file, found, name, value, tuple(by_name))
        except ValueError:
            raise BadVariation(f"--over {name}: {title(value)} is not a number") from None
        except ArgumentTypeError as error:
            raise BadVariation(f"--over {name}: {error}") from None
    return found


def _of_launch(found: dict[str, Any], name: str, value: str) -> bool:
    """Set a key of the launch file; returns whether it has this name."""
    if name in _EXTENTS:
        found[name] = extents(value)
    elif name == "shared_bytes":
        found[name] = int(value)
    elif name in _TEXTS:
        found[name] = value
    elif name in _CUDA:
        _of_compiler(found, name, value)
    else:
        return False
    return True


def _of_arguments(by_name: dict[str, dict[str, Any]], name: str, value: str) -> bool:
    """Set an argument, or a property of one; returns whether there is one of this name."""
    head, _, key = name.partition(".")
    if head not in by_name:
        return False
    if key:
        _of_array(by_name[head], name, key, value)
    else:
        _of_argument(by_name[head], value)
    return True


def _of_compiler(found: dict[str, Any], name: str, value: str) -> None:
    cuda = found.setdefault("cuda", {})
    if name == "use_fast_math":
        if value not in {"true", "false"}:
            raise BadVariation(f"--over use_fast_math: {title(value)} is neither true nor false")
        cuda[name] = value == "true"
    elif name == "std":
        cuda[name] = value


def _of_argument(entry: dict[str, Any], value: str) -> None:
    """Set an argument to another number, file or fill."""
    given = argument(value)
    for source in SOURCES:
        entry.pop(source, None)
    entry.update(given)


def _of_array(entry: dict[str, Any], name: str, key: str, value: str) -> None:
    """Set another shape, type, seed, ... of an argument's array, or another field of its tensor map."""
    fill = next((entry[source] for source in FILLS if source in entry), None)
    mapped = entry.get("tensor_map")
    if key in _FILL_KEYS and fill is not None:
        if key == "shape":
            fill[key] = extents(value)
        elif key == "seed":
            fill[key] = int(value)
        else:
            fill[key] = value if key == "dtype" else _number(value)
    elif key in _MAP_KEYS and mapped is not None:
        mapped[key] = [int(one) for one in value.split("x")] if key == "box_dim" else value
    else:
        keys = [*(_FILL_KEYS if fill is not None else ()), *(_MAP_KEYS if mapped is not None else ())]
        known = sorted(set(keys))
        raise BadVariation(f"--over {name}: the argument has no {title(key)}; it has {', '.join(known) or '(none)'}")


def _number(text: str) -> float:
    return int(text) if re.fullmatch(r"[+-]?\d{1,20}", text) else float(text)


def _define(file: str, found: dict[str, Any], name: str, value: str, arguments: tuple[str, ...]) -> None:
    """Define a macro of CUDA C++, if the source contains its name."""
    source = Path(file).parent / str(found.get("ptx", ""))
    known = [*_EXTENTS, "shared_bytes", *_TEXTS, *RUN, *arguments]
    if source.suffix == ".cu":
        known += _CUDA
        try:
            text = named(source, MOST_SETTINGS * 16).decode("utf-8", "replace")
        except (OSError, PtxloomError):
            text = ""
        words = set(_MACRO.findall(text))
        if name in words:
            cuda = found.setdefault("cuda", {})
            cuda["defines"] = [*cuda.get("defines", ()), f"{name}={value}"]
            return
        known += near_misses(name, words)
    near = near_misses(name, known)
    hint = f"; did you mean {', '.join(near)}?" if near else f"; known are {', '.join(known)}"
    what = "argument of the launch file, macro of the source, or key" if source.suffix == ".cu" else "argument or key"
    raise BadVariation(f"--over {name}: there is no {what} of this name{hint}")
