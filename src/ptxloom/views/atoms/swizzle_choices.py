"""The results of the swizzle finder: the arrangements, the cost of each access, and code to paste."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.records import Keywords, Natural, Record, taken
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Table, row, text_table

if TYPE_CHECKING:
    from ptxloom.banks.swizzles import Choice, Found
    from ptxloom.banks.tiles import Arrangement


def full(found: Found, style: Style = PLAIN) -> str:
    """The verdict, a table of choices with wavefronts for each access, and the best one's index expression."""
    shown = [found.plain, *(choice for choice in found.choices if choice is not found.plain)]
    if not found.free and found.best is not found.plain:
        shown.append(found.best)
    by_tma = found.by_tma
    if by_tma is not None and by_tma not in shown:
        shown.append(by_tma)
    head = ("arrangement", "bytes", *(cost.name for cost in found.plain.costs))
    rows = tuple(
        row(choice.arrangement, choice.arrangement.storage_bytes, *(f"{c.wavefronts}/{c.ideal}" for c in choice.costs))
        for choice in shown
    )
    lines = [
        style.paint(f"{verdict(found)}.", Ink.GREEN if found.free else Ink.YELLOW),
        "Wavefronts / those that would do without conflicts, over all warps:",
        *text_table(Table(head, rows), style),
    ]
    best = found.choices[0] if found.free else found.best
    lines += ["", f"index:  {best.arrangement.expression}", f"CuTe:   {best.arrangement.cute}"]
    if by_tma is not None:
        lines.append(f"TMA:    {_tma(by_tma.arrangement)}")
    return "\n".join(lines) + "\n"


def _tma(arrangement: Arrangement) -> str:
    """The tensor map that writes the tile: the mode by the driver's name, and its boxes."""
    mode, boxes = arrangement.tma_mode, arrangement.boxes
    assert mode is not None  # noqa: S101 - the finder offers no others
    how = f"{boxes} boxes" if boxes > 1 else "one box"
    return f"CU_TENSOR_MAP_SWIZZLE_{mode.name}, {how} of {arrangement.box_columns} columns ({arrangement})"


def verdict(found: Found) -> str:
    """The result as a sentence."""
    if not found.free:
        best, over = found.best.arrangement, found.best.conflicts
        nothing = f"{found.tile}: nothing leaves every access free of conflicts"
        return f"{nothing}; {best} costs least, {over} wavefronts too many"
    best = found.choices[0].arrangement
    if not found.plain.conflicts:
        return f"{found.tile}: free of conflicts as it is"
    return f"{found.tile}: {best} leaves every access free of conflicts"


def concise(found: Found) -> str:
    """One line."""
    return f"{verdict(found)}\n"


class TileRecord(Record):
    """The tile."""

    rows: Natural
    columns: Natural
    element: str
    pitch: Natural


class MapRecord(Record):
    """How a tensor map writes the tile."""

    swizzle: str
    boxes: Natural
    columns: Natural


class CostRecord(Record):
    """What an access costs."""

    access: str
    wavefronts: Natural
    ideal: Natural


class ChoiceRecord(Record, define="arrangement"):
    """A layout of a tile."""

    swizzle: tuple[int, int, int] | None
    padding: Natural
    pitch: Natural
    storage: Natural
    conflicts: Natural
    tma: Annotated[MapRecord | None, Keywords(description="how a tensor map writes the tile; null if it cannot")]
    expression: str
    cute: str
    costs: tuple[CostRecord, ...]


class ChoicesRecord(Record):
    """The layouts of a tile."""

    tile: TileRecord
    free: bool
    plain: ChoiceRecord
    choices: tuple[ChoiceRecord, ...]
    best: ChoiceRecord
    tma: ChoiceRecord | None


def as_json(found: Found) -> str:
    """Everything as JSON."""
    return to_text(
        taken(
            ChoicesRecord,
            found,
            tile=taken(TileRecord, found.tile, pitch=found.tile.pitch_bytes),
            plain=_record(found.plain),
            choices=tuple(map(_record, found.choices)),
            best=_record(found.best),
            tma=None if found.by_tma is None else _record(found.by_tma),
        )
    )


def _record(choice: Choice) -> ChoiceRecord:
    one = choice.arrangement
    swizzle = one.of_elements
    return taken(
        ChoiceRecord,
        one,
        swizzle=(swizzle.bits, swizzle.base, swizzle.shift) if swizzle else None,
        padding=one.padding_bytes,
        pitch=one.pitch_bytes,
        storage=one.storage_bytes,
        conflicts=choice.conflicts,
        tma=one.tma_mode and MapRecord(swizzle=one.tma_mode.name, boxes=one.boxes, columns=one.box_columns),
        costs=tuple(taken(CostRecord, cost, access=cost.name) for cost in choice.costs),
    )
