"""The next command to type: after a wrong array, the same launch with `ptxloom why`."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from ptxloom.cli.arguments import machine_arguments
from ptxloom.cli.usage.verb_parser import VerbParser

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options


def why_command(options: Options) -> str:
    """The command line of `ptxloom run` as one of `why`, without what only `run` takes."""
    words = [word for word in options.words[1:] if word != "--"]
    parser = VerbParser()
    machine_arguments.why(parser)
    for word in parser.left_over(words):
        words.remove(word)
    return shlex.join(["ptxloom", "why", *words])
