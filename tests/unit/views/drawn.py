"""Pictures read back: what stands in which cell, by the names that stand beside and above it."""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Final

SVG: Final = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Text:
    x: float
    y: float
    text: str
    anchor: str
    bold: bool


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    fill: str
    lines: tuple[str, ...]
    tip: str

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2


@dataclass(frozen=True)
class Place:
    """A cell by the names that a reader finds for it."""

    grid: str
    row: str
    column: str


def number(element: ET.Element, name: str) -> float:
    return float(element.get(name, "0"))


def of_svg(text: str) -> tuple[list[Text], list[Box]]:
    """The texts and the labelled boxes of a picture."""
    root = ET.fromstring(text)  # noqa: S314 - our own text
    texts = [
        Text(
            number(t, "x"), number(t, "y"), t.text or "", t.get("text-anchor", "start"), t.get("font-weight") == "bold"
        )
        for t in root.findall(f"{SVG}text")
    ]
    boxes: list[Box] = []
    for group in root.findall(f"{SVG}g"):
        rect = group.find(f"{SVG}rect")
        assert rect is not None
        x, y, width, height = (number(rect, name) for name in ("x", "y", "width", "height"))
        lines = tuple(t.text or "" for t in group.findall(f"{SVG}text"))
        boxes.append(Box(x, y, width, height, rect.get("fill", ""), lines, group.findtext(f"{SVG}title", "")))
    return texts, boxes


def cells(svg: str) -> dict[Place, Box]:
    """Every cell that has a name at its left and one above it."""
    texts, boxes = of_svg(svg)
    found: dict[Place, Box] = {}
    for box in boxes:
        x, y = box.middle
        rows = [t for t in texts if t.anchor == "end" and abs(t.y - 4 - y) < 1 and t.x <= box.x]
        columns = [t for t in texts if t.anchor == "middle" and abs(t.x - x) < 1 and t.y < box.y and t.text.isdecimal()]
        if not rows or not columns:
            continue
        row = max(rows, key=lambda t: t.x)
        column = max(columns, key=lambda t: t.y)
        titles = [t for t in texts if t.bold and t.y < column.y and t.x <= row.x]
        title = max(titles, key=lambda t: (t.y, t.x))
        place = Place(title.text, row.text, column.text)
        assert place not in found
        found[place] = box
    return found


class _Tables(HTMLParser):
    """The tables of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[Place, tuple[str, str]] = {}
        self._grid = self._row = self._text = self._tip = ""
        self._heads: list[str] = []
        self._at = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._text = ""
        match tag:
            case "table":
                self._heads = []
            case "tr":
                self._at, self._row = 0, ""
            case "td":
                self._tip = dict(attrs).get("title") or ""
            case _:
                pass

    def handle_data(self, data: str) -> None:
        self._text += data

    def handle_endtag(self, tag: str) -> None:
        match tag:
            case "caption":
                self._grid = self._text.partition(". ")[0]
            case "th" if self._row == "" and self._at == len(self._heads):
                self._heads.append(self._text)
                self._at += 1
            case "th":
                self._row = self._text
                self._at += 1
            case "td":
                self.found[Place(self._grid, self._row, self._heads[self._at])] = (self._text, self._tip)
                self._at += 1
            case _:
                pass


def tables(page: str) -> dict[Place, tuple[str, str]]:
    """Every cell of a page's tables, by caption, row and column: its text and its tip."""
    parser = _Tables()
    parser.feed(page)
    return parser.found


def tex_nodes(text: str) -> list[str]:
    """What the nodes of a TikZ picture say."""
    return [
        re.sub(r"\\bfseries |\{\}", "", found) for found in re.findall(r"\\node\[[^]]*\] at \([^)]*\) \{(.*)\};", text)
    ]
