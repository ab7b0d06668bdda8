"""A part of a grid with wrong elements: trials run it alone, if its CTAs do not depend on the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ptxloom.diagnosis.suspects.trials import Judged

ALL: Final = 0, 0xFFFFFFFF
"""The first CTA, and how many: all."""
_MOST: Final = 32  # parts that are tried
_LEAST_CTAS: Final = 4
_LEAST: Final = 20_000  # instructions of warps of a run that is worth parting: beside what a launch takes
_SHARE: Final = 2  # a part takes at most a half of what the whole does

HEAD: Final = (
    ".reg .b32 %ptxloom_cta, %ptxloom_of, %ptxloom_first, %ptxloom_count;",
    ".reg .pred %ptxloom_other;",
    "mov.u32 %ptxloom_cta, %ctaid.z;",
    *(
        line
        for axis in "yx"
        for line in (
            f"mov.u32 %ptxloom_of, %nctaid.{axis};",
            f"mov.u32 %ptxloom_first, %ctaid.{axis};",
            "mad.lo.u32 %ptxloom_cta, %ptxloom_cta, %ptxloom_of, %ptxloom_first;",
        )
    ),
    "ld.const.v2.u32 {%ptxloom_first, %ptxloom_count}, [%ptxloom_number_at+24];",
    "sub.u32 %ptxloom_cta, %ptxloom_cta, %ptxloom_first;",
    "setp.ge.u32 %ptxloom_other, %ptxloom_cta, %ptxloom_count;",
    "@%ptxloom_other ret;",
)
"""The start of a variant kernel's entry: CTAs that a trial leaves out exit at once."""


class CtaRange(NamedTuple):
    """CTAs of a grid, by their numbers.

    Attributes:
        first: The first one.
        ctas: How many.
        owned: (elements of all compared arrays,) which elements they write.
        initial: (elements of all compared arrays,) their values before the launch.
        before: The results of the whole kernel.
    """

    first: int
    ctas: int
    owned: NDArray[np.bool_]
    initial: NDArray[np.float64]
    before: Judged

    def told(self, after: Judged) -> Judged:
        """The verdict on all elements from a trial of this part; the rest keeps the whole kernel's results."""
        touched = different(after.values, self.initial)
        seen = self.owned | touched
        mended = self.before.wrong & touched & ~after.wrong
        promising = after.ran and bool(mended.any()) and not (after.wrong & touched).any()
        return after._replace(
            wrong=np.where(seen, after.wrong, self.before.wrong),
            values=np.where(seen, after.values, self.before.values),
            promising=promising,
        )


def part_of(
    run: Callable[[tuple[int, int]], Judged], before: Judged, initial: NDArray[np.float64], ctas: int
) -> CtaRange | None:
    """The part of a grid with the most wrong elements; None if the whole is small, or its CTAs depend on each other.

    Args:
        run: Runs the unchanged kernel, of a first CTA and how many.
        before: The results of the whole.
        initial: (elements of all compared arrays,) what they were before the launch.
        ctas: Of the grid.
    """
    if ctas < _LEAST_CTAS or before.instructions < _LEAST:
        return None
    count = -(-ctas // _MOST)
    best: tuple[tuple[bool, int, int], CtaRange] | None = None
    for first in range(0, ctas, count):
        after = run((first, count))
        owned = different(after.values, initial)
        if not after.ran or different(after.values, before.values)[owned].any():
            return None
        wrong = int(np.count_nonzero(owned & before.wrong))
        right = int(np.count_nonzero(owned)) - wrong
        likely = bool(wrong and right), wrong, first
        if wrong and _SHARE * after.instructions <= before.instructions and (best is None or likely > best[0]):
            best = likely, CtaRange(first, count, owned, initial, before)
    return None if best is None else best[1]


def different(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which numbers differ; NaNs are equal to each other."""
    unlike: NDArray[np.bool_] = (one != other) & ~(np.isnan(one) & np.isnan(other))
    return unlike
