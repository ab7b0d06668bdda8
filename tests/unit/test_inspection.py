"""What a module holds: bytes, registers, scopes, source lines."""

import pytest

from ptxloom.binding.sizes import declared_bytes
from ptxloom.inspection import Inspection, inspect
from ptxloom.syntax import parse
from ptxloom.syntax.tree import Declaration

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def looked_over(body: str, before: str = "") -> Inspection:
    return inspect(parse(f'{HEAD}{before}.visible .entry f()\n{{\n{body}\n}}\n.file 1 "a.cu"\n.file 2 "b.cuh"\n'))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (".shared .b8 a[16];", 16),
        (".shared .align 8 .v4 .f32 a[2][3];", 96),
        (".shared .b64 a, b;", 16),
        (".extern .shared .b8 a[];", 0),
        (".shared .f16x2 a<3>;", 12),
    ],
)
def test_the_bytes_of_a_declaration(text: str, wanted: int) -> None:
    (declaration,) = parse(f"{HEAD}{text}").statements[3:]
    assert isinstance(declaration, Declaration)
    assert declared_bytes(declaration) == wanted


def test_registers_and_memory_of_nested_scopes_count() -> None:
    found = looked_over(
        ".reg .b32 %r<5>, %x;\n.reg .pred p, q;\n{ .reg .b32 %y; .shared .b32 s[4]; { .local .b8 l[7]; } ret; }"
    )
    (f,) = found.functions
    assert f.registers == (("b32", 7), ("pred", 2))
    assert (f.shared_bytes, f.local_bytes, f.instructions) == (16, 7, 1)


def test_shared_memory_outside_functions() -> None:
    found = looked_over("ret;", ".extern .shared .b8 dynamic[];\n.shared .b32 tile[8];\n")
    assert (found.shared_bytes, found.dynamic_shared) == (32, True)
    assert not looked_over("ret;").dynamic_shared


def test_a_move_knows_its_source_line_and_where_it_was_inlined() -> None:
    move = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];\n"
    inlined = ".loc 2 9 1, function_name $L, inlined_at 1 8 5\n"
    body = f".reg .b32 %r<2>;\n{move}.loc 1 7 3\n{move}{inlined}{move}.loc 3 1 1\n{move}"
    (f,) = looked_over(body).functions
    assert [str(m.origin or "") for m in f.moves] == ["", "a.cu:7", "b.cuh:9, inlined at a.cu:8", "file 3:1"]


def test_the_verdict_is_the_worst_that_is_said_of_the_move_itself() -> None:
    good = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];\n"
    doubtful = "ldmatrix.sync.aligned.x1.m8n8.shared.b16 {%r1}, [%r0];\n"
    bad = "ldmatrix.sync.aligned.x1.m8n8.shared.b8 {%r1}, [%r0];\n"
    (f,) = looked_over(f".reg .b32 %r<2>;\n{good}{bad}{good}{doubtful}{good}").functions
    assert [m.verdict for m in f.moves] == ["legal", "error", "legal", "warning", "legal"]
