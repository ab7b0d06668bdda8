"""Names in series (PTX ISA 5.5): `.reg .b32 %r<8>;` declares `%r0` to `%r7`, and needless zeros change no name."""

from __future__ import annotations

from typing import Final

_DIGITS: Final = "0123456789"
_LONGEST: Final = 19  # digits of a number; no declaration has more


def stem_of(name: str) -> str:
    """What stands before all the digits that a name ends in: the series that it may belong to.

    Example:
        >>> stem_of("%r12"), stem_of("%r1x")
        ('%r', '%r1x')
    """
    return name.rstrip(_DIGITS)


def index_of(name: str, stem: str) -> int:
    """The number that a name ends in, behind its stem; -1 if there is none, or one that no series reaches.

    Example:
        >>> index_of("%r12", "%r"), index_of("%r0012", "%r"), index_of("%r", "%r"), index_of("%r" + "9" * 20, "%r")
        (12, 12, -1, -1)
    """
    digits = name[len(stem) :]
    plain = digits.lstrip("0")
    return int(plain or "0") if digits and len(plain) <= _LONGEST else -1
