"""Renaming, repairing, silencing, laying out."""

from __future__ import annotations

import random

import pytest

from corpus_files import CorpusFile, corpus_files
from lsp_text import KERNEL, cursor, kernel
from ptxloom.checker import Selection, check
from ptxloom.checker.pages import HINTS
from ptxloom.lsp.document import Document
from ptxloom.lsp.edits import CannotRename, actions, applied, layout, layout_of, rename, renameable, repair_all
from ptxloom.lsp.settings import Settings
from ptxloom.syntax import format as laid_out
from ptxloom.syntax import parse

BROKEN = """\
.version 9.0
.target sm_90
.entry k() {
	.reg .b32 a; .reg .b64 b;
	ldmatrix.sync.m8n8.x1.b16 {a}, [b];
	ldmatrix.sync.aligned.m8n8.x1.b16 a, [b];
	stmatrx.sync.aligned.m8n8.x1.b16 [b], {a};
	ret;
}
"""


SERIES = {"%r<2>": "%i<2>", "global.b32 %r1": "global.b32 %i1", "%r1, %r1, 1": "%i1, %i1, 1"}


@pytest.mark.parametrize(
    ("old", "new", "name", "expected"),
    [
        ("bra LOOP", "bra LO‸OP", "AGAIN", {"LOOP:": "AGAIN:", "bra LOOP": "bra AGAIN"}),
        ("[n]", "[‸n]", "count", {".param .u32 n": ".param .u32 count", "[n]": "[count]"}),
        ("twice(", "tw‸ice(", "double", {"twice(": "double("}),
        (
            ".b32 %r<2>",
            ".b32 %‸r<2>",
            "%i",
            SERIES,
        ),
        (
            "global.b32 %r1",
            "global.b32 %r‸1",
            "%i",
            SERIES,
        ),
        (
            "global.b32 %r1",
            "global.b32 %r‸1",
            "%i1",
            SERIES,
        ),
    ],
)
def test_a_name_changes_in_its_scope_and_nowhere_else(old: str, new: str, name: str, expected: dict[str, str]) -> None:
    document, offset = kernel(old, new)
    text = KERNEL
    for before, after in expected.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    assert applied(document.text, rename(document, offset, name)) == text


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("mov.u32 %r1", "mov.u32 %r‸1", "%p"),
        ("@%p1", "@%‸p1", "%r"),
        ("bra LOOP", "@%p1 mov.b32 %r‸1, 1; bra LOOP", "%p"),
        ("[n]", "[‸n]", "out"),
        ("[n]", "[‸n]", "table"),
        ("bra LOOP", "bra DONE; bra ‸LOOP", "DONE"),
        ("[table]", "[‸table]", "k"),
        ("[n]", "[‸n]", "%tid"),
        ("[n]", "[‸n]", "two words"),
        ("[n]", "[‸n]", ""),
        ("[n]", "[‸n]", "9"),
        ("mov.u32 %r1", "mov.u32 %‸r9", "%i"),
        ("mov.u32 %r1", "mov.‸u32 %r1", "x"),
        ("%tid.x", "%t‸id.x", "x"),
    ],
)
def test_a_name_that_would_change_a_meaning_is_refused(old: str, new: str, name: str) -> None:
    document, offset = kernel(old, new)
    with pytest.raises(CannotRename):
        rename(document, offset, name)


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("global.b32 %r1", "global.b32 %r‸1", "%p"),
        ("bra DONE", "bra ‸DONE", "LOOP"),
        ("bra LOOP", "bra ‸LOOP", "DONE"),
    ],
)
def test_a_name_may_hide_another_that_is_not_used_there(old: str, new: str, name: str) -> None:
    assert rename(*kernel(old, new), name)


@pytest.mark.sample(every=9)
@pytest.mark.parametrize("file", corpus_files()[::12], ids=lambda file: file.name)
def test_renaming_there_and_back_changes_nothing(file: CorpusFile) -> None:
    text = file.read()
    document = Document(text)
    places = [one for one in document.names.occurrences if one.symbol is not None]
    for one in random.Random(file.name).sample(places, min(3, len(places))):
        changed = rename(document, one.start, "%qzx9q")
        again = Document(applied(text, changed))
        assert len(check(again.module)) == len(check(document.module))
        shift = sum(len(edit.text) - (edit.end - edit.start) for edit in changed if edit.end <= one.start)
        stem = text[one.start : one.stem_end]
        assert applied(again.text, rename(again, one.start + shift, stem)) == text


def test_every_fix_is_offered_where_its_finding_stands_and_repairs_it() -> None:
    document = Document(BROKEN)
    for finding in document.findings:
        offered = list(actions(document, finding.span.start, finding.span.start))
        [repair] = [one for one in offered if one.preferred]
        assert repair.finding is finding
        rules = [one.rule for one in Document(applied(BROKEN, repair.edits)).findings]
        assert finding.rule not in rules
        assert len(rules) == len(document.findings) - 1


def test_all_repairs_at_once() -> None:
    every = repair_all(Document(BROKEN))
    assert every is not None
    left = [one.fix for one in Document(applied(BROKEN, every.edits)).findings]
    assert [fix.is_safe for fix in left if fix is not None] == [False]  # a guess
    assert len(left) == 1
    assert repair_all(Document(KERNEL)) is None


def test_a_finding_can_be_silenced_and_another_on_the_same_line_too() -> None:
    text = BROKEN.replace("\n\tldmatrix.sync.aligned", " ldmatrix.sync.aligned")
    for _ in range(3):
        document = Document(text)
        silence = next(one for one in actions(document, 0, len(text)) if not one.preferred)
        text = applied(text, silence.edits)
    assert Document(text).findings == ()
    assert "// ptxloom: ignore[missing-aligned, missing-braces]" in text


def test_what_is_not_selected_is_not_offered() -> None:
    settings = Settings(selection=Selection.of(ignore=["missing-*"]))
    assert [one.rule for one in Document(BROKEN, settings=settings).findings] == ["unknown-instruction"]
    older = Settings(target="sm_70", selection=Selection.of(ignore=["address-size", *HINTS]))
    assert [one.rule for one in Document(KERNEL, settings=older).findings] == ["needs-target"]


def test_layout_is_that_of_the_formatter_and_changes_few_lines() -> None:
    wanted = laid_out(parse(KERNEL))
    document = Document(wanted.replace("\tret;\n", "\tret ;\n", 1))
    [edit] = layout(document)
    assert document.text[edit.start : edit.end] == "\tret ;\n"
    assert applied(document.text, [edit]) == wanted
    assert layout(Document(laid_out(parse(KERNEL)))) == ()


def test_what_cannot_be_read_is_not_laid_out() -> None:
    assert layout(Document("mov.u32 a, ]; ret ;")) == ()


def test_a_part_is_laid_out_alone() -> None:
    document, offset = kernel("    mov.u32 %r1, %tid.x;", "  ‸mov.u32   %r1,%tid.x;")
    [edit] = layout_of(document, offset, offset + 1)
    assert applied(document.text, [edit]) == KERNEL.replace("    mov.u32 %r1, %tid.x;", "\tmov.u32 %r1, %tid.x;")
    document, offset = kernel("        ld.global.b32 %r1, [table];", "‸ld.global.b32 %r1,[table];")
    [edit] = layout_of(document, offset, offset)
    assert edit.text == "\t\tld.global.b32 %r1, [table];"
    document, offset = cursor("‸ret;\n}\n")
    assert layout_of(document, offset, offset + 6) == ()
    assert layout_of(document, offset, offset) == ()


def test_a_whole_function_as_a_part_is_laid_out_as_by_the_formatter() -> None:
    function = KERNEL[KERNEL.index(".func") : KERNEL.index("// the kernel")]
    document = Document(KERNEL)
    start = KERNEL.index(".func")
    edits = layout_of(document, start, start + len(function.rstrip()))
    assert applied(KERNEL, edits) == KERNEL.replace(function.rstrip(), laid_out(parse(function)).rstrip())


@pytest.mark.parametrize("text", ["/*\n‸ret  ;\n*/\nret;", "‸ret  ; /*\n*/", "mma.sync\n‸d ;", "mma.sync {a,\n‸b },\n"])
def test_what_is_no_whole_statement_is_not_laid_out(text: str) -> None:
    document, offset = cursor(text)
    assert layout_of(document, offset, offset) == ()


def test_lines_keep_how_they_end() -> None:
    laid = laid_out(parse(KERNEL)).replace("\n", "\r\n")
    assert layout(Document(laid)) == ()
    document = Document(laid.replace("\tret;\r\n", "\tret ; /* a\r\n b */\r\n", 1))
    [edit] = layout(document)
    after = applied(document.text, [edit])
    assert after.count("\n") == after.count("\r") == after.count("\r\n")
    start = document.text.index("ret ;")
    [edit] = layout_of(document, start, document.text.index("b */"))
    assert edit.text.count("\n") == edit.text.count("\r") == edit.text.count("\r\n") > 0


def test_a_name_is_needed_to_rename() -> None:
    document, offset = cursor("re‸t;")
    with pytest.raises(CannotRename, match="no name here"):
        renameable(document, offset)
    assert check(document.module)
