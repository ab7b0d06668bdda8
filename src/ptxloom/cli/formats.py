"""How results may be printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence

FINDINGS: Final = ("full", "concise", "json", "sarif", "github")
CHECKED: Final = (*FINDINGS, "gitlab", "junit")
TABLE: Final = ("full", "concise", "csv", "markdown", "json")
MAP: Final = (*TABLE, "svg")


def formats(parser: ArgumentParser, names: Sequence[str]) -> None:
    """Have a verb print its result in one of some forms."""
    parser.add_argument("--output-format", choices=names, default="full", help="how to print the result (default full)")
