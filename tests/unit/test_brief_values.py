"""What a notebook shows of a value is short, whatever the value holds: all public types that a program can come by."""

from __future__ import annotations

import dataclasses
import enum
import html
import inspect
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import ptxloom as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[2]
MOST_CHARACTERS: Final = 6_000
MOST_LINES: Final = 130
SPACES: Final = (
    pl, pl.atoms, pl.banks, pl.checker, pl.comparison, pl.descriptors, pl.diagnosis, pl.diagnostics, pl.flow,
    pl.fragments, pl.isa, pl.layout, pl.machine, pl.source, pl.syntax,
)  # fmt: skip


def public_types() -> set[type]:
    named = [getattr(space, name) for space in SPACES for name in space.__all__]
    return {one for one in named if inspect.isclass(one) and not issubclass(one, (BaseException, enum.Enum))}


def seeds() -> Iterator[object]:
    """Values from which others are reached."""
    hgemm = pl.load(ROOT / "examples" / "hgemm.ptx")
    yield hgemm
    yield pl.check(hgemm, target="sm_70")
    yield pl.check(pl.parse((ROOT / "examples" / "hgemm.ptx").read_text("utf-8").replace(".aligned", "")))
    yield from map(pl.flow_graph, hgemm.functions.values())
    a, c = np.ones((64, 64), np.float16), np.zeros((64, 64), np.float32)
    kernel = pl.kernel(hgemm, "hgemm")
    yield kernel
    options: dict[str, Any] = {"profile": True, "trace": [pl.Trace("mma", limit=4)], "provenance": True}
    result = kernel.launch(1, 128, [a, a, c, 64, 64, 64], **options, checks=["racecheck", "initcheck", "memcheck"])
    yield result
    assert result.provenance is not None
    yield pl.diagnose(result.provenance)
    yield from (result.profile, result.provenance, result.fidelity, result.trace)
    yield result.provenance.products[0]
    yield pl.fragment("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "a")
    yield pl.bank_conflicts("m8n8.x4.b16", [128 * lane for lane in range(32)])
    yield pl.MatrixDescriptor(0x400, 16, 1024, "128B")
    yield pl.explain("ldmatrix")
    yield pl.checker.rule_page("missing-trans")
    yield pl.atoms.advise("m16n8k16.row.col.f32.f16.f16.f32", "a", "k")
    yield pl.banks.find_swizzles(pl.banks.make_tile(64, 64, "f16"), ["cp.async", "ldmatrix.x4"])
    yield pl.isa.instruction_spec("mma")
    yield pl.isa.matrix_form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    yield pl.isa.resolve("ldmatrix", ("sync", "aligned", "m8n8", "x4", "shared", "b16"))
    yield pl.comparison.compare(c, c + 1)
    yield pl.layout.Layout((64, 64))
    yield pl.atoms.atom("SM75_U16x8_LDSM_T")
    yield pl.descriptors.SharedTile(128, 64, "f16", "mn")
    yield pl.descriptors.encode_tiled("UINT8", 0, (64,), (), (64,))


@cache
def found() -> dict[type, list[object]]:
    """By public type: a few values of it."""
    public, values, waiting = public_types(), dict[type, list[object]](), list(seeds())
    seen = set[int]()
    keep = list[object]()
    while waiting and len(keep) < 60_000:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        keep.append(value)
        if type(value) in public:
            values.setdefault(type(value), []).append(value)
        if dataclasses.is_dataclass(value):
            waiting += [getattr(value, one.name) for one in dataclasses.fields(value)]
        elif isinstance(value, (tuple, list)):
            waiting += value[:50]
    return values


def shown(value: Any) -> str:
    draw = getattr(value, "_repr_mimebundle_", None)
    if draw is None:
        return repr(value)
    bundle = draw()
    return bundle.get("text/plain", "")


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("kind", sorted(public_types(), key=str), ids=str)
def test_what_is_shown_is_short(kind: type) -> None:
    for value in found().get(kind, [])[:40]:
        text = shown(value)
        assert len(text) <= MOST_CHARACTERS, f"{kind.__name__}: {len(text):,} characters"
        assert len(text.splitlines()) <= MOST_LINES


def test_most_types_are_asked() -> None:
    assert len(found()) > 60


def test_reports_keep_their_columns_where_no_style_sheet_is() -> None:
    (flow,) = map(pl.flow_graph, pl.load(ROOT / "examples" / "hgemm.ptx").functions.values())
    bundle = flow._repr_mimebundle_()
    table, _, picture = bundle["text/html"].partition("</pre>")
    opening = table.partition(">")[0]
    assert all(one in opening for one in ("font-family: monospace", "white-space: pre", "overflow-x: auto"))
    assert table.partition(">")[2] == html.escape(bundle["text/plain"])
    assert picture.startswith("<img ")
    assert bundle["image/svg+xml"].startswith("<svg")


def test_a_long_report_ends_with_how_much_is_left_out() -> None:
    text = "".join(f"{{ .reg .u{width} a{n}; bogus{n} a; }}\n" for n in range(200) for width in (32,))
    found = pl.check(pl.parse(f".version 9.0\n.target sm_90\n.entry k() {{\n{text}ret; }}\n"))
    plain = found._repr_mimebundle_()["text/plain"]
    assert len(found) > 15
    assert plain.splitlines()[-1].startswith("... and ")
    assert len(plain.splitlines()) == 121
    assert len(repr(found)) < 300


def test_no_findings_are_an_empty_tuple() -> None:
    found = pl.check(pl.load(ROOT / "examples" / "hgemm.ptx"))
    assert found == ()
    assert (repr(found), str(found)) == ("()", "no findings")
    assert found._repr_mimebundle_()["text/plain"] == "no findings\n"
