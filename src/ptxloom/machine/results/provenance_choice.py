"""The options of `launch(..., provenance=...)`: the warps and CTAs for which it is kept, and its budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.display import mimebundle
from ptxloom.machine.memory.arena import default_limit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ptxloom.machine.results.trace import Blocks


BUDGET_BYTES: Final = 1 << 28
_PART: Final = 8  # of the memory that a launch may have, provenance takes one at most


@dataclass(frozen=True, slots=True)
class Provenance:
    """How much provenance `launch` keeps; it follows everything else in any case.

    Attributes:
        warps: The warps of each CTA whose matrix products are recorded; None for all.
        ctas: Their CTAs, by index or by (x, y, z); or `"all"`.
        shared_at: Instructions at which shared memory is kept as a warp of the CTA first comes there, each a pattern or
            a line as a `Trace` names them; at the CTA's end it always is.
        shared_at_products: Whether it is kept likewise at the first products of factors that descriptors describe.
        shared_of: The CTAs whose shared memory is kept, by index or by (x, y, z); or `"all"`.
        budget: Bytes for matrix products, and for what values were computed from; ptxloom reports what did not fit.

    Example:
        >>> import numpy as np
        >>> from ptxloom.machine import kernel
        >>> from ptxloom.syntax import parse
        >>> text = ".version 9.0 .target sm_90 .entry k(.param .u64 a, .param .u64 b) { .reg .b64 %a, %b; "
        >>> text += ".reg .b32 %r; ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.global.u32 %r, [%a+8]; "
        >>> text += "st.global.u32 [%b], %r; ret; }"
        >>> args = [np.arange(4, dtype=np.uint32), np.zeros(1, np.uint32)]
        >>> record = kernel(parse(text), "k").launch(1, 1, args, provenance=Provenance(warps=[0])).provenance
        >>> origin = record.contents("b").origins[0]
        >>> record.arrays[origin["array"]].name, int(origin["element"])
        ('a', 2)
    """

    warps: Iterable[int] | None = None
    ctas: Blocks = "all"
    shared_at: Sequence[str | int] = ()
    shared_at_products: bool = True
    shared_of: Blocks = (0,)
    budget: int = BUDGET_BYTES

    _repr_mimebundle_ = mimebundle

    @classmethod
    def within(cls, memory_limit: int | None = None) -> Provenance:
        """As much room for what values are made of as a launch's memory leaves: the usual, up to four times as much.

        Args:
            memory_limit: Bytes of the host's memory that the launch may have; by default as for `launch`.

        Returns:
            The choice, for all else as by default.
        """
        room = (default_limit() if memory_limit is None else memory_limit) // _PART
        return cls(budget=max(min(4 * BUDGET_BYTES, room), BUDGET_BYTES))
