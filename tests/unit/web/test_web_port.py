"""The explorer's arithmetic is Python's: every form, and many random inputs."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from ptxloom.banks import bank_conflicts, find_swizzles, make_tile
from ptxloom.fragments import fragment
from ptxloom.isa import Target, targets
from ptxloom.isa.target import TargetRange
from ptxloom.views.fragments.formulas import register_line
from ptxloom.views.fragments.tensor_memory import bands, texts
from web_port import ask, page_facts

if TYPE_CHECKING:
    from ptxloom.banks import Choice, Tile
    from ptxloom.fragments import Fragment

MOST_DRAWN = 1 << 13
MOST_ELEMENTS = 256  # of larger fragments some


def fragments() -> list[tuple[str, str]]:
    return [(row[0], operand) for row in page_facts()["forms"] for operand in row[1]]


def python_fragment(spelling: str, operand: str) -> Fragment:
    return fragment(spelling, None if operand == "r" else operand)


def test_every_fragment_has_python_s_size() -> None:
    names = fragments()
    for (spelling, operand), found in zip(names, ask([("sizes", *each) for each in names]), strict=True):
        f = python_fragment(spelling, operand)
        assert found == [f.registers, f.matrices, f.rows, f.columns, f.copies, f.confirmed.value], (spelling, operand)


def test_each_distinct_fragment_maps_as_python_s() -> None:
    rows = page_facts()["forms"]
    distinct = {place: (row[0], each) for row in rows for each, place in zip(row[1], row[2], strict=True)}
    assert len(distinct) == len(page_facts()["fragments"])
    names = list(distinct.values())
    places = {name: some_places(python_fragment(*name)) for name in names}
    answers = ask([("at", *name, places[name]) for name in names])
    for name, found in zip(names, answers, strict=True):
        f = python_fragment(*name)
        for (lane, value), here in zip(places[name], found, strict=True):
            e = f.at(lane, value)
            first = f.label(f.holder(matrix=e.matrix, row=e.row, column=e.column))
            assert here == [e.register, e.bit, e.matrix, e.row, e.column, first], name


def test_what_tensor_memory_holds_is_drawn_as_python_draws_it() -> None:
    held = {name: python_fragment(*name) for name in fragments()}
    names = [name for name, f in held.items() if f.in_tensor_memory and f.lane_count * f.values_per_lane < MOST_DRAWN]
    for name, found in zip(names, ask([("bands", *name, 0, 8) for name in names]), strict=True):
        f = held[name]
        wanted = [
            [[list(band.lanes), list(band.columns), list(texts(f, band.held)) if band.held else []] for band in row]
            for row in bands(f)
        ]
        assert found == wanted, name


def some_places(f: Fragment) -> list[tuple[int, int]]:
    """Lanes and values of a fragment: all, or as many as there is time for."""
    every = [(lane, value) for lane in filter(f.reaches, range(f.lane_count)) for value in range(f.values_per_lane)]
    return random.Random(f.spelling).sample(every, min(MOST_ELEMENTS, len(every)))


def test_each_register_s_formula_is_python_s() -> None:
    names = random.Random(0).sample([name for name in fragments() if not python_fragment(*name).in_tensor_memory], 150)
    for (spelling, operand), found in zip(names, ask([("formulas", *each) for each in names]), strict=True):
        f = python_fragment(spelling, operand)
        assert found == [register_line(f, register) for register in range(f.registers)]


def addresses(chance: random.Random, unit: int) -> list[int]:
    match chance.randrange(3):
        case 0:
            step = unit * chance.randrange(1, 40)
            return [lane * step for lane in range(32)]
        case 1:
            return [unit * chance.randrange(1 << chance.randrange(1, 10)) for _ in range(32)]
        case _:
            return [unit * (lane >> chance.randrange(3)) for lane in range(32)]


def test_phases_banks_and_wavefronts_are_python_s() -> None:
    cases: list[tuple[str, list[int], int]] = []
    for spelling, (unit, lanes, *_) in page_facts()["accesses"].items():
        chance = random.Random(spelling)
        cases += [(spelling, addresses(chance, unit), lanes) for _ in range(20)]
    asked = [("phases", spelling, [*given[:lanes], *[None] * (32 - lanes)]) for spelling, given, lanes in cases]
    for (spelling, given, _), (phases, wavefronts, ideal, ways) in zip(cases, ask(asked), strict=True):
        report = bank_conflicts(spelling, given)
        assert (wavefronts, ideal, ways) == (report.wavefronts, report.ideal, report.ways)
        assert phases == [
            [list(p.lanes), p.wavefronts, [[u.bank, list(u.words), [list(x) for x in u.lanes]] for u in p.banks]]
            for p in report.phases
        ]


TILES = [
    (64, 64, "f16", None), (64, 32, "f16", None), (32, 32, "f32", None), (16, 128, "e4m3", None), (64, 64, "f16", 144),
    (32, 64, "f16", 256), (48, 40, "f16", None), (128, 64, "bf16", None), (16, 8, "f64", None),
]  # fmt: skip
ACCESSES = [
    [("cp.async", "st.shared.v4.b32", "row")],
    [("ldmatrix.m8n8.x4.b16", "ldmatrix.sync.aligned.m8n8.x4.b16", "row")],
    [("ldmatrix.x4.trans", "ldmatrix.sync.aligned.m8n8.x4.trans.b16", "row"), ("cp.async", "st.shared.v4.b32", "row")],
    [("ld.shared.b32@column", "ld.shared.b32", "column")],
    [("ld.shared.v2.b32", "ld.shared.v2.b32", "row"), ("st.shared.b32@column", "st.shared.b32", "column")],
]


def said(choice: Choice) -> list[object]:
    a = choice.arrangement
    swizzle = None if a.swizzle is None else [a.swizzle.bits, a.swizzle.base, a.swizzle.shift]
    counts = sum(c.wavefronts for c in choice.costs), sum(c.ideal for c in choice.costs)
    return [a.padding_bytes, swizzle, *counts, a.cute, a.expression]


def test_the_suggested_swizzles_are_python_s() -> None:
    cases: list[tuple[Tile, dict[str, int], list[tuple[str, str, str]]]] = []
    for rows, columns, element, pitch in TILES:
        tile = make_tile(rows, columns, element, pitch)
        given = {"rows": rows, "columns": columns, "elementBits": tile.element_bits, "pitchBytes": tile.pitch_bytes}
        cases += [(tile, given, accesses) for accesses in ACCESSES if rows % 8 == 0]
    answers = ask([("swizzles", given, [(s, along) for _, s, along in accesses]) for _, given, accesses in cases])
    for (tile, _, accesses), (plain, choices, best) in zip(cases, answers, strict=True):
        found = find_swizzles(tile, [name for name, _, _ in accesses])
        assert [plain, choices, best] == [said(found.plain), [said(c) for c in found.choices], said(found.best)], tile


RANGES = ("sm_75", "sm_90a", "sm_100f", "sm_100+af", "sm_101a", "sm_110f", "sm_120f", "sm_103a")


def test_targets_are_in_the_ranges_that_python_says() -> None:
    names = [(str(target), text) for target in targets() for text in RANGES]
    answers = ask([("target", *each) for each in names])
    assert answers == [Target.parse(name) in TargetRange.parse(text) for name, text in names]
