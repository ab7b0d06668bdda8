"""The arguments of `parse`, `query`, `graph` and `web`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.cli.arguments.file_arguments import FILES
from ptxloom.cli.arguments.picture_arguments import pictures
from ptxloom.cli.formats import TABLE, formats

if TYPE_CHECKING:
    from argparse import ArgumentParser

GRAPH_FORMATS: Final = ("full", "dot", "json")
FILE: Final = "a PTX file, CUDA C++ (.cu), a compiled file with PTX in it, or - for standard input"
_PATTERN: Final = "an opcode, with or without qualifiers; * stands for anything: ld.shared.v4.*, ldmatrix.*.trans"


def parse(parser: ArgumentParser) -> None:
    """`ptxloom parse`."""
    parser.add_argument("files", metavar="FILE", nargs="*", help=FILES)
    parser.add_argument("--tree", action="store_true", help="print the syntax tree; one of the filters implies it")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of `--output-format json`")
    chosen = parser.add_argument_group("which part of the tree to print")
    _function(chosen)
    _lines(chosen)
    chosen.add_argument("--pattern", metavar="PATTERN", help=f"only instructions that match: {_PATTERN}")


def query(parser: ArgumentParser) -> None:
    """`ptxloom query`."""
    parser.add_argument("pattern", metavar="PATTERN", help=_PATTERN)
    parser.add_argument("files", metavar="FILE", nargs="+", help=FILES)
    _function(parser)
    _lines(parser)
    parser.add_argument("--count", action="store_true", help="how many times each spelling occurs")
    formats(parser, TABLE)


def graph(parser: ArgumentParser) -> None:
    """`ptxloom graph`."""
    parser.add_argument("files", metavar="FILE", nargs="+", help=FILES)
    _function(parser)
    parser.add_argument("--code", action="store_true", help="every instruction of each block")
    pictures(parser, GRAPH_FORMATS)


def web(parser: ArgumentParser) -> None:
    """`ptxloom web`."""
    parser.add_argument("--open", action="store_true", help="also show it in the browser")


def _function(parser: _Group) -> None:
    parser.add_argument("--function", metavar="NAME", help="only this function; * and ? stand for other characters")


def _lines(parser: _Group) -> None:
    parser.add_argument("--lines", metavar="N[-M]", type=_span, help="only these lines")


def _span(text: str) -> tuple[int, int]:
    """`12` or `12-40` as two numbers."""
    first, dash, last = text.partition("-")
    span = int(first), int(last if dash else first)
    if not 0 < span[0] <= span[1]:
        raise ValueError(text)
    return span


_span.__name__ = "a line or several, such as 12 or 12-40"  # a mistake names it

if TYPE_CHECKING:
    from argparse import _ArgumentGroup  # pyright: ignore[reportPrivateUsage] - argparse has no public name for it

    _Group = ArgumentParser | _ArgumentGroup
