"""What the swizzle finder found: the choices, what each access costs under them, and what to paste."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Table, row, text_table

if TYPE_CHECKING:
    from ptxloom.banks.swizzles import Choice, Found
    from ptxloom.banks.tiles import Arrangement
    from ptxloom.views.core.json_text import Value


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
    """How a tensor map writes the tile: the mode by the driver's name, and its boxes."""
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


def as_json(found: Found) -> str:
    """Everything as JSON."""
    choices: list[Value] = [_record(choice) for choice in found.choices]
    tile = found.tile
    return to_text(
        {
            "tile": {"rows": tile.rows, "columns": tile.columns, "element": tile.element, "pitch": tile.pitch_bytes},
            "free": found.free,
            "plain": _record(found.plain),
            "choices": choices,
            "best": _record(found.best),
            "tma": None if found.by_tma is None else _record(found.by_tma),
        }
    )


def _record(choice: Choice) -> Value:
    arrangement = choice.arrangement
    swizzle = arrangement.of_elements
    costs: list[Value] = [{"access": c.name, "wavefronts": c.wavefronts, "ideal": c.ideal} for c in choice.costs]
    return {
        "swizzle": [swizzle.bits, swizzle.base, swizzle.shift] if swizzle else None,
        "padding": arrangement.padding_bytes,
        "pitch": arrangement.pitch_bytes,
        "storage": arrangement.storage_bytes,
        "conflicts": choice.conflicts,
        "tma": None
        if arrangement.tma_mode is None
        else {"swizzle": arrangement.tma_mode.name, "boxes": arrangement.boxes, "columns": arrangement.box_columns},
        "expression": arrangement.expression,
        "cute": arrangement.cute,
        "costs": costs,
    }
