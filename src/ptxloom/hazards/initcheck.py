"""What initcheck finds: uses of unwritten bytes."""

from __future__ import annotations

from typing import Final

from ptxloom.hazards.kind import HazardKind

KINDS: Final = (
    HazardKind(
        "initcheck",
        "uninitialised",
        "Finds a use of bytes that have not been written: where they steer control, make an address, leave the CTA, or "
        "meet those of other lanes in `mma`, a vote or an atomic. To load, compute, select and store them within the "
        "CTA is not a hazard: what depends on them is followed, bit by bit, until it is used or overwritten. A byte, "
        "or a word of which a part is written, may leave the CTA if it is only copied: structs have padding. The other "
        "side is the load that found them.",
        "{use} {size} bytes at {place} that have not been written",
        "write it first; a store by another thread counts once a barrier lies between",
    ),
    HazardKind(
        "initcheck",
        "uninitialised-register",
        "Finds a use of a register that was never written, or of what was computed from it.",
        "{register} is used, but was never written",
        "give it a value on every path that leads here",
    ),
)
