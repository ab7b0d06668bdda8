"""Options that print a JSON Schema and exit, as `--version` does."""

from __future__ import annotations

import sys
from argparse import Action
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable, Sequence


class PrintSchema(Action):
    """Print the result of a function, which imports what it needs, and exit."""

    def __init__(self, *, schema: Callable[[], str], **settings: Any) -> None:
        super().__init__(**settings, nargs=0)
        self._schema = schema

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: str | Sequence[object] | None,
        option_string: str | None = None,
    ) -> None:
        """As `--version` does."""
        del namespace, values, option_string
        sys.stdout.write(self._schema())
        parser.exit()
