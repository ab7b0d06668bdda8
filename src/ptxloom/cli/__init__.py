"""The command line: the only code that opens files, reads stdin and writes to a terminal (STYLE 7)."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ptxloom import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 clean, 1 findings, 2 could not run."""
    parser = argparse.ArgumentParser(prog="ptxloom")
    parser.add_argument("--version", action="version", version=f"ptxloom {__version__}")
    parser.parse_args(arguments)
    return 0
