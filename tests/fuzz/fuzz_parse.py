"""Fuzz the parser with atheris: `python tests/fuzz/fuzz_parse.py [folder of inputs] [-max_total_time=3600]`.

`python tests/fuzz/corpus.py unpack FOLDER` gives it the inputs that earlier runs have collected to go on from.

Every input must parse without an exception, both ways alike; what parses cleanly must print and format back to itself.
Needs `pip install atheris`; without it, this says so and exits with 2.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any


def one_input(data: bytes) -> None:
    """Judge one input."""
    syntax = importlib.import_module("ptxloom.syntax")
    text = data.decode("utf-8", "replace")
    module = syntax.parse(text)
    plain = syntax.parse(text, fast=False)
    assert module == plain, "the short way reads something else"
    assert list(map(str, module.diagnostics)) == list(map(str, plain.diagnostics)), "the short way says something else"
    once = syntax.format(module)
    if not module.diagnostics:
        assert syntax.parse(str(module)) == module, "printed, it reads as something else"
        assert syntax.parse(once) == module, "formatted, it reads as something else"
        assert syntax.format(syntax.parse(once)) == once, "formatting does not settle"


def main() -> int:
    """Run the fuzzer until a signal stops it."""
    try:
        atheris: Any = importlib.import_module("atheris")
    except ImportError:
        sys.stderr.write("atheris is not installed: pip install atheris\n")
        return 2
    with atheris.instrument_imports(include=["ptxloom"]):
        importlib.import_module("ptxloom.syntax")
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
