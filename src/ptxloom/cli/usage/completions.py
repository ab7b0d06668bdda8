"""`--print-completion`: the completion scripts of shells, made from the arguments of all verbs by shtab."""

from __future__ import annotations

import sys
from argparse import Action, ArgumentParser
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

SHELLS: Final = ("bash", "zsh", "fish", "tcsh")
_OF_FILES: Final = ("FILE", ".ptx", ".toml", ".npy")


class PrintCompletion(Action):
    """Print the completion script of a shell, and exit."""

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        """As `--version` does."""
        del namespace, option_string
        from ptxloom.diagnostics import PtxloomError  # noqa: PLC0415 - only this asks for it
        from ptxloom.extras import needed  # noqa: PLC0415 - likewise

        try:
            with needed():
                sys.stdout.write(completion(parser, str(values)))
        except PtxloomError as error:
            parser.exit(2, f"ptxloom: {error}\n")
        parser.exit()


def completion(parser: ArgumentParser, shell: str) -> str:
    """The script that a shell reads: verbs, options and their choices, files, targets, rules, all that has a page."""
    import shtab  # noqa: PLC0415 - an extra brings it

    words = _words()
    for action in _actions(parser):
        metavar = str(action.metavar or "")
        if action.choices is None and metavar in words:
            action.choices = words[metavar]
        elif any(one in metavar for one in _OF_FILES) or metavar == "PTX":
            cast("Any", action).complete = shtab.FILE
    return shtab.complete(parser, shell)


def _actions(parser: ArgumentParser) -> Iterator[Action]:
    """Every argument of a parser, and of those of its verbs."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to ask
        yield action
        if isinstance(action.choices, dict):
            for inner in cast("dict[str, ArgumentParser]", action.choices).values():
                yield from _actions(inner)


def _words() -> dict[str, tuple[str, ...]]:
    """The legal words of arguments, by their names in the help."""
    from ptxloom.checker import rules  # noqa: PLC0415 - only this asks for it
    from ptxloom.explanation import topics  # noqa: PLC0415 - likewise
    from ptxloom.isa import targets  # noqa: PLC0415 - likewise

    return {
        "WORD": tuple(topic.word for topic in topics() if topic.word.replace("-", "").replace(".", "").isalnum()),
        "RULES": tuple(rules()),
        "SM": tuple(str(target) for target in targets()),
    }
