"""Regular expressions that match the same under every Python that runs ptxloom.

Before Python 3.11.5 a possessive group, `(...)*+`, ends where its last turn failed and not where that turn began
(python/cpython#106052). There such a group is compiled as an atomic group around a greedy one, which matches the same
and only remembers each turn until the group ends.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, Final, cast, overload

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RIGHT_SINCE: Final = (3, 11, 5)


@overload
def regex(pattern: str, flags: int = 0) -> re.Pattern[str]: ...
@overload
def regex(pattern: bytes, flags: int = 0) -> re.Pattern[bytes]: ...
def regex(pattern: str | bytes, flags: int = 0) -> re.Pattern[Any]:
    """`re.compile` for a pattern with possessive groups."""
    return re.compile(pattern, flags) if sys.version_info >= RIGHT_SINCE else with_atomic_groups(pattern, flags)


def with_atomic_groups(pattern: str | bytes, flags: int = 0) -> re.Pattern[Any]:
    """The pattern compiled without possessive groups, whatever the Python. It does not know its own text."""
    tree = _parser.parse(pattern, flags)
    for parts, index, (least, most, turn) in _possessive_groups(tree):
        greedy = _parser.SubPattern(tree.state, [(_constants.MAX_REPEAT, (least, most, turn))])
        parts[index] = (_constants.ATOMIC_GROUP, greedy)
    return _compiler.compile(tree, flags)


def has_possessive_groups(pattern: str | bytes, flags: int = 0) -> bool:
    """Whether a pattern has some. `a*+` and `[ab]*+` do not: they fail where they began."""
    return next(_possessive_groups(_parser.parse(pattern, flags)), None) is not None


# `re` has no public name for its parser. This is used with Python 3.11.0 to 3.11.4, and in tests.
_parser: Any = sys.modules["re._parser"]
_compiler: Any = sys.modules["re._compiler"]
_constants: Any = sys.modules["re._constants"]


def _possessive_groups(parts: Any) -> Iterator[tuple[Any, int, tuple[int, int, Any]]]:
    """Each with the parts that it is one of, the innermost first."""
    for index, (kind, value) in enumerate(parts):
        for inner in _inside(value):
            yield from _possessive_groups(inner)
        if kind is _constants.POSSESSIVE_REPEAT and not _is_character(value[2]):
            yield parts, index, value


def _inside(value: Any) -> Iterator[Any]:
    """The patterns within an operation's argument."""
    if isinstance(value, _parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for one in cast("Sequence[Any]", value):
            yield from _inside(one)


def _is_character(turn: Any) -> bool:
    return len(turn) == 1 and turn[0][0] in {
        _constants.LITERAL, _constants.NOT_LITERAL, _constants.IN, _constants.ANY,
    }  # fmt: skip
