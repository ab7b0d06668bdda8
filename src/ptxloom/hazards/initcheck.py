"""What initcheck finds: uses of unwritten bytes."""

from __future__ import annotations

from typing import Final

from ptxloom.hazards.kind import HazardKind

KINDS: Final = (
    HazardKind(
        "initcheck",
        "uninitialised",
        "Finds a use of bytes that have not been written: where they decide a branch, form an address, leave the CTA, "
        "or meet those of other lanes in `mma`, a vote or an atomic. Loading, computing with, selecting and storing "
        "them within the CTA is not a hazard: what depends on them is followed, bit by bit, until it is used or "
        "overwritten. A byte, or a partly written word, may leave the CTA if it is only copied: structs have padding. "
        "The other side of the report is the load that found them.",
        "{use} {size} bytes at {place} that have not been written",
        "write it first; a store by another thread counts after a barrier between the two",
    ),
    HazardKind(
        "initcheck",
        "uninitialised-register",
        "Finds a use of a register that was never written, or of what was computed from it.",
        "{register} is used, but was never written",
        "give it a value on every path that leads here",
    ),
)
