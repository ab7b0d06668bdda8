"""`ptxloom parse`, `query` and `graph` as a user runs them."""

from __future__ import annotations

import io
import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest

from corpus_files import corpus_files
from ptxloom.cli.json_schemas import schema

if TYPE_CHECKING:
    from unit.cli.conftest import Run

EXAMPLES = Path(__file__).parents[3] / "examples"
KERNEL = """\
.version 9.0
.target sm_90
.address_size 64
.global .align 4 .b8 table[64];
.extern .shared .align 16 .b8 dynamic[];
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.visible .entry first(.param .u64 a, .param .u32 n)
.maxntid 128, 1, 1
{
	.reg .pred %p<3>;
	.reg .b32 %r<9>;
	.shared .align 4 .b8 tile[256];
	ld.param.u32 %r1, [n];
	@%p1 bra DONE;
LOOP:
	ld.shared.v4.f32 {%r1, %r2, %r3, %r4}, [tile];
	call (r), vprintf, (a, b);
	add.f32 %r1, %r2, %r3;
	@%p2 bra LOOP;
DONE:
	ret;
}
.func second() { trap; }
"""


@pytest.fixture
def kernel(tmp_path: Path) -> str:
    path = tmp_path / "k.ptx"
    path.write_text(KERNEL, encoding="utf-8")
    return str(path)


def test_the_summary_says_what_is_there(run: Run, kernel: str) -> None:
    ran = run("parse", kernel)
    assert (ran.code, ran.err) == (0, "")
    for text in (
        "64 bytes global, shared memory whose size the launch decides",
        "external      vprintf",
        "kernel first, lines 7 to 22, .maxntid 128, 1, 1",
        "(12 bytes)",
        "9 b32, 3 pred (as declared)",
        "256 bytes",
        "1 param loads, 1 shared loads",
        "3 blocks, 1 loop",
        "calls         vprintf",
        "LOOP  16-19      1       1             4",
        "function second, lines 23 to 23",
    ):
        assert text in ran.out


def test_json_follows_the_published_schema(run: Run, kernel: str, tmp_path: Path) -> None:
    broken_file = tmp_path / "broken.ptx"
    broken_file.write_text("mov.u32 %r1 %r2;\nret\n.func f( {", encoding="utf-8")
    published = json.loads(run("parse", "--schema").out)
    jsonschema.Draft202012Validator.check_schema(published)
    for options in ((), ("--tree",), ("--function", "second"), ("--pattern", "ld"), ("--lines", "10-12")):
        jsonschema.validate(json.loads(run("parse", kernel, "--output-format", "json", *options).out), published)
    broken = run("parse", "--tree", "--output-format", "json", str(broken_file), kernel)
    jsonschema.validate(json.loads(broken.out), published)


def test_the_schema_knows_every_node_of_the_corpus(run: Run) -> None:
    published = schema("parse")
    for file in corpus_files()[::16]:
        if file.path.suffix == ".ptx" and file.path.stat().st_size < 8_000:
            read = json.loads(run("parse", "--tree", "--output-format", "json", str(file.path)).out)
            jsonschema.validate(read, published)


def test_the_schema_refuses_what_is_wrong(run: Run, kernel: str) -> None:
    good = json.loads(run("parse", kernel, "--tree", "--output-format", "json").out)
    good[0]["statements"][0]["major"] = "9"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(good, schema("parse"))


def test_the_tree_can_be_filtered(run: Run, kernel: str) -> None:
    whole = run("parse", "--tree", kernel).out
    assert whole.startswith("Version 1:1-1:13 major=9 minor=0\n")
    assert "Instruction 16:2-16:48 opcode='ld'" in whole
    only = run("parse", "--pattern", "ld.shared.*", kernel).out
    assert only.splitlines()[0].startswith("Instruction 16:2-16:48 opcode='ld' qualifiers=('shared', 'v4', 'f32')")
    assert "Function" not in only
    assert run("parse", "--lines", "21", kernel).out.splitlines() == ["Instruction 21:2-21:6 opcode='ret'"]
    second = run("parse", "--function", "sec*", kernel).out
    assert second.startswith("Function 23:1-23:25 kind='func' name='second'")


def test_query_finds_by_pattern(run: Run, kernel: str) -> None:
    ran = run("query", "ld.*.f32", kernel, "--output-format", "concise")
    assert ran.out == f"{kernel}:16:2: ld.shared.v4.f32 {{%r1, %r2, %r3, %r4}}, [tile];\n"
    assert (ran.code, ran.err) == (0, "1 instruction in 1 file\n")
    assert run("query", "bra", kernel, "--function", "first", "--count").out.split() == [
        "count",
        "instruction",
        "2",
        "bra",
    ]
    assert run("query", "wgmma", kernel).code == 1
    assert "  line  instruction" in run("query", "add", kernel).out
    csv = run("query", "add", kernel, "--output-format", "csv").out
    assert csv.splitlines()[1] == f'{kernel},18,2,first,"add.f32 %r1, %r2, %r3;",'
    assert run("query", "add", kernel, "--output-format", "markdown").out.startswith("| file |")
    (found,) = json.loads(run("query", "bra", kernel, "--lines", "14", "--output-format", "json").out)
    assert (found["function"], found["predicate"], found["opcode"], found["operands"]) == (
        "first",
        "%p1",
        "bra",
        ["DONE"],
    )


def test_query_says_where_code_came_from(run: Run) -> None:
    ran = run("query", "ldmatrix.*.trans", str(EXAMPLES / "hgemm.ptx"))
    assert re.search(r"hgemm\.cu:40, inlined at \S*hgemm\.cu:92", ran.out)


def test_graph_as_text_and_json(run: Run, kernel: str) -> None:
    ran = run("graph", kernel, "--function", "first", "--code")
    assert "first: 3 blocks, 4 edges, 1 loop" in ran.out
    assert "2 if taken, 1 if not" in ran.out
    assert "call (r), vprintf, (a, b);" in ran.out
    (first, second) = json.loads(run("graph", kernel, "--output-format", "json").out)
    assert [one["kind"] for one in first["edges"]] == ["taken", "passed", "taken", "passed"]
    assert second["blocks"][0]["leaves"] == "trap"


def test_graph_as_dot(run: Run, kernel: str) -> None:
    text = run("graph", kernel, "--output-format", "dot").out
    assert text.startswith("digraph ptx {")
    assert text.count("{") == text.count("}")
    assert 'f0b0 -> f0b2 [label="taken"];' in text
    assert "style=dashed" in text


def test_graph_as_picture(run: Run, kernel: str) -> None:
    ran = run("graph", kernel, "--function", "first", "--output-format", "svg")
    picture = ET.fromstring(ran.out)  # noqa: S314 - our own picture
    texts = {one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")}
    boxes = {one.text for one in picture.iterfind("{*}g/{*}text")}
    assert "block 1  LOOP" in boxes
    assert {"The control flow of first", "taken", "else"} <= texts
    assert run("graph", kernel, "--output-format", "svg").code == 2
    assert "one of first, second" in run("graph", kernel, "--function", "third").err


def test_several_files_folders_and_standard_input(
    run: Run, kernel: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.ptx").write_text("ret;\n", encoding="utf-8")
    assert run("query", "ret", str(tmp_path), "--output-format", "concise").out.count("ret;") == 2
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ret;\n")))
    assert run("query", "ret", "-", "--output-format", "concise").out == "<stdin>:1:1: ret;\n"
    tree = run("parse", "--pattern", "trap", kernel, str(tmp_path / "other.ptx")).out
    assert tree.startswith(f"{kernel}\nInstruction")
    assert "other.ptx" not in tree
    missing = run("parse", kernel, str(tmp_path / "none.ptx"))
    assert missing.code == 2
    assert "there is no such file" in missing.err
    assert "kernel first" in missing.out
    assert run("parse").code == 2
