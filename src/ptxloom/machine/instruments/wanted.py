"""Which tools watch a launch, from the words in its checks; compiles nothing."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

NEAR: Final = "racecheck"  # the check of shared memory
FAR: Final = "racecheck:global"
FENCES: Final = "racecheck:fences"  # of which compilers leave some out
VARIABLES: Final = "memcheck:variables"  # the check of the bounds of variables
PROFILE: Final = "profile"  # a variant that counts
POISON: Final = "poison"  # the variant that follows poison
PROVENANCE: Final = "provenance"  # a variant that follows tags
_TRACE: Final = "trace:"


def is_racecheck_wanted(checks: frozenset[str]) -> bool:
    """Whether racecheck watches a run, shared memory or global memory."""
    return not checks.isdisjoint((NEAR, FAR, FENCES))


def is_initcheck_wanted(checks: frozenset[str]) -> bool:
    """Whether initcheck watches a run, what a CTA has or global memory."""
    return not checks.isdisjoint(("initcheck", "initcheck:global"))


@cache
def lets_be_hot(checks: frozenset[str]) -> bool:
    """Whether all watching tools allow hot code: memcheck and synccheck are in all code, profiles count there."""
    return checks <= {"memcheck", "synccheck", PROFILE}


@cache
def is_watched(checks: frozenset[str]) -> bool:
    """Whether a tool watches that the run-time supports."""
    return is_racecheck_wanted(checks) or is_initcheck_wanted(checks) or PROVENANCE in checks


def words_of(sites: Iterable[int]) -> frozenset[str]:
    """The words in a variant's checks for following tags, and for the instructions at which shared memory is kept."""
    return frozenset({PROVENANCE, *(f"{PROVENANCE}:{site}" for site in sites)})


def moments_in(checks: frozenset[str]) -> tuple[int, ...]:
    """The instructions at which shared memory is kept, in order."""
    return _sites(f"{PROVENANCE}:", checks)


def keys_of(sites: Iterable[int]) -> frozenset[str]:
    """The words among a variant's checks for the traced instructions."""
    return frozenset(f"{_TRACE}{site}" for site in sites)


def sites_in(checks: frozenset[str]) -> tuple[int, ...]:
    """The traced instructions by a variant's checks, in order."""
    return _sites(_TRACE, checks)


def _sites(prefix: str, checks: frozenset[str]) -> tuple[int, ...]:
    return tuple(sorted(int(word.removeprefix(prefix)) for word in checks if word.startswith(prefix)))
