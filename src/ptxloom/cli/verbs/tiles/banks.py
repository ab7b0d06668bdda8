"""`ptxloom banks`: the cost of an access to shared memory."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ptxloom.banks import Access, access, bank_conflicts
from ptxloom.cli.results.output import CLEAN, FINDINGS, Outcome, reason, style_for
from ptxloom.cli.results.pictures import drawn, wanted
from ptxloom.cli.sources.inputs import STDIN, read
from ptxloom.cli.sources.instruction import named
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.files.errors import OutOfReach
from ptxloom.files.limited import MOST_SETTINGS, content
from ptxloom.files.names import is_file
from ptxloom.files.reading import decoded
from ptxloom.isa.limits import LANES
from ptxloom.layout import Swizzle
from ptxloom.source import title
from ptxloom.views import bank_pictures

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options

SHARED_END = 1 << 32  # addresses of shared memory have 32 bits
SWIZZLE_UNIT_BYTES = 2  # a swizzle counts 16-bit elements, as CuTe's does for half-precision tiles


def run(options: Options) -> Outcome:
    """Count the wavefronts of one warp; conflicts are findings."""
    instruction = named(options.instruction)
    report = bank_conflicts(instruction, addresses(options, access(instruction)))
    code = FINDINGS if report.conflicts else CLEAN
    if wanted(options):
        plain = None if options.swizzle is None else bank_conflicts(instruction, _plain(options, access(instruction)))
        return drawn(bank_pictures.figure(report, plain, options.colour_by), options, code)
    match options.output_format:
        case "concise":
            return Outcome(bank_pictures.concise(report), code)
        case "json":
            return Outcome(bank_pictures.as_json(report), code)
        case _:
            return Outcome(bank_pictures.full(report, style_for(options)), code)


def addresses(options: Options, of: Access) -> list[int]:
    """The 32 byte addresses that the options describe, swizzled if requested."""
    given = _plain(options, of)
    if options.swizzle is None:
        return given
    swizzle = Swizzle(*options.swizzle)
    return [_swizzled(address, swizzle) for address in given]


def _plain(options: Options, of: Access) -> list[int]:
    """The addresses before any swizzle.

    Raises:
        PtxloomError: They are too far apart, no numbers, or too many or too few.
    """
    step = options.pitch if options.pitch is not None else options.stride
    if step is not None and step * LANES > SHARED_END:
        raise UsageError("addresses", step, f"no more than {SHARED_END // LANES}: addresses have 32 bits")
    return _listed(options.addresses or "", of) if step is None else [lane * step for lane in range(LANES)]


def _swizzled(address: int, swizzle: Swizzle) -> int:
    """A byte address after the swizzle moved its 16-bit element."""
    element, byte = divmod(address, SWIZZLE_UNIT_BYTES)
    return swizzle(element) * SWIZZLE_UNIT_BYTES + byte


def _listed(text: str, of: Access) -> list[int]:
    """Addresses written on the command line, in a file or on standard input; lanes that name none may be left out.

    Raises:
        PtxloomError: They are not numbers, or not as many as the access has lanes.
    """
    if text == STDIN:
        text = read(text).text
    elif is_file(text):
        text = _content(text)
    words = re.split(r"[\s,]+", text.strip())
    try:
        found = [int(word, 0) for word in words]
    except ValueError:
        wrong = next(word for word in words if not _is_number(word))
        raise PtxloomError(
            f"`--addresses` holds {wrong!r}, which is neither an address such as 128 or 0x80 nor a file"
        ) from None
    if len(found) not in (of.lanes, LANES):
        either = f"{of.lanes} or {LANES}" if of.lanes != LANES else f"{LANES}"
        raise PtxloomError(f"`--addresses` holds {len(found)} addresses; `{of.spelling}` takes {either}")
    return found + [0] * (LANES - len(found))


def _content(name: str) -> str:
    """The text of a file of numbers.

    Raises:
        PtxloomError: It may not be read.
    """
    try:
        return decoded(content(Path(name), MOST_SETTINGS), name)
    except (OSError, ValueError, OutOfReach) as error:
        raise PtxloomError(f"{title(name)}: {reason(error)}") from None


def _is_number(word: str) -> bool:
    """Whether Python reads a word as an integer."""
    try:
        int(word, 0)
    except ValueError:
        return False
    return True
