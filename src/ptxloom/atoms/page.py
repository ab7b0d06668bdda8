"""The page of an atom: the meaning of its name, its effect, and the commands that show and emit it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.atoms.absent import absent
from ptxloom.atoms.copy import CopyAtom
from ptxloom.atoms.lookup import atom
from ptxloom.atoms.tensor_memory import TensorCopyAtom, TensorMmaAtom

if TYPE_CHECKING:
    from ptxloom.atoms.mma import MmaAtom

_LOOKS_SO: Final = re.compile(r"(?:cute::)?SM\d+_\w+")
_READS: Final = {
    "LDSM": "loads from shared memory (`ldmatrix`)",
    "STSM": "stores to shared memory (`stmatrix`)",
    "MOVM": "moves between the registers of a warp (`movmatrix`)",
    "N": "does not transpose",
    "T": "transposes on the way",
}


def atom_page(name: str) -> str:
    """The page of a CuTe C++ name; if there is no such atom, the reason, and the page of the one to use instead.

    Args:
        name: The name, as in CuTe.

    Returns:
        Markdown; empty if this does not look like the name of an atom.

    Raises:
        UnsupportedForm: It looks like one, but there is no such name.
    """
    if not _LOOKS_SO.fullmatch(name):
        return ""
    missing = absent(name)
    if missing is not None:
        head = f"# {missing.name}: CuTe has no such atom\n\n{missing.why}\n\n{missing.advice}\n\n"
        return head + _page(missing.instead).replace("# ", "## ", 1)
    return _page(atom(name))


def _page(one: CopyAtom | MmaAtom | TensorCopyAtom | TensorMmaAtom) -> str:
    if isinstance(one, TensorCopyAtom | TensorMmaAtom):
        return _of_tensor_memory(one)
    copy = isinstance(one, CopyAtom)
    layouts = (
        (("SrcLayout", one.src_layout), ("DstLayout", one.dst_layout))
        if copy
        else (("ALayout", one.a_layout), ("BLayout", one.b_layout), ("CLayout", one.c_layout))
    )
    lines = [f"# {one}: `{one.ptx}`", ""]
    if copy and one.name:
        lines += [*_reading(one.name), ""]
    lines += [f"- CuTe DSL: `{one.operation}`"] if one.operation else []
    lines += [f"- {name}: `{layout}`" for name, layout in layouts]
    what = "(thread, bit) -> bit of the tile" if copy else "(thread, value) -> element"
    lines += ["", f"Layouts are {what}, the leftmost coordinate fastest.", "", "```", f"ptxloom atom {one}"]
    lines += [f"ptxloom map {one.ptx}" + ("" if copy else " --operand a"), f"ptxloom emit {one}", "```"]
    return "\n".join(lines) + "\n"


def _of_tensor_memory(one: TensorCopyAtom | TensorMmaAtom) -> str:
    """The page of an atom of tensor memory."""
    if isinstance(one, TensorCopyAtom):
        layouts = (("ValID", one.val_id), ("SrcLayout", one.src_layout), ("DstLayout", one.dst_layout))
        what = "(thread, bit) -> bit of the moved data; ValID maps it to tensor memory"
        of = ""
    else:
        layouts = (("ALayout", one.a_layout), ("BLayout", one.b_layout), ("CLayout", one.c_layout))
        what, of = "(CTA, element) -> element of the matrix", " --operand d"
    lines = [f"# {one}: `{one.ptx}`", "", f"- ThrID: `{one.thr_id}`"]
    lines += [f"- {name}: `{layout}`" for name, layout in layouts]
    lines += ["", f"Layouts are {what}.", "", "```", f"ptxloom atom {one}", f"ptxloom map {one.ptx}{of}", "```"]
    return "\n".join(lines) + "\n"


def _reading(name: str) -> list[str]:
    """The meaning of each part of a copy atom's name."""
    since, *parts = name.split("_")
    lines = [f"- `{since}`: from sm_{since.removeprefix('SM')} on"]
    for part in parts:
        if part in _READS:
            lines.append(f"- `{part}`: {_READS[part]}")
        elif found := re.fullmatch(r"U(\d+)x(\d+)", part):
            what = "whole register" if found[1] == "32" else "element"
            lines.append(f"- `{part}`: a thread holds {found[2]} {what}{'s' * (found[2] != '1')} of {found[1]} bits")
        elif found := re.fullmatch(r"(SU|DU)(\d+)(?:x(\d+))?", part):
            side = "elements in memory have" if found[1] == "SU" else "elements in registers have"
            lines.append(f"- `{part}`: {side} {found[2]} bits" + (f", {found[3]} of them together" if found[3] else ""))
        elif found := re.fullmatch(r"x(\d+)", part):
            lines.append(f"- `{part}`: {found[1]} {'matrix' if found[1] == '1' else 'matrices'}")
    return lines
