"""Atoms and the advisor's results as text, one line, and JSON."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Final

from ptxloom.atoms import CopyAtom, MmaAtom, TensorCopyAtom, TensorMmaAtom
from ptxloom.atoms.wrappers.parts import needs_of, needs_of_features
from ptxloom.fragments import fragment
from ptxloom.isa.resolution.forms import resolve
from ptxloom.records import ABSENT, Absent, Keywords, Record, taken
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Table, row, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.atoms import Advice, Fit
    from ptxloom.atoms.addressing import RowOffsets
    from ptxloom.layout import Layout

Atom = CopyAtom | MmaAtom | TensorCopyAtom | TensorMmaAtom


def full(atom: Atom, style: Style = PLAIN) -> str:
    """Everything about one atom: its names, what it needs, its layouts."""
    lines = [style.paint(str(atom), Ink.BOLD)]
    if isinstance(atom, TensorCopyAtom | TensorMmaAtom):
        lines += [f"{name:10} {value}" for name, value in _in_tensor_memory(atom)]
        if isinstance(atom, TensorCopyAtom):
            lines.append("ValID is bit -> bit of tensor memory: 32 a column, 2097152 (DP_b) a lane")
            lines.append("the others are (thread, bit) -> bit of what is moved")
        else:
            lines.append("layouts are (CTA, element) -> m + M*k for A, n + N*k for B, m + M*n for D")
            lines.append("where elements are in tensor memory: `ptxloom map`; in shared memory: `ptxloom descriptor`")
        return "\n".join(lines) + "\n"
    lines += [f"{name:10} {value}" for name, value in _facts(atom)]
    if isinstance(atom, CopyAtom):
        lines.append("layouts are (thread, bit) -> bit of a tile of 16-byte rows, matrix after matrix")
        if atom.permuted:
            lines.append(
                "bytes are exchanged after the load: d0 = {t0.0, t0.1, t1.0, t1.1}, d1 = {t0.2, t0.3, t1.2, t1.3}"
            )
    else:
        lines.append("layouts are (thread, value) -> m + M*k for A, n + N*k for B, m + M*n for C and D")
        lines += _of_warpgroup(atom)
    return "\n".join(lines) + "\n"


def _of_warpgroup(atom: MmaAtom) -> list[str]:
    """What layouts mean that are those of shared memory or of sparse factors."""
    if atom.instruction.opcode != "wgmma":
        return []
    shared = "A and B lie" if atom.a_source == "shared" else "B lies"
    lines = [f"{shared} in shared memory, which every thread has as a whole; see its matrix descriptor"]
    if atom.e_layout is not None:
        lines.append("k counts the elements that are left out, too; E is the metadata of A")
    return lines


def _in_tensor_memory(atom: TensorCopyAtom | TensorMmaAtom) -> list[tuple[str, str]]:
    """The facts of an atom of tensor memory by name."""
    facts = [("PTX", atom.ptx), ("needs", _needs_of_tensor(atom)), ("CuTe C++", atom.name), ("ThrID", str(atom.thr_id))]
    facts += [(name, str(layout)) for name, layout in _layouts(atom)]
    if isinstance(atom, TensorCopyAtom):
        reference = "DstLayout" if atom.ref_layout == atom.dst_layout else "SrcLayout"
        facts.append(("RefLayout", reference))
    held = fragment(atom.ptx, "d" if isinstance(atom, TensorMmaAtom) else None)
    return [*facts, ("evidence", str(held.confirmed))]


def _layouts(atom: TensorCopyAtom | TensorMmaAtom) -> tuple[tuple[str, Layout], ...]:
    if isinstance(atom, TensorCopyAtom):
        return ("ValID", atom.val_id), ("SrcLayout", atom.src_layout), ("DstLayout", atom.dst_layout)
    return ("ALayout", atom.a_layout), ("BLayout", atom.b_layout), ("CLayout", atom.c_layout)


def _needs_of_tensor(atom: TensorCopyAtom | TensorMmaAtom) -> str:
    """The version and the targets that an atom of tensor memory needs."""
    opcode, *spelled = atom.ptx.split(".")
    words = atom.instruction.words if isinstance(atom, TensorMmaAtom) else tuple(spelled)
    form = resolve(opcode, words).form
    return str(needs_of_features(form.features if form is not None else ()))


def _facts(atom: CopyAtom | MmaAtom) -> list[tuple[str, str]]:
    """The atom's facts by name, including what CuTe lacks."""
    names = ", ".join(atom.names) if isinstance(atom, MmaAtom) else atom.name
    shared = [
        ("PTX", atom.ptx),
        ("needs", str(needs_of(atom))),
        ("CuTe C++", names or "none"),
        ("CuTe DSL", atom.operation or "none"),
        ("ThrID", str(atom.thr_id)),
    ]
    if isinstance(atom, CopyAtom):
        reference = "DstLayout" if atom.loads else "SrcLayout"
        sides = [("SrcLayout", str(atom.src_layout)), ("DstLayout", str(atom.dst_layout)), ("RefLayout", reference)]
        sides.append(("evidence", str(fragment(atom.instruction).confirmed)))
        return [*shared, *sides]
    sides = [("ALayout", atom.a_layout), ("BLayout", atom.b_layout), ("CLayout", atom.c_layout)]
    if atom.e_layout is not None:
        sides.insert(1, ("ELayout", atom.e_layout))
    return [*shared, *((name, str(layout)) for name, layout in sides)]


def concise(atom: Atom) -> str:
    """One line: what PTX, C++ and Python call it."""
    if isinstance(atom, TensorCopyAtom | TensorMmaAtom):
        return f"{atom.ptx} = {atom.name}\n"
    return f"{atom.ptx} = {atom.name or '-'} = {atom.operation or '-'}\n"


_LAYOUTS: Final = {
    CopyAtom: ("src_layout", "dst_layout", "ref_layout"),
    MmaAtom: ("a_layout", "b_layout", "c_layout", "e_layout"),
    TensorCopyAtom: ("val_id", "src_layout", "dst_layout"),
    TensorMmaAtom: ("a_layout", "b_layout", "c_layout"),
}
_OFFSETS: Final = "Bytes from the start of the tile at which each lane's row begins, lane by lane; null without a tile."


class AtomRecord(Record, define="one_atom"):
    """An atom: `permuted` and the layouts of both sides if it copies, those of A, B and C if it multiplies."""

    ptx: str
    name: str | None
    operation: str | Absent | None = ABSENT
    needs: str
    thr_id: str
    permuted: bool | Absent = ABSENT
    val_id: str | Absent = ABSENT
    src_layout: str | Absent = ABSENT
    dst_layout: str | Absent = ABSENT
    ref_layout: str | Absent = ABSENT
    a_layout: str | Absent = ABSENT
    b_layout: str | Absent = ABSENT
    c_layout: str | Absent = ABSENT
    e_layout: str | Absent = ABSENT


def record(atom: Atom) -> AtomRecord:
    """An atom as it is recorded."""
    in_tensor_memory = isinstance(atom, TensorCopyAtom | TensorMmaAtom)
    held = ((name, getattr(atom, name)) for name in _LAYOUTS[type(atom)])
    return AtomRecord(
        ptx=atom.ptx,
        name=atom.name or None,
        operation=ABSENT if in_tensor_memory else atom.operation or None,
        needs=_needs_of_tensor(atom) if in_tensor_memory else str(needs_of(atom)),
        thr_id=str(atom.thr_id),
        permuted=atom.permuted if isinstance(atom, CopyAtom) else ABSENT,
        **{name: str(layout) for name, layout in held if layout is not None},
    )


def as_json(atom: Atom) -> str:
    """The atom as JSON."""
    return to_text(record(atom))


def listed(atoms: Sequence[CopyAtom | MmaAtom], style: Style = PLAIN) -> str:
    """Many atoms, a line each."""
    rows = tuple(row(atom.ptx, atom.name or "-", atom.operation or "-") for atom in atoms)
    return "\n".join(text_table(Table(("PTX", "CuTe C++", "CuTe DSL"), rows), style)) + "\n"


def listed_json(atoms: Sequence[Atom]) -> str:
    """Many atoms as JSON."""
    return to_text(list(map(record, atoms)))


def advice_full(
    advices: Sequence[Advice], style: Style = PLAIN, offsets: Sequence[RowOffsets | None] | None = None
) -> str:
    """The atom for each operand, its addresses, and the steps after it; or why there is none."""
    placed = offsets or [None] * len(advices)
    pages = [
        [*_advice_lines(advice, style), *(_offset_lines(advice, of) if of is not None else [])]
        for advice, of in zip(advices, placed, strict=True)
    ]
    return "\n\n".join("\n".join(lines) for lines in pages) + "\n"


def _offset_lines(advice: Advice, of: RowOffsets) -> list[str]:
    """Lane by lane, the byte at which its row begins; eight lanes a line, as they name one matrix."""
    head = f"offsets   bytes from the start of a tile {of.tile}, lane by lane:"
    wide = max(len(f"{offset:,}") for offset in of.lanes)
    lines = [
        f"  lanes {first:2} to {first + 7:2}  " + "  ".join(f"{one:>{wide},}" for one in of.lanes[first : first + 8])
        for first in range(0, len(of.lanes), 8)
    ]
    x, y = ("m" if advice.usage.operand != "b" else "n"), ("n" if advice.usage.operand == "c" else "k")
    return [head, *lines, f"next      along {x}: {of.steps[0]:,} bytes further; along {y}: {of.steps[1]:,}"]


def _advice_lines(advice: Advice, style: Style) -> list[str]:
    usage = advice.usage
    head = style.paint(f"{usage}, {usage.element} in shared memory, on {advice.target}", Ink.BOLD)
    if advice.best is None:
        return [head, f"no atom: {advice.why_not}", f"instead:  {advice.instead}"]
    atom = advice.best.atom
    covers = "fills the operand" if advice.best.whole else _covers(advice.best)
    stored = usage.operand == "c" and usage.element != usage.mma.instruction.d_type
    lines = [
        head,
        *([f"first     convert D from {usage.mma.instruction.d_type} to {usage.element}"] if stored else []),
        f"atom      {style.paint(str(atom), Ink.GREEN)}, {covers}",
        f"PTX       {atom.ptx}",
        *([] if atom.name else ["CuTe C++  none"]),
        *([f"CuTe DSL  {atom.operation}"] if atom.operation else []),
        *(f"rows      {text}" for text in row_ranges(advice.best)),
        f"then      {advice.then or 'nothing: the registers are what the mma takes'}",
    ]
    if usage.operand == "c":
        lines.pop()
    if advice.others:
        lines.append(f"also fit  {', '.join(str(one.atom) for one in advice.others)}")
    return lines


def _covers(fit: Fit) -> str:
    """The share of an operand that one copy moves, if that is not exactly one."""
    extent = fit.usage.mma.extent(fit.usage.operand)
    tiles = 1 + max(place.first // extent[0] for place in fit.registers)
    return f"fills {tiles} tiles side by side" if tiles > 1 else "fills a part of the operand"


def row_ranges(fit: Fit) -> list[str]:
    """Which lanes name which rows, runs of neighbouring rows as one line."""
    along_first = fit.usage.along_first
    x, y = ("m" if fit.usage.operand != "b" else "n"), ("n" if fit.usage.operand == "c" else "k")
    runs: list[str] = []
    keyed = [(lane, place, (place.first if along_first else place.second)) for lane, place in enumerate(fit.rows)]
    for _, group in groupby(
        keyed, key=lambda item: (item[2], (item[1].second if along_first else item[1].first) - item[0])
    ):
        lanes = list(group)
        (first_lane, start, _), (last_lane, end, _) = lanes[0], lanes[-1]
        if along_first:
            text = f"{y} = {start.second} to {end.second}, {x} from {start.first}"
        else:
            text = f"{x} = {start.first} to {end.first}, {y} from {start.second}"
        runs.append(f"lanes {first_lane} to {last_lane}: {text}")
    return runs


def advice_concise(advices: Sequence[Advice]) -> str:
    """One line for each operand."""
    return "".join(
        f"{advice.usage}: {advice.best.atom if advice.best else 'no atom'}{f'; {advice.then}' if advice.then else ''}\n"
        for advice in advices
    )


class AdviceRecord(Record):
    """What loads or stores one operand of a product, and how its lanes name rows."""

    mma: str
    operand: str
    major: str
    element: str
    target: str
    atom: AtomRecord | None
    whole: bool | None
    rows: tuple[tuple[int, int], ...]
    offsets: Annotated[tuple[int, ...] | None, Keywords(description=_OFFSETS)]
    then: str | None
    others: tuple[str, ...]
    why_not: str | None
    instead: str | None


def advice_json(advices: Sequence[Advice], offsets: Sequence[RowOffsets | None] | None = None) -> str:
    """The results as JSON."""
    placed = offsets or [None] * len(advices)
    return to_text([_advice_record(advice, of) for advice, of in zip(advices, placed, strict=True)])


def _advice_record(advice: Advice, of: RowOffsets | None) -> AdviceRecord:
    best = advice.best
    return taken(
        AdviceRecord,
        advice.usage,
        mma=advice.usage.mma.ptx,
        target=str(advice.target),
        atom=record(best.atom) if best else None,
        whole=best.whole if best else None,
        rows=tuple((place.first, place.second) for place in best.rows) if best else (),
        offsets=None if of is None else tuple(of.lanes),
        then=advice.then or None,
        others=tuple(str(one.atom) for one in advice.others),
        why_not=advice.why_not or None,
        instead=advice.instead or None,
    )
