"""Definition leads to the instructions that wrote what is read, declaration to where the register is declared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from corpus_files import CorpusFile, corpus_files
from lsp_text import cursor, kernel
from ptxloom.flow import flow_graphs
from ptxloom.flow.registers import Merge, RegisterWrites, Write
from ptxloom.lsp.definition import declarations, definitions
from ptxloom.syntax import parse, walk
from ptxloom.syntax.tree import Instruction, Name

if TYPE_CHECKING:
    from ptxloom.lsp.document import Document

HEAD = """.version 9.0
.target sm_90a
.func (.reg .b32 y) f(.reg .b32 x) { add.s32 y, x, 1; ret; }
.func stop() .noreturn { trap; }
.entry k(.param .b32 n) {
.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>; .reg .f32 %f<9>; .reg .v2 .b32 pair;
"""
MMA = "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32"
WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"


def lines(document: Document, offset: int) -> list[int]:
    """The lines to which a definition leads, counted from the kernel's first."""
    first = HEAD.count("\n")
    return [document.module.source.location(one.start)[0] - first for one in definitions(document, offset)]


def asked(body: str) -> list[int]:
    """Likewise for a kernel's body with a cursor."""
    return lines(*cursor(f"{HEAD}{body}\nret;\n}}\n"))


def test_of_several_writes_the_last_counts() -> None:
    assert asked("mov.b32 %r1, 1;\nmov.b32 %r1, 2;\nadd.s32 %r2, ‸%r1, 1;\nmov.b32 %r1, 3;") == [2]


def test_where_ways_meet_all_writes_that_come_there_are_found() -> None:
    body = "mov.b32 %r1, 1;\n@%p1 bra L;\nmov.b32 %r1, 2;\nL: add.s32 %r2, ‸%r1, 1;"
    assert asked(body) == [1, 3]
    assert asked(body.replace("@%p1 ", "")) == [1]


def test_the_writes_of_a_loop_and_before_it_are_found() -> None:
    assert asked("mov.b32 %r1, 1;\nL: add.s32 %r1, ‸%r1, 1;\n@%p1 bra L;\nadd.s32 %r2, %r1, 1;") == [1, 2]
    assert asked("mov.b32 %r1, 1;\nL: add.s32 %r1, %r1, 1;\n@%p1 bra L;\nadd.s32 %r2, ‸%r1, 1;") == [2]


@pytest.mark.parametrize(
    "body",
    [
        "@%p1 bra L;\nmov.b32 %r1, 2;\nL: add.s32 %r2, ‸%r1, 1;",
        "L: add.s32 %r2, ‸%r1, 1;\nmov.b32 %r1, 2;\nbra L;",
    ],
)
def test_the_only_write_is_found_where_not_every_way_passes_it(body: str) -> None:
    assert asked(body) == [2]


def test_behind_a_guarded_or_partial_write_the_older_one_shows() -> None:
    assert asked("mov.b32 %r1, 1;\n@%p1 mov.b32 %r1, 2;\nadd.s32 %r2, ‸%r1, 1;") == [1, 2]
    assert asked("mov.v2.b32 pair, {1, 2};\nmov.b32 pair.x, 2;\nadd.s32 %r2, pai‸r.y, 1;") == [1, 2]


def test_no_write_comes_from_code_that_never_runs_nor_from_behind_a_call_that_does_not_return() -> None:
    body = "mov.b32 %r1, 1;\nbra L;\nmov.b32 %r1, 2;\nL: add.s32 %r2, ‸%r1, 1;"
    assert asked(body) == [1]
    body = "mov.b32 %r1, 1;\n@%p1 bra L;\nmov.b32 %r1, 2;\ncall stop;\nL: add.s32 %r2, ‸%r1, 1;"
    assert asked(body) == [1]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("setp.eq.s32 %p1|%p2, %r1, %r2;\n@%p‸2 mov.b32 %r1, 1;", [1]),  # a guard
        ("cvta.to.global.u64 %d1, %d2;\nst.global.b32 [‸%d1], %r1;", [1]),  # an address
        ("mov.b64 {%r1, %r2}, %d1;\nadd.s32 %r1, %r1, ‸%r2;", [1]),  # a vector
        ("add.s32 %r1, %r2, %r3;\nadd.s32 %r1, %r‸1, %r1;", [1]),  # written where it is read
        ("call (%r1), f, (%r2);\nadd.s32 %r2, ‸%r1, 1;", [1]),  # what a call returns
        ("mov.b32 %r1, 1;\n{ .reg .b32 %r<4>;\nmov.b32 %r1, 2; }\nadd.s32 %r2, ‸%r1, 1;", [1]),  # another's name
        ("mov.b32 %r01, 1;\nadd.s32 %r2, ‸%r1, 1;", [1]),  # of a series
        (
            f"mov.b32 %f1, 0f00000000;\n{MMA} {{%f1, %f2, %f3, %f4}}, {{%r1, %r1}}, {{%r1}}, {{‸%f1, %f2, %f3, %f4}};",
            [1],
        ),
        (f"mov.b32 %f1, 0f00000000;\n{WGMMA} {{‸%f1, %f2, %f3, %f4}}, %d1, %d2, %p1, 1, 1, 0, 0;", [1]),
    ],
)
def test_a_read_leads_to_its_write(body: str, expected: list[int]) -> None:
    assert asked(body) == expected


@pytest.mark.parametrize("body", ["mov.b32 ‸%r1, 1;", "add.s32 %r2, ‸%r1, 1;", "ld.param.b32 %r1, [‸n];"])
def test_what_is_written_never_written_or_no_register_leads_to_its_declaration(body: str) -> None:
    document, offset = cursor(f"{HEAD}{body}\nret;\n}}\n")
    found = definitions(document, offset)
    assert found == declarations(document, offset)
    assert [one.declares for one in found] == [True]


def test_the_declaration_stays_where_it_was() -> None:
    document, offset = kernel("add.s32 %r2, %r1, %r1", "add.s32 %r2, %‸r1, %r1")
    assert [document.module.source.location(one.start)[0] for one in declarations(document, offset)] == [10]
    [written] = definitions(document, offset)
    assert isinstance(written.statement, Instruction)
    assert written.statement.opcode == "ld"


@pytest.mark.parametrize("file", corpus_files()[::25], ids=lambda file: file.name)
def test_in_the_corpus_every_value_that_is_sure_to_be_seen_is_found(file: CorpusFile) -> None:
    for graph in flow_graphs(parse(file.read()))[:20]:
        registers = RegisterWrites(graph)
        for block in graph.blocks[:50]:
            for position, instruction in enumerate(block.instructions):
                keys = {registers.key(instruction, one.text) for one in walk(instruction) if isinstance(one, Name)}
                for key in keys:
                    seen = registers.reaching(block.number, position, key)
                    origin = registers.origin(block.number, position, key)
                    assert origin in seen or not isinstance(origin, Write)
                    assert bool(seen) or not isinstance(origin, Merge)


def test_outside_functions_and_in_what_is_broken_there_is_an_answer() -> None:
    document, offset = cursor("mov.b32 ‸%r1, %r2;")
    assert definitions(document, offset) == []
    assert asked("mov.b32 %r1, ];\nadd.s32 %r2, ‸%r1, 1;\nnosuch.b32 %r3") == [0]
    assert asked("nosuch.b32 %r1;\nadd.s32 %r2, ‸%r1, 1;") == [1]
