"""The examples on the pages of causes, made of planted bugs: the lines, wrong and right, and what `why` says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from diagnosis import suspected
from diagnosis.planted.catalogue import BUGS
from diagnosis.planted.launching import launch
from ptxloom import glossary
from ptxloom.diagnosis import Examination, examine
from ptxloom.views.runs.diagnoses import ReportedRun, full

if TYPE_CHECKING:
    from diagnosis.planted.model import PlantedBug

FILE: Final = Path(glossary.__file__).parent / "examples.toml"
HEAD: Final = "# Kernels that show the causes: `pytest tests/diagnosis/test_cause_pages.py --update` writes them.\n"
_MOST_HUNKS: Final = 3
_AROUND: Final = 1  # lines
_BY_ID: Final = {bug.id: bug for bug in BUGS}


class Shown(NamedTuple):
    """What shows a cause.

    Attributes:
        bug: The planted bug.
        about: What its kernel does, in a sentence or two.
    """

    bug: PlantedBug
    about: str


def _shown(name: str, about: str) -> Shown:
    return Shown(_BY_ID[name], about)


_SMALL = "A warp multiplies 16 rows of A by 8 columns of B; tiles of both are copied to shared memory."
_DIRECT = "Each lane loads from global memory what it holds of A (16x16) and B (16x8); no `ldmatrix` is used."
_TILED = "CTAs of four warps multiply tiles of A and B that two stages of shared memory hold."
_TMA = "TMA copies tiles of A and B to shared memory, where `wgmma` finds them through descriptors."

SHOWN: Final = {
    "trans-missing": _shown("gemm-16x8-f16/b-trans-forgotten", f"{_SMALL} B is row-major, so its load needs `.trans`."),
    "trans-extra": _shown("gemm-16x8-f16/a-trans-too-much", f"{_SMALL} A is row-major, so its load takes no `.trans`."),
    "transposed": _shown(
        "direct-f16/b-row-and-column-of-lane",
        f"{_DIRECT} Of B a lane holds rows `2 * (lane % 4)` and the next, column `lane / 4`: here both are exchanged.",
    ),
    "matrices-exchanged": _shown(
        "transpose-ldmatrix/matrices-1-and-2",
        "A warp transposes 16x16 elements: `ldmatrix` brings four 8x8 matrices, each is stored where it belongs.",
    ),
    "registers-exchanged": _shown("direct-f16/a-registers-1-and-2", _DIRECT),
    "halves-exchanged": _shown(
        "direct-f16/b-packed-the-wrong-way-round",
        f"{_DIRECT} Two elements of a column of B are packed into a register.",
    ),
    "rows-shifted": _shown(
        "hopper-f16/a-rows-of-the-next", f"{_TMA} The row from which A's tile is copied is 8 too high."
    ),
    "columns-shifted": _shown(
        "hopper-f16/b-rows-of-the-next",
        f"{_TMA} B is stored as its transpose: the row from which its tile is copied, a column of B, is 64 too high.",
    ),
    "rows-rotated": _shown("gemm-16x8-f16/a-rows-cyclic", f"{_SMALL} Lane l gives the address of row l."),
    "columns-rotated": _shown("direct-f16/b-columns-cyclic", f"{_DIRECT} A lane's column of B is `lane / 4`."),
    "rows-permuted": _shown("direct-f16/a-rows-in-pairs", f"{_DIRECT} A lane's rows of A are `lane / 4` and 8 more."),
    "columns-permuted": _shown("direct-f16/b-columns-in-pairs", f"{_DIRECT} A lane's column of B is `lane / 4`."),
    "rows-repeated": _shown("direct-f16/a-row-8-forgotten", f"{_DIRECT} Register 1 of A holds rows 8 to 15."),
    "columns-repeated": _shown("direct-f16/b-group-and-3", f"{_DIRECT} A lane's column of B is `lane / 4`: 0 to 7."),
    "swizzle-mismatch": _shown(
        "gemm-64x64-s8/a-read-without-swizzle",
        f"{_TILED} Who writes A's tile puts chunk c of row r at chunk `c ^ (r / 2 % 4)`.",
    ),
    "descriptor": _shown(
        "hopper-f16/a-stride-512",
        f"{_TMA} A's tile has the 128-byte swizzle: 8 rows of 128 bytes are an atom, so the stride "
        "dimension byte offset is 1,024, field 0x40. `ptxloom descriptor 0x4000002000010000` reads the wrong one.",
    ),
    "pitch-mismatch": _shown(
        "gemm-16x8-f16/a-pitch-f16", f"{_SMALL} A's rows of 64 bytes are padded: they are 80 bytes apart."
    ),
    "leading-dimension": _shown(
        "direct-f16/a-pitch-of-a-step", f"{_DIRECT} A row of A has k elements, not only those of one step."
    ),
    "order-exchanged": _shown("direct-f16/b-column-major", f"{_DIRECT} B is row-major, with 8 elements in a row."),
    "k-tile-mismatch": _shown(
        "gemm-16x8-f16/a-second-step-forgotten", f"{_SMALL} A tile is multiplied in two steps of 16 k."
    ),
    "k-tiles-mixed": _shown(
        "direct-f16/a-second-half-of-the-first-step", f"{_DIRECT} Registers 2 and 3 of A hold k 8 to 15 of each step."
    ),
    "k-twice": _shown(
        "gemm-32x32-bf16/second-step-forgotten",
        "Two warps multiply tiles of 32x32 in two steps of k; the second step loads its operands from 32 bytes on.",
    ),
    "k-missing": _shown("gemm-16x8-f16/every-second-tile", f"{_SMALL} The loop over k advances by 64 bytes, a tile."),
    "block-mismatch": _shown(
        "direct-f16-scaled/s-blocks-too-early",
        f"{_DIRECT} Each element of B is multiplied by its scale: S has one for 8 k of a column.",
    ),
    "tile-exchanged": _shown(
        "transpose-words/tile-not-exchanged",
        "A CTA transposes a tile of 32x32 elements through shared memory, and stores it at the transposed tile.",
    ),
    "other-layout": _shown(
        "gemm-32x64-f16-stmatrix/st-shared-where-stmatrix",
        "A warp's results leave through shared memory: `stmatrix` takes them as `mma` leaves them in registers, and "
        "`st.shared` does not.",
    ),
    "index-overflow": _shown(
        "gemm-16x8-bf16-long/index-of-16-bits", f"{_SMALL} A row of A has 5,120 bytes, so row 13 begins beyond 65,535."
    ),
    "nibbles-unshifted": _shown(
        "gemm-fp4/a-shift-forgotten", "`ldmatrix` unpacks `.e2m1` to bytes, which `mma` wants in bits 2 to 5."
    ),
    "stored-twice": _shown("gemm-16x8-f16/row-8-forgotten", f"{_SMALL} Registers 2 and 3 of D hold rows 8 to 15."),
    "added-twice": _shown(
        "slices/bias-of-each-slice", "Two CTAs sum half of k each, and add their sums to C; the first adds the bias."
    ),
    "not-copied": _shown(
        "hopper-f16/a-box-too-narrow",
        f"{_TMA} The box of A's map has 56 columns where a tile has 64, and the bytes that are awaited are fewer, too.",
    ),
    "tail-not-masked": _shown(
        "gemm-32x32-bf16-masked/tail-not-masked",
        "K is 40, and a tile has 32: what of the last tile is beyond K is filled with zeros by `cp.async`.",
    ),
    "operands-exchanged": _shown("gemm-32x32-bf16/b-is-a", "Two warps multiply tiles of A and B."),
    **{
        bug.cause: Shown(
            bug, "A thread computes an element: `max(X - M, 0) + B`, with a mean of M a row, and B a column."
        )
        for bug in suspected.BUGS
    },
    "missing-barrier": Shown(suspected.RACE, "A CTA of two warps turns 64 numbers around through shared memory."),
    "unknown": _shown("direct-f16/a-rows-by-lane", f"{_DIRECT} The row of A follows from the lane in no plain way."),
}
"""What shows each cause."""


def examined(bug: PlantedBug, *, repaired: bool) -> Examination:
    """What `why` says of a bug's kernel, as it is or as it should be."""
    made = bug.kernel.make if repaired else bug.make or bug.kernel.make
    text = bug.kernel.text if repaired else bug.text
    if bug in suspected.BUGS or bug is suspected.RACE:  # which no law tells
        found = suspected.suspected(bug.kernel, text, watched=bug is suspected.RACE)
        return Examination(tuple(found), 0, 0)
    record = launch(bug.kernel, text, made(), provenance=True).provenance
    assert record is not None
    return examine(record, bug.kernel.says, names=dict(enumerate(bug.kernel.names)))


def example(shown: Shown) -> str:
    """The example as it stands on the page."""
    said, _, _ = full(ReportedRun(examined(shown.bug, repaired=False))).partition("\n\n")
    repair = "\n".join(_changed(shown.bug))
    parts = (
        shown.about,
        f"```diff\n{repair}\n```",
        "`-` is wrong, and `+` mends it. `ptxloom why` reports:",
        f"```text\n{said}\n```\n",
    )
    return "\n\n".join(parts)


def written(examples: dict[str, str]) -> str:
    """The file that holds them."""
    return HEAD + "".join(f"\n[{cause}]\nexample = '''\n{text}'''\n" for cause, text in examples.items())


def _changed(bug: PlantedBug) -> list[str]:
    """The lines that are changed, each with its number, the wrong one before the right one, and those around them."""
    wrong, right = bug.text.split("\n"), bug.kernel.text.split("\n")
    changed = [n for n in range(len(right)) if wrong[n] != right[n]]
    hunks = [n for n in changed if n - 1 not in changed]
    shown: dict[int, None] = {}
    for first in hunks[:_MOST_HUNKS]:
        last = next(n for n in range(first, len(right)) if n + 1 not in changed)
        shown |= dict.fromkeys(range(first - _AROUND, last + _AROUND + 1))
    lines: list[str] = []
    for at in sorted(shown):
        if lines and at - 1 not in shown:
            lines.append("  ...")
        if at not in changed:
            lines.append(_line(" ", at, right))
        elif at - 1 not in changed:
            last = next(n for n in range(at, len(right)) if n + 1 not in changed)
            lines += [_line(mark, n, text) for mark, text in (("-", wrong), ("+", right)) for n in range(at, last + 1)]
    rest = [n + 1 for n in hunks[_MOST_HUNKS:]]
    return [*lines, f"  and likewise in line{'s' * (len(rest) > 1)} {', '.join(map(str, rest))}"] if rest else lines


def _line(mark: str, number: int, text: list[str]) -> str:
    code = re.sub(r"\s*//.*", "", text[number]).strip()
    return f"{mark} {number + 1:4}  {code}"
