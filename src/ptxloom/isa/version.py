"""PTX versions: the legal values of a module's `.version` directive (PTX ISA 11.1.1 and its release history)."""

from __future__ import annotations

import re

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError, must_be

_LAST_MINOR = {1: 5, 2: 3, 3: 2, 4: 3, 5: 0, 6: 5, 7: 8, 8: 8, 9: 5}  # the last minor version of each major one
SPELLING = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
"""The spelling of a version, in files and by callers."""


@dataclass(frozen=True, slots=True, order=True)
class PtxVersion:
    """A version of PTX, ordered as they were released.

    Example:
        >>> PtxVersion(8, 6) < PtxVersion.parse("9.0"), str(PtxVersion(7, 8))
        (True, '7.8')
    """

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> PtxVersion:
        """Parse a version such as "8.6", released or not.

        Raises:
            UsageError: `text` is not a pair of numbers of at most four digits.
        """
        must_be(str, "ptx_version", text, 'a version such as "8.6"')
        match = SPELLING.fullmatch(text)
        if match is None:
            raise UsageError("ptx_version", text, 'a version such as "8.6"')
        return cls(int(match[1]), int(match[2]))

    @classmethod
    def of(cls, version: PtxVersion | str) -> PtxVersion:
        """A version from its value or its spelling.

        Raises:
            UsageError: It is neither.
        """
        return version if isinstance(version, PtxVersion) else cls.parse(version)

    @property
    def released(self) -> bool:
        """Whether this version exists, as far as ptxloom knows; 6.6, 7.9 and 8.9 never did."""
        return 0 <= self.minor <= _LAST_MINOR.get(self.major, -1)

    @property
    def beyond_known(self) -> bool:
        """Whether this version is later than all known ones."""
        return self > NEWEST

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


NEWEST = PtxVersion(*max(_LAST_MINOR.items()))


def versions() -> tuple[PtxVersion, ...]:
    """Every released version, oldest first."""
    return tuple(PtxVersion(major, minor) for major, last in _LAST_MINOR.items() for minor in range(last + 1))
