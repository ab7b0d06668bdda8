"""What names mean: scopes, series, labels, prototypes, sections."""

from __future__ import annotations

import pytest

from corpus_files import CorpusFile, corpus_files
from lsp_text import KERNEL, cursor, kernel
from ptxloom.lsp.document import Document
from ptxloom.lsp.names import NameKind

OF_INITIALISERS = {"generic", "nearest", "linear", "clamp_to_edge", "addr_mode_0", "filter_mode"} | {
    "force_unnormalized_coords"
}


def lines_of(document: Document, offset: int, *, declares: bool) -> list[int]:
    found = document.names.at(offset)
    assert found is not None
    places = [one.start for one in document.names.alike(found) if one.declares == declares]
    return [document.module.source.location(place)[0] for place in places]


@pytest.mark.parametrize(
    ("old", "new", "declared"),
    [
        ("mov.u32 %r1", "mov.u32 %‸r1", 21),
        ("global.b32 %r1", "global.b32 %r‸1", 29),
        ("st.param.b32 [result], %r2", "st.param.b32 [result], ‸%r2", 10),
        ("[%r1];\nDONE", "[%r1‸];\nDONE", 21),
        ("@%p1", "@%‸p1", 20),
        ("bra DONE", "bra DO‸NE", 35),
        ("bra LOOP", "bra LOOP‸", 31),
        ("[n]", "[n‸]", 18),
        ("[value]", "[‸value]", 8),
        ("[table]", "[tab‸le]", 5),
        ("DONE:", "DO‸NE:", 35),
    ],
)
def test_a_name_leads_to_its_declaration(old: str, new: str, declared: int) -> None:
    document, offset = kernel(old, new)
    assert lines_of(document, offset, declares=True) == [declared]


def test_a_member_of_a_series_is_found_where_it_is_named_and_the_series_everywhere() -> None:
    document, offset = kernel("mov.u32 %r1", "mov.u32 %‸r1")
    assert lines_of(document, offset, declares=False) == [24, 26, 34]
    document, offset = cursor(KERNEL.replace(".reg .b32 %r<9>", ".reg .b32 %‸r<9>"))
    assert lines_of(document, offset, declares=False) == [24, 25, 26, 26, 34, 34, 34, 34, 34]


def test_a_member_of_a_series_is_one_however_it_is_spelled() -> None:
    document, offset = kernel("mov.u32 %r1", "mov.u32 %‸r001")
    assert lines_of(document, offset, declares=False) == [24, 26, 34]


def test_a_label_and_a_register_of_one_name_are_two() -> None:
    document, offset = cursor("{ .reg .b32 L;\nmov.u32 L, 1; {\nmov.u32 L, 2;\nbra L;\nL‸: ret; } }")
    assert lines_of(document, offset, declares=False) == [4]


def test_beyond_a_series_a_name_is_undeclared() -> None:
    document, offset = kernel("mov.u32 %r1", "mov.u32 %‸r9")
    found = document.names.at(offset)
    assert found is not None
    assert found.symbol is None


def test_special_registers_and_sinks_are_no_names() -> None:
    document = Document("{ .reg .b32 a; mov.u32 a, %tid.x; mov.b64 {a, _}, %clock64; mov.u32 a, WARP_SZ; }")
    assert {one.name for one in document.names.occurrences} == {"a"}


def test_a_prototype_and_its_definition_are_one() -> None:
    document, offset = cursor(
        ".func f(.param .b32 a);\n.entry k() { call f‸, (1); }\n.func f(.param .b32 b) { ret; }\n.alias g, f;\n"
    )
    assert lines_of(document, offset, declares=True) == [1, 3]
    assert lines_of(document, offset, declares=False) == [2, 4]


def test_labels_of_sibling_blocks_are_different_and_outer_ones_are_seen() -> None:
    text = "{ { bra A; A: ret; } { A: bra A; bra B; } B: ret; }"
    names = Document(text).names
    uses = [one for one in names.occurrences if not one.declares]
    declared = {one.symbol: one.start for one in names.occurrences if one.declares}
    assert [text[declared[one.symbol] :][:2] for one in uses] == ["A:", "A:", "B:"]
    assert uses[0].symbol is not uses[1].symbol


def test_a_label_inside_a_block_is_not_seen_from_outside_but_sections_see_everything() -> None:
    text = ".entry k() { bra IN; { IN: ret; } }\n.section .debug_x { .b64 IN+4 }\n"
    names = Document(text).names
    outside = [one for one in names.occurrences if one.name == "IN" and not one.declares]
    assert [one.symbol and one.symbol.kind for one in outside] == [None, NameKind.LABEL]


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("file", corpus_files()[::9], ids=lambda file: file.name)
def test_every_name_of_the_corpus_is_found_where_it_stands(file: CorpusFile) -> None:
    text = file.read()
    names = Document(text).names
    assert all(text[one.start : one.end] == one.name for one in names.occurrences)
    assert {one.name for one in names.occurrences if one.symbol is None} <= OF_INITIALISERS
