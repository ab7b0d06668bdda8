"""The command line: the only code that opens files, reads stdin and writes to a terminal.

Exit codes: 0 clean, 1 findings, 2 could not run.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, cast

from ptxloom.cli.command_line import GROUPS, read_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.cli.command_line import Options
    from ptxloom.cli.results.output import Outcome


_NO_THREAD: Final = "can't start new thread"
"""The text of Python's RuntimeError where memory or permission for a thread is missing."""


class Verb(Protocol):
    """A module of `cli.verbs`: it reads what the options name and returns what to print."""

    def run(self, options: Options) -> Outcome:
        """Carry out the verb."""
        ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = read_arguments(sys.argv[1:] if arguments is None else arguments)

    from ptxloom.cli.results.output import COULD_NOT_RUN, talk  # noqa: PLC0415 - help needs none

    try:
        return _carried_out(options)
    except MemoryError:  # what filled the memory is held until this block is left, so the sentence stands below it
        said = "there is not enough memory for this; give it more, or a smaller input"
    except RuntimeError as error:
        if str(error) != _NO_THREAD:
            raise
        said = "this process may not start as many threads; allow more, or more memory (`ulimit -u`, `ulimit -v`)"
    except KeyboardInterrupt:
        said = "interrupted"
    talk(f"ptxloom: {said}")
    return COULD_NOT_RUN


def _carried_out(options: Options) -> int:
    """Run a command and deliver its result; returns the exit code."""
    from ptxloom.cli.results.output import COULD_NOT_RUN, deliver, talk, warnings_told  # noqa: PLC0415 - help needs none
    from ptxloom.diagnostics import PtxloomError  # noqa: PLC0415 - nor findings
    from ptxloom.extras import needed  # noqa: PLC0415 - nor verbs that lack their part

    try:
        with needed(), warnings_told():
            verb = cast("Verb", import_module(_module_of(options.verb)))
            outcome = verb.run(options)
        deliver(outcome, options)
    except PtxloomError as error:
        from ptxloom.cli.mistakes import in_words_of_options  # noqa: PLC0415 - only mistakes need it

        talk(f"ptxloom: {in_words_of_options(error, options)}")
        _tell_of_names()
        return COULD_NOT_RUN
    _tell_of_names()
    return outcome.code


def _module_of(verb: str) -> str:
    """The name of the module that carries out a verb."""
    folder = next(folder for folder, (_, verbs) in GROUPS.items() if verb in verbs)
    return f"ptxloom.cli.verbs.{folder}.{verb}"


def _tell_of_names() -> None:
    """Report a missing demangler, if C++ names were looked up; otherwise nothing is imported."""
    from ptxloom.cli.results.output import talk  # noqa: PLC0415 - help needs none

    demangling = sys.modules.get("ptxloom.names.demangling")
    if demangling is not None and (sentence := demangling.missed()):
        talk(f"ptxloom: {sentence}")
