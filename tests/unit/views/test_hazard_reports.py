"""A hazard in every format: the text that people read, and forms that models which are not ours read back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import numpy as np
import pytest
from sarif_pydantic import Sarif

from ptxloom.cli.json_schemas import schema
from ptxloom.comparison import compare
from ptxloom.diagnostics import Severity
from ptxloom.hazards.kinds import KINDS
from ptxloom.machine.results.event_kinds import EVENTS, FAULTS
from ptxloom.machine.results.hazard import Hazard, Hazards, Party
from ptxloom.records import record
from ptxloom.source import Source, Span
from ptxloom.syntax.origins import SourceLine
from ptxloom.views.runs import hazard_reports, run_reports

TEXT = "st.shared.b32 [%r1], %r2;\nmov.u32 %r0, 0;\n@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r4];\n"
SOURCE = Source(TEXT, "dir/kernel.ptx")
INLINED = SourceLine("tile.h", 7, SourceLine("kernel.cu", 40))
SCHEMA: Any = schema("run")


def party(line: int, lanes: tuple[int, ...], action: str, origin: SourceLine | None = None) -> Party:
    start = SOURCE.line_starts[line - 1]
    text = SOURCE.line(line)
    return Party(Span(SOURCE, start, start + len(text)), text, origin, (1, 0, 0), line, lanes, action)


RACE = Hazard(
    "racecheck",
    "read-after-write",
    "tile+0x40 is written and then read",
    party(3, (5,), "reads it", INLINED),
    other=party(1, (0,), "writes it", SourceLine("kernel.cu", 9)),
    space="shared",
    address=64,
    size=4,
    symbol="tile+0x40",
    element="row 5 of matrix 0, held by lanes 20-23 in register 0",
    section="8.7.1",
    help="put a barrier between the two",
    count=1200,
)
BARE = Hazard("memcheck", "trap", "the kernel executes `trap`", party(2, (0, 1, 2, 7), ""), Severity.WARNING)


def test_the_full_text_shows_both_lines_and_all_that_is_known() -> None:
    assert (
        hazard_reports.full([RACE])
        == """\
error[racecheck.read-after-write]: tile+0x40 is written and then read
  --> dir/kernel.ptx:3:1
   |
1 | st.shared.b32 [%r1], %r2;
   | ------------- lane 0 of warp 1, block (1, 0, 0) writes it
...
3 | @%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r4];
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ lane 5 of warp 3, block (1, 0, 0) reads it
   |
   = source: kernel.cu:40 (tile.h:7 inlined there); and kernel.cu:9
   = element: row 5 of matrix 0, held by lanes 20-23 in register 0
   = seen: 1,200 times; this is the first
   = note: PTX ISA 8.7.1
help: put a barrier between the two
""".replace("\n  -->", "\n -->").replace("\n   ", "\n  ")
    )


def test_what_is_not_known_is_not_shown() -> None:
    text = hazard_reports.full([BARE])
    assert text.startswith("warning[memcheck.trap]: ")
    assert "lanes 0-2, 7 of warp 2, block (1, 0, 0)\n" in text
    assert not any(word in text for word in ("source", "element", "seen", "note", "help"))


def test_an_unrolled_loop_is_told_once_with_the_lines_of_its_copies() -> None:
    second = replace(RACE, party=replace(RACE.party, span=party(2, (5,), "").span))
    other = replace(RACE, party=replace(RACE.party, origin=SourceLine("kernel.cu", 41)))
    text = hazard_reports.full([RACE, second, other, BARE, replace(BARE)])
    assert text.count("error[") == 2
    assert text.count("warning[") == 2  # whether these are one cannot be known
    assert "\n  = also: PTX line 2 with 1, from the same source\n" in text
    assert str(Hazards([RACE, second])).endswith("\n  also line 2, from the same source")
    many = [replace(RACE, party=replace(RACE.party, span=replace(RACE.span, start=n))) for n in (0, 27, 44)]
    assert "also: PTX lines 2 with 1, 3 with 1, from" in hazard_reports.full(many)


def test_the_way_through_library_headers_is_left_out() -> None:
    origin = SourceLine("/usr/include/helpers.h", 201, SourceLine("/usr/include/helpers.h", 30, INLINED))
    text = hazard_reports.full([replace(RACE, party=replace(RACE.party, origin=origin))])
    assert "source: kernel.cu:40 (helpers.h:201 inlined there); and kernel.cu:9" in text


def test_nothing_found_is_nothing_printed_and_a_notebook_says_so() -> None:
    assert not hazard_reports.full(())
    assert Hazards(())._repr_mimebundle_()["text/plain"] == "no hazards\n"
    assert "<pre style=" in Hazards((RACE,))._repr_mimebundle_()["text/html"]
    assert Hazards((RACE,)) == (RACE,)


@pytest.mark.parametrize("hazards", [(), (RACE,), (RACE, BARE, replace(RACE, other=None, party=BARE.party))])
def test_json_follows_its_schema(hazards: tuple[Hazard, ...]) -> None:
    arrays = np.array([1.0, np.nan, 3.0]), np.array([1.0, 2.0, 4.0])
    run = run_reports.Run("k", 1, 32, 10, hazards, comparisons=(compare(*arrays, name="C"),))
    document = json.loads(run_reports.as_json(run))
    checker: Any = jsonschema.Draft202012Validator(SCHEMA)
    checker.validate(document)
    assert [h["count"] for h in document["hazards"]] == [h.count for h in hazards]


def test_the_schema_refuses_what_it_should() -> None:
    told: Any = record(hazard_reports.as_record(RACE))
    alone: Any = {"$ref": "#/$defs/hazard", "$defs": SCHEMA["$defs"]}
    checker: Any = jsonschema.Draft202012Validator(alone)
    assert checker.is_valid(told)
    for change in ({"tool": "lint"}, {"lanes": [32]}, {"count": 0}, {"surprise": 1}, {"source": "k.cu:1"}):
        assert not checker.is_valid(told | change), change


def test_sarif_is_read_back_and_names_the_lines_that_were_compiled() -> None:
    text = hazard_reports.sarif([RACE, BARE], "1.2.3", KINDS)
    log = Sarif.model_validate_json(text)
    results = log.runs[0].results or []
    assert [r.rule_id for r in results] == ["racecheck.read-after-write", "memcheck.trap"]
    raw: Any = json.loads(text)["runs"][0]
    first = raw["results"][0]
    assert first["occurrenceCount"] == 1200
    assert first["properties"]["symbol"] == "tile+0x40"
    places = [one["physicalLocation"] for one in first["relatedLocations"]]
    assert [p["artifactLocation"]["uri"] for p in places] == ["dir/kernel.ptx", "tile.h", "kernel.cu", "kernel.cu"]
    assert [p["region"]["startLine"] for p in places] == [1, 7, 40, 9]
    assert all("## What it does" in rule["help"]["markdown"] for rule in raw["tool"]["driver"]["rules"])


def test_one_line_and_annotations() -> None:
    assert hazard_reports.concise([RACE]) == (
        "dir/kernel.ptx:3:1: error: tile+0x40 is written and then read [racecheck.read-after-write]\n"
    )
    assert hazard_reports.github([BARE]).startswith(
        "::warning title=ptxloom (memcheck.trap),file=dir/kernel.ptx,line=2"
    )


def test_every_kind_has_a_page_and_is_reached_once() -> None:
    names = [kind.rule for kind in KINDS]
    assert len(names) == len(set(names))
    assert {f"memcheck.{name}" for name in FAULTS.values()} | set(EVENTS.values()) <= set(names)
    for kind in KINDS:
        page = kind.markdown
        assert page.startswith(f"# {kind.rule}\n\n## What it does\n\n{kind.about}")
        assert kind.about.endswith(".")
        assert not kind.message.endswith(".")
        assert kind.help[0].islower()
