"""Special registers: what the hardware tells a thread about itself (PTX ISA 10)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_VECTORS = ("tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid")
_WORDS = [
    "laneid",
    "warpid",
    "nwarpid",
    "smid",
    "nsmid",
    "cluster_ctarank",
    "cluster_nctarank",
    "lanemask_eq",
    "lanemask_le",
    "lanemask_lt",
    "lanemask_ge",
    "lanemask_gt",
    "clock",
    "clock_hi",
    "globaltimer_lo",
    "globaltimer_hi",
    "reserved_smem_offset_begin",
    "reserved_smem_offset_end",
    "reserved_smem_offset_cap",
    "total_smem_size",
    "aggr_smem_size",
    "dynamic_smem_size",
]
_LONG = ("gridid", "clock64", "globaltimer", "current_graph_exec")
_NUMBERED = re.compile(r"(?:pm[0-7]|envreg(?:[12]?[0-9]|3[01])|reserved_smem_offset_[01])")
_NUMBERED_LONG = re.compile(r"pm[0-7]_64")


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """A special register.

    Attributes:
        name: With its percent sign.
        type: The type of its value, or of one component.
        vector: How many components it has; 0 for a scalar.
    """

    name: str
    type: str
    vector: int = 0


def special_register(name: str) -> SpecialRegister | None:
    """The special register of that name ("%tid"); None if there is none.

    Example:
        >>> special_register("%tid").vector, special_register("%clock64").type, special_register("%r1")
        (4, 'u64', None)
    """
    if not name.startswith("%"):
        return None
    bare = name[1:]
    if bare in _VECTORS:
        return SpecialRegister(name, "u32", 4)
    if bare in _WORDS or _NUMBERED.fullmatch(bare):
        return SpecialRegister(name, "u32")
    if bare in _LONG or _NUMBERED_LONG.fullmatch(bare):
        return SpecialRegister(name, "u64")
    return SpecialRegister(name, "pred") if bare == "is_explicit_cluster" else None
