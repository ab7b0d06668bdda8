"""The errors of argparse, as sentences in the style of the rest of ptxloom."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.cli.usage.meant import meant_command, meant_option
from ptxloom.source import title

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_LONGEST: Final = 80

_VALUE: Final = re.compile(r"argument (\S+): invalid (.+) value: (.*)", re.DOTALL)
_CHOICE: Final = re.compile(r"argument (\S+): invalid choice: (.*) \(choose from (.*)\)", re.DOTALL)
_BARE: Final = re.compile(r"argument (\S+): expected (?:one|at least one) argument")
_ABSENT: Final = re.compile(r"the following arguments are required: (.*)")
_ONE_OF: Final = re.compile(r"one of the arguments (.*) is required")
_BOTH: Final = re.compile(r"argument (\S+): not allowed with argument (\S+)")
_UNASKED: Final = re.compile(r"argument (\S+): ignored explicit argument (.*)", re.DOTALL)
_UNKNOWN: Final = re.compile(r"unrecognized arguments: (.*)", re.DOTALL)

_KINDS: Final = {"int": "a whole number", "float": "a number"}
_VERB: Final = "VERB"


def sentence(message: str, options: Iterable[str], verbs: Mapping[str, str]) -> str:
    """One sentence for an error of argparse; errors not known here are left as they are.

    Args:
        message: The error of argparse.
        options: The options that could have been meant.
        verbs: The verbs that could have been meant, with their purposes.
    """
    if (said := _CHOICE.fullmatch(message)) and said[1] == _VERB:
        return _no_verb(said[2], verbs)
    for pattern, say in _SENTENCES:
        if said := pattern.fullmatch(message):
            return say(*said.groups())
    if said := _UNKNOWN.fullmatch(message):
        return _unknown(said[1], options)
    return message


def _value(name: str, kind: str, value: str) -> str:
    return f"{_plain(name)} is {_short(value)}; it must be {_KINDS.get(kind, kind)}"


def _choice(name: str, value: str, choices: str) -> str:
    known = [choice.strip("' ") for choice in choices.split(",")]
    return f"{_plain(name)} is {_short(value)}; it must be {_listed(known, 'or')}"


def _no_verb(value: str, verbs: Mapping[str, str]) -> str:
    word = value.strip("'")
    command = meant_command(word, verbs)
    about = verbs.get(command, "")
    if not command:
        return f"there is no verb `{_short(word)}`; `ptxloom --help` lists the verbs"
    return f"there is no verb `{_short(word)}`; did you mean `ptxloom {command}`{about and f' ({about})'}?"


def _absent(names: str) -> str:
    missing = names.split(", ")
    return f"{_listed(missing, 'and')} {'is' if len(missing) == 1 else 'are'} missing"


def _unknown(words: str, options: Iterable[str]) -> str:
    first = words.partition(" ")[0]
    if not first.startswith("-"):
        return f"nothing that `{_short(words)}` could be here"
    near = meant_option(first.partition("=")[0], options)
    return f"there is no option `{_short(first)}` here" + (f"; did you mean `{near}`?" if near else "")


def _plain(name: str) -> str:
    """`-o/--output` by its long name."""
    return name.rpartition("/")[2] if name.startswith("-") else name


def _short(value: str) -> str:
    value = title(value)
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"


def _listed(names: list[str], last: str) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def _bare(name: str) -> str:
    return f"{_plain(name)} has no value; a value must follow it"


def _one_of(names: str) -> str:
    return f"{_listed(names.split(' '), 'or')} is missing"


def _both(name: str, other: str) -> str:
    return f"{_plain(name)} and {_plain(other)} exclude each other"


def _unasked(name: str, value: str) -> str:
    return f"{_plain(name)} takes no value, but {_short(value)} is given"


_SENTENCES: Final[tuple[tuple[re.Pattern[str], Callable[..., str]], ...]] = (
    (_VALUE, _value),
    (_CHOICE, _choice),
    (_BARE, _bare),
    (_ABSENT, _absent),
    (_ONE_OF, _one_of),
    (_BOTH, _both),
    (_UNASKED, _unasked),
)
