"""The addresses that an access puts to a tile, by every warp that it takes."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from ptxloom.banks.access import access
from ptxloom.banks.tiles import ROW_BYTES
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.isa.matrix import memory_move
from ptxloom.isa.spelled import spelling_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.banks.tiles import Tile

    Lanes = tuple[int, ...]


class NoTile(PtxloomError):  # noqa: N818 - reads as its message
    """A tile or an access does not fit the other."""


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """One way in which a tile is touched, by as many warps as it takes.

    Attributes:
        name: What the user called it.
        instruction: The instruction of shared memory that the banks serve; empty for TMA, which they do not delay.
        rows: For each address in turn, lane after lane and warp after warp, the tile's row that it is in.
        byte_columns: The byte in that row.
    """

    name: str
    instruction: str
    rows: Lanes
    byte_columns: Lanes


def traffic_of(tile: Tile, name: str) -> Traffic:
    """The addresses that an access puts to a tile.

    Raises:
        NoTile: It does not fit the tile, or is not an access.
        UnsupportedForm: It is spelled wrong.
    """
    what, _, along = name.partition("@")
    if what == "tma":
        return Traffic("tma", "", (), ())
    if what.partition(".")[0] in {"ldmatrix", "stmatrix"}:
        return _matrices(tile, name, _spelled(what))
    if what.startswith("cp.async"):
        return _threads(tile, name, "st.shared.v4.b32", along)
    if what.partition(".")[0] not in {"ld", "st"}:
        raise NoTile(
            f"`{name}` is not an access that can be laid out; name tma, cp.async, ldmatrix.x4, stmatrix.x4, or a load "
            "or store such as ld.shared.v4.b32"
        )
    return _threads(tile, name, what, along)


def _spelled(what: str) -> str:
    """A matrix move in full; how many matrices it moves at once makes no difference here, and may be left out."""
    opcode, *words = what.split(".")
    counted = words if any(word.startswith(("x", "m")) for word in words) else [*words, "x4"]
    return memory_move(spelling_of(".".join((opcode, *counted)))).spelling


def _matrices(tile: Tile, name: str, spelling: str) -> Traffic:
    """Matrices at every multiple of their rows and of 16 bytes, dealt to warps one after the other down the tile."""
    height = 16 if ".m16n16" in spelling else 8
    if tile.rows % height:
        raise NoTile(f"`{name}` takes matrices of {height} rows, which do not divide the {tile.rows} of the tile")
    places = [(row, column) for column in range(0, tile.row_bytes, ROW_BYTES) for row in range(tile.rows)]
    return _traffic(name, spelling, places)


def _traffic(name: str, instruction: str, places: Sequence[tuple[int, int]]) -> Traffic:
    """The (row, byte column) of each address."""
    return Traffic(name, instruction, tuple(row for row, _ in places), tuple(column for _, column in places))


def _threads(tile: Tile, name: str, instruction: str, along: str) -> Traffic:
    """Each thread its own vector: neighbouring lanes along a row, or down a column."""
    of = access(instruction)
    if along not in {"", "row", "column"}:
        raise UsageError("access", name, "`@row` or `@column` after the instruction")
    if tile.row_bytes % of.lane_bytes:
        raise NoTile(f"`{name}` moves {of.lane_bytes} bytes a lane, which do not divide a row of {tile.row_bytes}")
    columns = range(0, tile.row_bytes, of.lane_bytes)
    by_row = [(row, column) for row in range(tile.rows) for column in columns]
    return _traffic(name, instruction, sorted(by_row, key=itemgetter(1)) if along == "column" else by_row)


def access_bytes(traffic: Traffic) -> int:
    """How many bytes of a lane must stay together."""
    return access(traffic.instruction).lane_bytes if traffic.instruction else ROW_BYTES
