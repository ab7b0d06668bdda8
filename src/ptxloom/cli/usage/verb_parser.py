"""The parser of one verb's arguments, which reports mistakes in a sentence."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from ptxloom.cli.arguments import picture_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class VerbParser(argparse.ArgumentParser):
    """argparse that reports errors as sentences, for each verb separately."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, formatter_class=_Help, allow_abbrev=False)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:  # pyright: ignore[reportIncompatibleMethodOverride] - of its overloads, what we use
        """Reject unknown words here, not in the outer parser, which has other options."""
        found, extra = super().parse_known_args(args, namespace)
        if extra:
            self.error(f"unrecognized arguments: {' '.join(extra)}")
        picture_arguments.settle(self, found)
        return found, extra

    def left_over(self, args: list[str]) -> list[str]:
        """The words that this verb does not know."""
        return super().parse_known_args(args)[1]

    def error(self, message: str) -> NoReturn:
        """The usage, one sentence, exit 2."""
        from ptxloom.cli.usage.sentences import sentence  # noqa: PLC0415 - only mistakes need it
        from ptxloom.views.core.cells import harmless  # noqa: PLC0415 - likewise

        self.print_usage(sys.stderr)
        said = sentence(message, self._option_string_actions, self._verbs())
        self.exit(2, f"{self.prog}: {harmless(said)}\n")

    def _verbs(self) -> dict[str, str]:
        """The verbs, and what each is for."""
        below: list[Any] = [one for one in self._actions if one.nargs == argparse.PARSER]
        return {verb.dest: verb.help or ("") for one in below for verb in one._get_subactions()}  # noqa: SLF001 - argparse has no public way


class _Help(argparse.RawDescriptionHelpFormatter):
    """Formats options and their meanings side by side, if there is space."""

    position = 30

    def __init__(self, prog: str, **settings: Any) -> None:
        super().__init__(prog, **{**settings, "max_help_position": self.position})

    def add_argument(self, action: argparse.Action) -> None:
        """Reserve space for the names of verbs, too: argparse forgets that they are indented."""
        super().add_argument(action)
        if action.nargs == argparse.PARSER:
            self._action_max_length += self._indent_increment


class Overview(_Help):
    """Verbs by groups; the column of names is narrow, so that each purpose fits on one line."""

    position = 16

    def __init__(self, prog: str, groups: Mapping[str, Sequence[str]], **settings: Any) -> None:
        super().__init__(prog, **settings)
        self._groups = groups

    def _format_action(self, action: argparse.Action) -> str:
        """Format as argparse does, but group the verbs under headings."""
        if action.nargs != argparse.PARSER:
            return super()._format_action(action)
        told = {verb.dest: self._format_action(verb) for verb in self._iter_indented_subactions(action)}
        grouped = {head: [verb for verb in verbs if verb in told] for head, verbs in self._groups.items()}
        rest = [verb for verb in told if not any(verb in verbs for verbs in grouped.values())]
        parts = [*grouped.items(), ("more", rest)]
        return "\n".join(f"  {head}:\n{''.join(told[verb] for verb in verbs)}" for head, verbs in parts if verbs)
