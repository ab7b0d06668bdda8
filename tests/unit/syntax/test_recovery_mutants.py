"""One token too many or too few in real files: one error, at its line, and the rest is read."""

from __future__ import annotations

import math
import random
from statistics import mean, median
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from corpus_files import corpus_files
from ptxloom.syntax import instructions, parse
from ptxloom.syntax.lexer import Cursor
from sweeps import part_and_whole

if TYPE_CHECKING:
    from corpus_files import CorpusFile

STRAY: Final = (*'{}()[];,x1+"@|:<', ".x")
EACH: Final = 12
"""How many mutants of a file."""


class Mutant(NamedTuple):
    """A text with one token less or more, and where."""

    name: str
    text: str
    offset: int


class Found(NamedTuple):
    """The report on a mutant."""

    mutant: Mutant
    errors: int
    near: bool


def mutants(file: CorpusFile, chosen: random.Random) -> list[Mutant]:
    text = file.read()
    cursor = Cursor(text)
    cursor.seek(0)
    tokens: list[tuple[int, int]] = []
    while cursor.kind != "end":
        tokens.append((cursor.start, cursor.end))
        cursor.advance()
    made: list[Mutant] = []
    for start, end in chosen.sample(tokens, EACH):
        if chosen.random() < 0.6:
            made.append(Mutant(f"{file.name}: without {text[start:end]}", text[:start] + text[end:], start))
        else:
            stray = chosen.choice(STRAY)
            made.append(Mutant(f"{file.name}: {stray} more", f"{text[:start]}{stray} {text[start:]}", start))
    return made


def judged(mutant: Mutant) -> Found:
    lines = [one.span.line for one in parse(mutant.text).diagnostics]
    line = mutant.text.count("\n", 0, mutant.offset) + 1
    return Found(mutant, len(lines), any(abs(one - line) <= 1 for one in lines))


@pytest.fixture(scope="module", params=part_and_whole((12, 60_000), (6, math.inf)))
def found(request: pytest.FixtureRequest) -> list[Found]:
    """What was found in mutants of every `step`th file of at most `most` characters."""
    step, most = request.param
    chosen = random.Random(5)
    sample = [file for file in corpus_files()[::step] if len(file.read()) <= most]
    every = [judged(mutant) for file in sample for mutant in mutants(file, chosen)]
    return [one for one in every if one.errors]


def test_one_error_each(found: list[Found]) -> None:
    counts = [one.errors for one in found]
    assert len(counts) > 100
    assert median(counts) == 1
    assert mean(counts) < 1.05, [one.mutant.name for one in found if one.errors > 1]


def test_at_the_right_line(found: list[Found]) -> None:
    """A brace may be missed far from where it should be."""
    elsewhere = [one.mutant.name for one in found if not one.near]
    assert not [name for name in elsewhere if not {"{", "}"} & set(name.split())]
    assert len(elsewhere) <= len(found) // 50, elsewhere


KERNEL: Final = ".entry k() {{\n\t.reg .b32 a;\n\t{}\n\ttrap;\n}}\n.entry z() {{\n\tret;\n}}\n"


@pytest.mark.parametrize(
    "bad",
    [
        "ld.v4.f32 {a, b c, d}, [x];",
        "ld.v4.f32 {, a, b, c}, [x];",
        "ld.v4.f32 a, b}, [x];",
        "ld.v4.f32 {a, b, c, d, [x];",
        'ld.v2.f32 {" a, b}, [x];',
        "tex.2d.v4.f32.f32 {a, b, c, d}, [t, {e f}];",
        "tex.2d.v4.f32.f32 {a, b, c, d}, [t, e, f}];",
        "mma.sync.x.y {a, b}, {c d}, {e}, {f, g};",
        "mma.sync.x.y {a, b}, {c d},\n\t{e}, {f, g};",
        "cp.async.cg [a], [b]{ , 16;",
        "add.s32 a, 6{ ;",
        "add.s32 a, ; b, c;",
        "ld.shared.b32 a, [b; ];",
        "ld.shared.b32 a, [b+; 8];",
        ".reg .b32 %r<2; >;",
        "mov.u32 } a, 9;",
        "sub} .s32 a, b, c;",
        "call (} a), f, (b);",
        ", mov.u32 a, 1;",
        ") bra done;",
        "mov.u32 a, 1;;",
        "mma.sync.x.y {a, b}, {c}, ; {d};",
        "wmma.load.c ; {a, b}, [c], d;",
        "$L__tmp1",
        ".debug_x { .b8 1 }",
        ".debug_x\n{\n.b8 1\n.b8 2\n}",
        ".section .debug_x x { .b8 1 }",
        ".section { .b8 1 }",
        ".section .debug_x + {\n.b8 1\n.b8 2\n}",
        ".section .debug_x {\n.b8 1 } .b8 2\n.b8 3\n}",
        ".section .debug_x {\n.b8 1\n}\n.b8 2\n.b8 3\n}",
        ".section .debug_x {\n.b8 } 1\n.b8 2\n}",
    ],
)
def test_one_error_and_the_functions_are_read(bad: str) -> None:
    module = parse(KERNEL.format(bad))
    (error,) = module.diagnostics
    assert 3 <= error.span.line <= 3 + bad.count("\n")
    assert list(module.functions) == ["k", "z"]
    assert [one.opcode for one in instructions(module.functions["k"])][-1] == "trap"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (".entry k()\n\t.reg .b32 a;\n\tret;\n}\n.entry z() { ret; }", 1),
        (".entry k()\n\tret;\n}\n.entry z() { ret; }", 1),
        (".visible .entry k\n\t.param .u64 p\n)\n{ ret; }\n.entry z() { ret; }", 1),
        (".visible .entry k(\n\t.param .u64 p,\n;\t.param .u64 q)\n{ ret; }\n.entry z() { ret; }", 3),
        (", .visible .entry k(\n\t.param .u64 p\n)\n{ ret; }\n.entry z() { ret; }", 1),
        (".visible < .entry k(\n\t.param .u64 p\n)\n{ ret; }\n.entry z() { ret; }", 1),
        (".entry k() {\n\tadd.s32 a, b, c;\n}\n\tret;\n}\n.entry z() { ret; }", 3),
        (".entry k() {\n\tbar.sync 0;\n\t.reg .b32 a;\n}\n\tret;\n}\n.entry z() { ret; }", 4),
        ("1 .visible .entry k(\n\t.param .u64 p\n)\n{ ret; }\n.entry z() { ret; }", 1),
        (".visible k(\n\t.param .u64 p\n)\n{ ret; }\n.entry z() { ret; }", 1),
        (".visible .entry (\n\t.param .u64 p\n)\n.maxntid 4\n{ ret; }\n.entry z() { ret; }", 1),
        (".func (\n\t.param .u64 p\n)\n{ ret; }\n.entry z() { ret; }", 1),
        (".weak (.param .b32 p) k(\n\t.param .u64 p\n)\n{ ret; }\n.entry z() { ret; }", 1),
        (".entry k(\n\t@ .param .u64 p\n)\n.maxntid 4\n{ ret; }\n.entry z() { ret; }", 1),
        (".entry k(\n\t.param { .u64 p\n)\n.maxntid 4\n{ ret; }\n.entry z() { ret; }", 2),
        (".visible .entry k(\n\t.param .u64 p\n\t.param .u64 q\n)\n{ ret; }\n.entry z() { ret; }", 2),
        (".x .visible .entry k(\n\t.param .u64 p\n)\n{ ret; }\n.entry z() { ret; }", 1),
        (".entry k(\n\t.param .align ; 128 .b8 p[4]\n)\n.maxntid 4\n{ ret; }\n.entry z() { ret; }", 2),
        (".global .u64 } x = y;\n.entry k() { ret; }\n.entry z() { ret; }", 1),
    ],
)
def test_headers_and_braces(text: str, line: int) -> None:
    module = parse(text)
    (error,) = module.diagnostics
    assert error.span.line == line
    assert [len(list(instructions(one, "ret"))) for one in module.functions.values()] == [1, 1]
    assert parse(str(module)).functions.keys() == module.functions.keys()


def test_a_function_takes_back_what_follows_it_once() -> None:
    module = parse(".func f() {\n}\nret;\n}\nret;\n}\n")
    assert [(one.rule, one.span.line) for one in module.diagnostics] == [("unmatched-brace", 2), ("unmatched-brace", 6)]
