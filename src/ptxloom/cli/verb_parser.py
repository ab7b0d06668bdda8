"""The parser of one verb's arguments, which answers mistakes with a sentence."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

from ptxloom.cli.arguments import picture_arguments


class VerbParser(argparse.ArgumentParser):
    """argparse that says what is wrong in a sentence, for each verb by itself."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, formatter_class=_Help, allow_abbrev=False)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:  # pyright: ignore[reportIncompatibleMethodOverride] - of its overloads, what we use
        """Leave no word over for another parser to complain of, whose options would be others."""
        found, extra = super().parse_known_args(args, namespace)
        if extra:
            self.error(f"unrecognized arguments: {' '.join(extra)}")
        picture_arguments.settle(self, found)
        return found, extra

    def left_over(self, args: list[str]) -> list[str]:
        """The words that this verb has no use for."""
        return super().parse_known_args(args)[1]

    def error(self, message: str) -> NoReturn:
        """The usage, one sentence, exit 2."""
        from ptxloom.cli.sentences import sentence  # noqa: PLC0415 - only mistakes need it
        from ptxloom.views.core.cells import harmless  # noqa: PLC0415 - likewise

        self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: {harmless(sentence(message, self._option_string_actions))}\n")


class _Help(argparse.RawDescriptionHelpFormatter):
    """Options and what they mean side by side, where there is room."""

    position = 30

    def __init__(self, prog: str, **settings: Any) -> None:
        super().__init__(prog, **{**settings, "max_help_position": self.position})

    def add_argument(self, action: argparse.Action) -> None:
        """Leave room for the names of verbs, too: argparse forgets that they are indented."""
        super().add_argument(action)
        if action.nargs == argparse.PARSER:
            self._action_max_length += self._indent_increment


class Overview(_Help):
    """As close as the names of verbs allow, so that what they are for stands on one line."""

    position = 16
