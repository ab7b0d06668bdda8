"""The arguments that select files, and how `check` judges them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.cli.schema_action import PrintSchema

if TYPE_CHECKING:
    from argparse import ArgumentParser

FILES: Final = "PTX files, folders of them, CUDA C++ (.cu), compiled files with PTX in them, or - for standard input"


def files(parser: ArgumentParser) -> None:
    """Files and folders."""
    parser.add_argument("files", metavar="FILE", nargs="+", help=FILES)


def files_or_here(parser: ArgumentParser) -> None:
    """Add the arguments for files and folders; the default is the current folder."""
    parser.add_argument("files", metavar="FILE", nargs="*", default=["."], help=f"{FILES} (default: this folder)")


def project(parser: ArgumentParser) -> None:
    """Add the options that select files of a folder, and settings."""
    which = parser.add_argument_group("which files of a folder, and whose settings (ptxloom.toml, [tool.ptxloom])")
    which.add_argument(
        "--exclude",
        metavar="PATTERN",
        action="append",
        default=[],
        help="also leave these out; patterns as in .gitignore",
    )
    which.add_argument(
        "--no-respect-gitignore", dest="gitignore", action="store_false", help="include files that git ignores"
    )
    which.add_argument(
        "--config", metavar="FILE", help="use these settings instead of those found nearest above each file"
    )
    which.add_argument("--isolated", action="store_true", help="use no settings at all")
    which.add_argument(
        "--settings-schema",
        action=PrintSchema,
        schema=_settings_schema,
        help="print the JSON Schema of settings, and exit",
    )


def judging(parser: ArgumentParser) -> None:
    """Add the options for the work of `check`."""
    how = parser.add_argument_group("how")
    how.add_argument(
        "--stdin-filename",
        metavar="NAME",
        help="the name to use for standard input; it also decides which settings apply",
    )
    how.add_argument(
        "--statistics", action="store_true", help="the number of findings of each rule, instead of the findings"
    )
    how.add_argument("--watch", action="store_true", help="check again whenever a file changes, until Ctrl-C")
    how.add_argument("-j", "--jobs", type=int, metavar="N", help="processes to use (default: as many as pay off)")
    how.add_argument(
        "-v", "--verbose", action="store_true", help="show which settings apply, and which files are left out and why"
    )


def _settings_schema() -> str:
    """The JSON Schema of settings."""
    from ptxloom.settings.keys import SETTINGS, TITLE  # noqa: PLC0415 - only this asks for it
    from ptxloom.settings.toml_model import schema  # noqa: PLC0415 - likewise
    from ptxloom.views.core.json_text import to_text  # noqa: PLC0415 - likewise

    return to_text(schema(SETTINGS, TITLE))
