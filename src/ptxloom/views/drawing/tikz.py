"""A scene as LaTeX: a TikZ picture in a document of its own, which others take in by the package `standalone`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, assert_never

from ptxloom.views.core.cells import harmless
from ptxloom.views.drawing.scene import SIZE, Appearance, Box, Label, Path

if TYPE_CHECKING:
    from ptxloom.views.drawing.scene import Scene

_SPECIAL: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "-": r"-{}",
    "–": r"\textendash{}",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "…": r"\dots{}",
    "\N{NO-BREAK SPACE}": "~",
}
_UNIT: Final = "0.75bp"  # a CSS pixel
_ANCHORS: Final = {"start": "base west", "middle": "base", "end": "base east"}


def write(scene: Scene, look: Appearance) -> str:
    """A document; colours are defined once each, lengths are the scene's."""
    colours = _Colours(look)
    body: list[str] = []
    if not look.transparent:
        ground = colours.name(look.theme.ground)
        body.append(rf"\fill[{ground}] (0,0) rectangle ({scene.width:g},{scene.height:g});")
    for mark in scene.marks:
        match mark:
            case Box():
                body += _box(mark, look, colours)
            case Label():
                body.append(_label(mark, colours))
            case Path():
                body.append(_path(mark, colours))
            case _:
                assert_never(mark)
    head = [
        f"% {_plain(scene.title)}",
        r"\documentclass[tikz]{standalone}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage{textcomp}",
        r"\usepackage{lmodern}",
        r"\begin{document}",
        r"\frenchspacing",
        *(rf"\definecolor{{{name}}}{{HTML}}{{{value[1:].upper()}}}" for value, name in colours.names.items()),
        rf"\begin{{tikzpicture}}[x={_UNIT},y=-{_UNIT},line width={_UNIT},inner sep=0pt,",
        rf"  every node/.style={{font=\ttfamily\fontsize{{{SIZE * 0.75:g}}}{{{SIZE * 0.9:g}}}\selectfont}}]",
    ]
    return "\n".join([*head, *body, r"\end{tikzpicture}", r"\end{document}"]) + "\n"


class _Colours:
    """The names of colours, in the order in which they are met."""

    def __init__(self, look: Appearance) -> None:
        self._theme = look.theme
        self.names: dict[str, str] = {}

    def name(self, paint: str) -> str:
        """The name of a colour or a role."""
        value = self._theme.colour(paint)
        return self.names.setdefault(value, f"c{chr(ord('a') + len(self.names))}")


def _plain(text: str) -> str:
    """A text in a comment of one line."""
    return " ".join(harmless(text).split())


def _text(text: str) -> str:
    """A text of one line as TeX; characters that the font lacks become a question mark."""
    shown = re.sub(r"  +", lambda blanks: "\N{NO-BREAK SPACE}" * len(blanks[0]), harmless(text))
    return "".join(_SPECIAL.get(c, c if c < "\x7f" or c in "äöüÄÖÜßéèáàñç" else "?") for c in shown)


def _box(box: Box, look: Appearance, colours: _Colours) -> list[str]:
    options = [f"fill={colours.name(box.fill)}"] if box.fill else []
    if box.frame:
        options += [f"draw={colours.name(box.frame)}", *([f"line width={box.weight * 0.75:g}bp"] * (box.weight != 1))]
    options += ["dashed"] * box.dashed
    lines: list[str] = []
    if options:
        corner = f"({box.x:g},{box.y:g}) rectangle +({box.width:g},{box.height:g})"
        lines.append(rf"\path[{','.join(options)}] {corner};")
    ink = colours.name(look.ink_on(box.fill)) if box.lines else ""
    x, anchor = (box.x + 4, "base west") if box.left else (box.x + box.width / 2, "base")
    for y, line in zip(box.baselines, box.lines, strict=True):
        lines.append(_node(x, y, line, f"anchor={anchor},text={ink}", bold=box.bold))
    return lines


def _node(x: float, y: float, text: str, options: str, *, bold: bool) -> str:
    strong = r"\bfseries " * bold
    return rf"\node[{options}] at ({x:g},{y:g}) {{{strong}{_text(text)}}};"


def _label(label: Label, colours: _Colours) -> str:
    options = f"anchor={_ANCHORS[label.anchor]},text={colours.name(label.paint)}"
    if label.size != SIZE:
        options += rf",font=\ttfamily\fontsize{{{label.size * 0.75:g}}}{{{label.size * 0.9:g}}}\selectfont"
    return _node(label.x, label.y, label.text, options, bold=label.bold)


def _path(path: Path, colours: _Colours) -> str:
    way = f"({path.start[0]:g},{path.start[1]:g})"
    for step in path.steps:
        points = [f"({step[at]:g},{step[at + 1]:g})" for at in range(0, len(step), 2)]
        way += f" -- {points[0]}" if len(points) == 1 else f" .. controls {points[0]} and {points[1]} .. {points[2]}"
    paint = colours.name(path.paint)
    if path.filled:
        return rf"\fill[{paint}] {way} -- cycle;"
    dash = "".join(f" {'on' if at % 2 == 0 else 'off'} {length * 0.75:g}bp" for at, length in enumerate(path.dash))
    pattern = f",dash pattern={dash.strip()}" if dash else ""
    return rf"\draw[{paint},line width={path.width * 0.75:g}bp{pattern}] {way};"
