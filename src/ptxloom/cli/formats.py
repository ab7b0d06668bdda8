"""The formats of printed results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence

FINDINGS: Final = ("full", "concise", "json", "sarif", "github")
CHECKED: Final = (*FINDINGS, "gitlab", "junit")
TABLE: Final = ("full", "concise", "csv", "markdown", "json")


def summary(parser: ArgumentParser) -> None:
    """Let a verb also summarise its result in Markdown."""
    parser.add_argument(
        "--summary", metavar="FILE", help="also append a few lines of Markdown to FILE, such as $GITHUB_STEP_SUMMARY"
    )


def formats(parser: ArgumentParser, names: Sequence[str]) -> None:
    """Let a verb print its result in one of several formats; by default the suffix of `-o` chooses."""
    parser.add_argument(
        "--output-format",
        choices=names,
        metavar="FORMAT",  # a word that may be as long as all names cannot be broken by a manual page
        help=f"{', '.join(names)} (default: as the suffix of -o says, or full)",
    )
