"""Which lines of native functions tests reach: `tools/mutants.py` runs this in the copy of `src` that it measured.

Native functions are translated, not run by Python: no line of theirs is ever traced. What tests told, on lines of
`test`, tab, `symbol` in the files of a folder, are those that they had loaded; with one come all that it calls.
Printed as JSON: for each file below the package, the lines of functions, and the tests that reach each function.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import sys
from collections import defaultdict
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING

import ptxloom.machine
from ptxloom.machine.native import translation
from ptxloom.machine.native.signature import symbol_of

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(ptxloom.machine.__file__).parents[1]


def _functions() -> Iterator[tuple[str, FunctionType]]:
    """Functions of the machine, by what they are called in object code if they are native."""
    for module in pkgutil.walk_packages(ptxloom.machine.__path__, "ptxloom.machine."):
        for one in vars(importlib.import_module(module.name)).values():
            if isinstance(one, FunctionType) and one.__module__ == module.name and _is_native(one):
                yield symbol_of(one), one


def _is_native(function: FunctionType) -> bool:
    try:
        translation.signature(function)
    except (TypeError, ValueError, KeyError, NameError, SyntaxError):
        return False
    return True


def _reached(first: FunctionType) -> set[FunctionType]:
    known: set[FunctionType] = set()
    waiting = [first]
    while waiting:
        function = waiting.pop()
        if function not in known:
            known.add(function)
            waiting += [function.__globals__[name] for name in translation.translate(function).calls]
    return known


def main(folder: Path) -> None:
    """Print what the files of a folder say."""
    told: defaultdict[str, set[str]] = defaultdict(set)
    for file in folder.iterdir():
        for line in file.read_text(encoding="utf-8").splitlines():
            test, _, symbol = line.rpartition("\t")
            told[symbol].add(test)
    native = {symbol: function for symbol, function in _functions() if symbol in told}
    reached: defaultdict[FunctionType, set[str]] = defaultdict(set)
    for symbol, first in native.items():
        for function in _reached(first):
            reached[function] |= told[symbol]
    found: defaultdict[str, list[tuple[int, int, list[str]]]] = defaultdict(list)
    for function, tests in reached.items():
        lines, start = inspect.getsourcelines(function)
        path = Path(inspect.getfile(function)).relative_to(PACKAGE)
        found[str(path)].append((start, start + len(lines), sorted(tests)))
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
