"""In which order changes are tried, and which are compiled together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnosis.suspects.variants import form_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.diagnosis.suspects.changes import Change
    from ptxloom.diagnosis.suspects.search_outcome import Found

_ABOUT: Final = 1.5  # of a likelihood, in ranks
AT_ONCE: Final = 256  # changes that are compiled together


def in_turn(changes: list[Change]) -> list[Change]:
    """Changes alternately by likelihood and in text order: misleading evidence then costs at most half."""
    likeliest = sorted(changes, key=lambda one: one.likelihood)
    both = (one for pair in zip(likeliest, changes, strict=True) for one in pair)
    return list(dict.fromkeys(both))


def batches(changes: list[Change], at_once: int = AT_ONCE) -> Iterator[list[Change]]:
    """Changes that are compiled together: those of one form always, the likeliest first."""
    forms: dict[object, list[Change]] = {}
    for one in changes:
        forms.setdefault(form_of(one), []).append(one)
    batch: list[Change] = []
    count = 0
    for several in forms.values():
        batch += several
        count += len(several[0].compiled)
        if count >= at_once:
            yield batch
            batch, count = [], 0
    if batch:
        yield batch


def still(batch: list[Change], found: Found) -> list[Change]:
    """The changes still to try: once one mends everything, only those that are about as likely."""
    if not found.mends:
        return batch
    most = min(one.likelihood for one in found.mends) + _ABOUT
    left = [one for one in batch if one.likelihood <= most]
    found.is_complete = found.is_complete and len(left) == len(batch)
    return left
