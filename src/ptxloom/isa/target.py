"""Targets: the names legal in a module's `.target` directive, and their features (PTX ISA 11.1.2)."""

from __future__ import annotations

import re
from functools import cache

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError, must_be
from ptxloom.isa.spelling import near_misses
from ptxloom.isa.version import PtxVersion

_SPELLING = re.compile(r"sm_([1-9][0-9]{1,3})([af]?)")
RENAMED = {101: 110}  # PTX 9.0 gave sm_101 a new name; the old one is still accepted

# The PTX version that introduced each target, each group of one version on one line.
_INTRODUCED = """
1.0: sm_10 sm_11 sm_12 sm_13   2.0: sm_20   3.0: sm_30   3.1: sm_35   4.0: sm_32 sm_50   4.1: sm_37 sm_52   4.2: sm_53
5.0: sm_60 sm_61 sm_62         6.0: sm_70   6.1: sm_72   6.3: sm_75   7.0: sm_80         7.1: sm_86         7.4: sm_87
7.8: sm_89 sm_90               8.0: sm_90a  8.6: sm_100 sm_100a sm_101 sm_101a           8.7: sm_120 sm_120a
8.8: sm_100f sm_101f sm_103 sm_103a sm_103f sm_120f sm_121 sm_121a sm_121f
9.0: sm_88 sm_110 sm_110a sm_110f
9.4: sm_107 sm_107a sm_107f
"""

OPTIONS = ("texmode_unified", "texmode_independent", "debug", "map_f64_to_f32")
"""What `.target` may list in addition to an architecture."""


@dataclass(frozen=True, slots=True)
class Target:
    """An architecture; unknown future ones are possible.

    Attributes:
        number: 90 in `sm_90a`.
        suffix: "a" for features of this architecture only, "f" for its family's, "" for those of all later ones, too.

    Example:
        >>> Target.parse("sm_103a").in_family_of(Target.parse("sm_100f"))
        True
    """

    number: int
    suffix: str = ""

    @classmethod
    def parse(cls, text: str) -> Target:
        """Parse a target, known or not.

        Args:
            text: Such as "sm_90a".

        Returns:
            The target.

        Raises:
            UsageError: `text` is not spelled like a target.
        """
        must_be(str, "target", text, "a target such as sm_90a")
        match = _SPELLING.fullmatch(text)
        if match is None:
            raise UsageError("target", text, f"a target such as sm_90a{did_you_mean(text)}")
        return cls(int(match[1]), match[2])

    @classmethod
    def of(cls, target: Target | str) -> Target:
        """A target from its value or its spelling.

        Args:
            target: The target itself, or its spelling.

        Returns:
            The target.

        Raises:
            UsageError: It is neither.
        """
        return target if isinstance(target, Target) else cls.parse(target)

    @property
    def since(self) -> PtxVersion | None:
        """The PTX version that introduced this target; None if ptxloom does not know the target."""
        return _introduced().get(self)

    @property
    def beyond_known(self) -> bool:
        """Whether this target is newer than all known ones."""
        return self.number > max(known.number for known in _introduced())

    def in_family_of(self, base: Target) -> bool:
        """Whether this target has the features of a family: same major number, no older.

        Args:
            base: The family's first target, with the suffix `f`.

        Returns:
            Whether it has them.
        """
        mine, theirs = _current(self.number), _current(base.number)
        return self.suffix != "" and mine // 10 == theirs // 10 and mine >= theirs

    def runs_on(self, capability: int) -> bool:
        """Whether a device can run PTX that was made for this target (CUDA Programming Guide, "Compute Capability").

        Args:
            capability: The device's compute capability, times ten.

        Returns:
            True for any later device if the target has no suffix, the same one for `a`, and for `f` the same one
            and later ones of its family.

        Example:
            >>> [Target.parse(name).runs_on(103) for name in ("sm_90", "sm_90a", "sm_100f", "sm_100a", "sm_103a")]
            [True, False, True, False, True]
        """
        mine, theirs = _current(self.number), _current(capability)
        match self.suffix:
            case "a":
                return mine == theirs
            case "f":
                return mine <= theirs and mine // 10 == theirs // 10
            case _:
                return self.number <= capability

    @property
    def closeness(self) -> tuple[int, int]:
        """A key to order the targets that a device can run: the greatest uses most of the device."""
        return self.number, ("", "f", "a").index(self.suffix)

    def __str__(self) -> str:
        return f"sm_{self.number}{self.suffix}"


@dataclass(frozen=True, slots=True)
class TargetRange:
    """The targets that have a feature, in the notation of the ISA data.

    `sm_75`: that number or a higher one, any suffix. `sm_90a`: exactly that one. `sm_100f`: its family.
    `sm_100+af`: that number or a higher one, with a suffix.

    Example:
        >>> [Target.parse(name) in TargetRange.parse("sm_100+af") for name in ("sm_120a", "sm_120")]
        [True, False]
    """

    base: Target
    any_suffix: bool = False

    @classmethod
    def parse(cls, text: str) -> TargetRange:
        """Parse a range.

        Raises:
            UsageError: It is not a range.
        """
        name, plus, suffixes = text.partition("+")
        if plus and suffixes != "af":
            raise UsageError("target range", text, "sm_75, sm_90a, sm_100f or sm_100+af")
        return cls(Target.parse(name), bool(plus))

    def __contains__(self, target: Target) -> bool:
        if self.any_suffix:
            return target.suffix != "" and target.number >= self.base.number
        match self.base.suffix:
            case "a":
                return (_current(target.number), target.suffix) == (_current(self.base.number), "a")
            case "f":
                return target.in_family_of(self.base)
            case _:
                return target.number >= self.base.number

    def __str__(self) -> str:
        if self.any_suffix:
            return f"{self.base} or later with suffix `a` or `f`"
        match self.base.suffix:
            case "a":
                return str(self.base)
            case "f":
                return f"the family of {self.base}"
            case _:
                return f"{self.base} or later"


def targets() -> tuple[Target, ...]:
    """Every target that ptxloom knows, by number, then suffix."""
    return tuple(sorted(_introduced(), key=lambda target: (target.number, target.suffix)))


def known_target(text: str) -> Target:
    """A target that exists, or one newer than all known ones.

    Raises:
        UsageError: It is not a target, or never existed.
    """
    target = Target.parse(text)
    if target.since is None and not target.beyond_known:
        raise UsageError("target", text, f"a target that exists{did_you_mean(text)}")
    return target


def did_you_mean(text: str) -> str:
    """A clause that names the known target nearest to `text`, or nothing."""
    near = near_misses(text, (str(target) for target in targets()))
    return f"; did you mean {near[0]}?" if near else ""


def _current(number: int) -> int:
    return RENAMED.get(number, number)


@cache
def _introduced() -> dict[Target, PtxVersion]:
    found: dict[Target, PtxVersion] = {}
    version = PtxVersion(1, 0)
    for word in _INTRODUCED.split():
        if word.endswith(":"):
            version = PtxVersion.parse(word[:-1])
        else:
            found[Target.parse(word)] = version
    return found
