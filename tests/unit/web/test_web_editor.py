"""The explorer's editor: what is painted is what is typed, word by word, line by line, one over the other."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING

import pytest

from corpus_files import corpus_files
from ptxloom.checker import check
from ptxloom.syntax import parse, walk
from ptxloom.syntax.tree import Instruction
from web_port import ask, page_facts

if TYPE_CHECKING:
    from browser import Browser

LINES = "all('.code-line').map((line) => line.textContent.replace('\\u200b', ''))"
FITS = (
    "((area, lines) => [area.scrollWidth <= area.clientWidth, area.scrollHeight <= area.clientHeight + 1,"
    " Math.abs(area.getBoundingClientRect().height - lines.getBoundingClientRect().height) <= 1])"
    "(document.querySelector('.paste'), document.querySelector('.editor-lines'))"
)
PIECES = (
    "mma.sync",
    " // so",
    "/*",
    "*/",
    "\n",
    "%r1",
    "\t",
    "  ",
    '"a',
    ".b16",
    "😀",
    "é",
    "ldmatrix",
    "x" * 90,
    "{",
    "0f3F800000",
)
ONE_OF = 6  # files of the corpus
GUARD = re.compile(r"@!?[\w$%]+\s*")


def type_in(shown: Browser, text: str) -> None:
    shown.run(
        f"((area) => {{ area.value = {json.dumps(text)}; area.dispatchEvent(new Event('input')); }})"
        "(document.querySelector('.paste'))"
    )


def open_editor(shown: Browser, text: str) -> None:
    shown.run("location.hash = 'view=check'; new Promise((done) => setTimeout(done, 50))")
    type_in(shown, text)


def test_the_opcodes_in_colour_are_those_of_the_parser() -> None:
    files = [(file.name, file.read()) for file in corpus_files()[::ONE_OF]]
    known = set(page_facts()["opcodes"])
    for (name, text), found in zip(files, ask([("words", text) for _, text in files]), strict=True):
        lines = text.split("\n")
        coloured = {(row, start) for row, words in enumerate(found) for start, _, kind in words if kind == "opcode"}
        instructions = [one for one in walk(parse(text)) if isinstance(one, Instruction) and one.opcode in known]
        wanted: set[tuple[int, int]] = set()
        for one in instructions:
            row, start = one.span.line - 1, one.span.column - 1
            guard = GUARD.match(lines[row], start)
            wanted.add((row, lines[row].index(one.opcode, guard.end() if guard else start)))
        assert coloured == wanted, name


def test_words_follow_each_other_and_comments_go_on() -> None:
    text = 'a: mov.b32 %r1, 0x1F; // mov\n/* mov\n*/ @!%p add.u32 %r1, x, "a\\"b"; ret;@p bra a'
    (found,) = ask([("words", text)])
    words = [
        [(line[start:end], kind) for start, end, kind in of] for line, of in zip(text.split("\n"), found, strict=True)
    ]
    assert words[0] == [
        *(("a", "label"), ("mov", "opcode"), (".b32", "qualifier"), ("%r1", "register")),
        *(("0x1F", "number"), ("// mov", "comment")),
    ]
    assert words[1] == [("/* mov", "comment")]
    assert words[2] == [
        *(("*/", "comment"), ("%p", "register"), ("add", "opcode"), (".u32", "qualifier"), ("%r1", "register")),
        *(('"a\\"b"', "string"), ("ret", "opcode"), ("bra", "opcode")),
    ]


def test_what_is_painted_is_what_is_typed(shown: Browser) -> None:
    random_ = random.Random(7)
    open_editor(shown, "")
    text = ""
    for _ in range(60):
        at = random_.randrange(len(text) + 1)
        gone = random_.randrange(8) if random_.random() < 0.5 else 0
        text = text[:at] + "".join(random_.choices(PIECES, k=random_.randrange(1, 6))) + text[at + gone :]
        type_in(shown, text)
        assert shown.run(LINES) == text.split("\n")
        assert shown.run("document.querySelector('.paste').value") == text
    fresh = shown.run("document.querySelector('.editor-lines').outerHTML")
    type_in(shown, "")
    type_in(shown, text)
    assert shown.run("document.querySelector('.editor-lines').outerHTML") == fresh


@pytest.mark.parametrize("width", [390, 900, 1440])
def test_text_and_colours_lie_on_each_other_wrapped_or_not(shown: Browser, width: int) -> None:
    shown.size(width, 844, phone=width < 700)
    lines = [
        "\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, {%r4}; // " + "so " * 40,
        "",
        "x" * 700,
        "ret;",
    ]
    open_editor(shown, "\n".join(lines * 4))
    assert shown.run(FITS) == [True, True, True]
    wrapped = shown.run("document.querySelector('.editor-lines').clientHeight")
    shown.run("all('.editor-bar [role=radio]')[1].click()")
    assert shown.run(FITS) == [True, True, True]
    assert shown.run("document.querySelector('.editor-lines').clientHeight") < wrapped
    assert shown.run("((box) => box.scrollWidth > box.clientWidth)(document.querySelector('.editor'))")


def test_errors_are_marked_where_they_are_and_a_finding_leads_there(shown: Browser) -> None:
    filler = "".join(f"    add.u32 %r{n}, %r{n}, 1;\n" for n in range(300))
    source = f"{filler}    ldmatrix.sync.m8n8.x4.shared.b16 {{a, b}}, [c];\n"
    open_editor(shown, source)
    said = [one for one in check(parse(source)) if one.rule in {"missing-aligned", "vector-length"}]
    marked = shown.run("all('.is-marked').map((one) => one.textContent).join('')")
    assert marked == "".join(source[one.span.start : one.span.end] for one in said)
    assert shown.run("all('.has-mark').length") == 1
    shown.run("document.querySelector('.where').click()")
    area = "document.querySelector('.paste')"
    picked = shown.run(f"{area}.value.slice({area}.selectionStart, {area}.selectionEnd)")
    assert picked == source[said[0].span.start : said[0].span.end]
    inside = "((line, box) => line.top >= box.top && line.bottom <= box.bottom)"
    line, box = (f"document.querySelector('.{name}').getBoundingClientRect()" for name in ("has-mark", "editor"))
    assert shown.run(f"{inside}({line}, {box})")


def test_a_long_text_has_numbers_and_no_colours(shown: Browser) -> None:
    open_editor(shown, "    add.u32 %r1, %r1, 1;\n" * 3000)
    assert shown.run("all('.ptx-opcode').length") == 3000
    type_in(shown, "    add.u32 %r1, %r1, 1;\n" * 5000)
    assert shown.run("all('.ptx-opcode').length") == 0
    assert shown.run("all('.code-line').length") == 5001
