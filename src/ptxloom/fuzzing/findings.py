"""Findings on programs on which judges differ: a bundle that can be run again, and the suspect."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.fuzzing.banks import BANKS, BLOCK, CELLS
from ptxloom.fuzzing.opinions import LEVELS, MACHINE, Refused, frames_of
from ptxloom.fuzzing.shrink import fewer, shrunk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.fuzzing.frames import Frames
    from ptxloom.fuzzing.nodes import Program
    from ptxloom.fuzzing.opinions import Jury

PTXLOOM: Final = "ptxloom"
OPEN: Final = "open"
_PLACES: Final = {bank.offset: (bank.letter, bank.frame_bits // 8, bank.count) for bank in BANKS.values()}


@dataclass(frozen=True, slots=True)
class Finding:
    """A program on which judges differ.

    Attributes:
        case: Its number.
        opinion: The judge that differs from the machine.
        suspect: `ptxloom`, a compiler at a level, or `open`.
        steps: The number of nodes of the original program, and of the shrunk one.
        opinions: For the shrunk program, by judge: a digest of its results, or why it has none.
        where: The first register that differs, such as "thread 7, %w2".
        given: The judge's value there, in hexadecimal.
        expected: The machine's value there.
        ptx: The shrunk program.
        verified: Whether it differs when it is run again.
    """

    case: int
    opinion: str
    suspect: str
    steps: tuple[int, int]
    opinions: dict[str, str]
    where: str
    given: str
    expected: str
    ptx: str
    verified: bool = True

    def record(self) -> dict[str, Any]:
        """The finding as JSON."""
        return asdict(self)


def found(programs: Sequence[Program], at: int, opinion: str, *, jury: Jury, given: Frames, tries: int) -> Finding:
    """Shrink and examine a program on which a judge differs, within its kernel.

    Args:
        programs: The programs of the kernel.
        at: The index of the one that differs.
        opinion: The judge.
        jury: The judges of the shrunk program.
        given: The initial frames of the threads.
        tries: The most kernels to try while shrinking.
    """

    def differs(candidates: Sequence[Program]) -> bool:
        ours = frames_of(MACHINE, jury, candidates, given)
        theirs = frames_of(opinion, jury, candidates, given)
        if isinstance(ours, Refused) or isinstance(theirs, Refused):
            return False
        return not np.array_equal(ours, theirs)

    one = programs[at]
    verified = True
    kernel: list[Program] = [one]
    if not differs(kernel):
        kernel = list(programs)
        verified = differs(kernel)
    if verified:
        kernel = fewer(kernel, differs)
        for number, program in enumerate(kernel):
            rest = kernel[number + 1 :]
            kernel[number] = shrunk(program, lambda it: differs([*kernel[:number], it, *rest]), tries)  # noqa: B023
    kind = opinion.partition(":")[0]
    levels = tuple(f"{kind}:{level}" for level in range(LEVELS)) if kind in {"gpu", "ptxas"} else (opinion,)
    others = dict.fromkeys((MACHINE, *levels, *jury.opinions))
    left = {name: frames_of(name, jury, kernel, given) for name in others}
    said = {name: one.why if isinstance(one, Refused) else digest_of(one) for name, one in left.items()}
    where, theirs, ours = _first(left[opinion], left[MACHINE])
    suspect = suspected(said) if verified else OPEN
    steps = one.steps, sum(program.steps for program in kernel)
    return Finding(one.case, opinion, suspect, steps, said, where, theirs, ours, jury.text(kernel), verified)


def suspected(said: dict[str, str]) -> str:
    """The judge that disagrees with all others: this machine, a compiler at some levels, or `open`.

    All opinions of ptxloom's own must agree. With a GPU, at least three are compared: this machine, unoptimised code,
    and optimised code; two must agree.
    """
    machine = said[MACHINE]
    compiled = {name: one for name, one in said.items() if ":" in name}
    own = [one for name, one in said.items() if ":" not in name and name != "interpreter"]
    if not compiled or any(one != machine for one in own):
        return PTXLOOM
    alone = sorted(name for name, one in compiled.items() if one != machine)
    agreeing = Counter(compiled.values())[machine]
    if not agreeing:
        return PTXLOOM if len(set(compiled.values())) == 1 else OPEN
    return ", ".join(alone)


def digest_of(frames: Frames) -> str:
    """The digest of programs' results."""
    return blake2b(frames.tobytes(), digest_size=8).hexdigest()


def _first(theirs: Frames | Refused, ours: Frames | Refused) -> tuple[str, str, str]:
    """The first place that differs, and both contents of it."""
    if isinstance(theirs, Refused) or isinstance(ours, Refused) or np.array_equal(theirs, ours):
        return "", "", ""
    rows, mine = (one.reshape(-1, one.shape[-1]) for one in (theirs, ours))
    thread, at = (int(one[0]) for one in np.nonzero(rows != mine))
    name, first, width = _place(at)
    left, expected = (one[thread, first : first + width][::-1].tobytes().hex() for one in (rows, mine))
    return f"CTA {thread // BLOCK}, thread {thread % BLOCK}, {name}", left, expected


def _place(at: int) -> tuple[str, int, int]:
    for cell, first in sorted(CELLS.items(), key=lambda item: -item[1]):
        if at >= first:
            return f"[%{cell}+{(at - first) // 4 * 4}]", first + (at - first) // 4 * 4, 4
    offset = max(one for one in _PLACES if one <= at)
    letter, width, _ = _PLACES[offset]
    number = (at - offset) // width
    return f"%{letter}{number}", offset + number * width, width
