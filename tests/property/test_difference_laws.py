"""Names say nothing and everything else does: laws of comparing modules, over real files and random sequences."""

import random
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_files import CorpusFile, corpus_files
from ptxloom.difference import Change, compare
from ptxloom.difference import alignment as aligning
from ptxloom.difference.alignment import Range, aligned, longest_common
from ptxloom.difference.lines import lines_of
from ptxloom.syntax import instructions, parse

SMALL = [file for file in corpus_files() if file.path.stat().st_size < 60_000]
SEQUENCES = st.lists(st.sampled_from("abcde"), max_size=40)


def renamed(text: str) -> str:
    """The same module with other registers (numbered backwards), other labels, no `.loc`, and other spaces."""
    counts: dict[str, int] = {}
    out: list[str] = []

    def register(found: re.Match[str]) -> str:
        stem, number = found[1], int(found[2])
        return f"%other{stem}{counts[stem] - 1 - number}" if number < counts.get(stem, 0) else found[0]

    for line in text.splitlines():
        if line.lstrip().startswith(".loc\t"):
            continue
        declared = re.search(r"\.reg\s.*%([A-Za-z_]+)<(\d+)>", line)
        if declared:
            counts[declared[1]] = int(declared[2])
            out.append(line.replace(f"%{declared[1]}<", f"%other{declared[1]}<"))
        else:
            anew = re.sub(r"%([A-Za-z_]+)(\d+)\b", register, line)
            out.append(re.sub(r"\$L__BB", "$Elsewhere", anew).replace("\t", "  "))
    return "\n".join(out)


@pytest.mark.sample(every=21)
@pytest.mark.parametrize("file", SMALL[::2], ids=lambda file: file.path.name)
def test_a_module_says_the_same_under_other_names(file: CorpusFile) -> None:
    text = file.read()
    other = renamed(text)
    assert other != text
    found = compare(parse(text), parse(other))
    assert found.same, [one.a.function.name for one in found.functions if not one.same]
    assert not any(one.counts for one in found.functions)


@pytest.mark.sample(every=9)
@pytest.mark.parametrize("file", SMALL[::5], ids=lambda file: file.path.name)
def test_an_instruction_less_is_told_by_its_line(file: CorpusFile) -> None:
    text = file.read()
    module = parse(text)
    chosen = random.Random(file.name).choice([*instructions(module)])
    without = parse(text[: chosen.start] + " " * (chosen.end - chosen.start) + text[chosen.end :])
    found = compare(module, without)
    assert not found.same
    rows = [row for one in found.functions for hunk in one.hunks for row in hunk.rows]
    assert {row.change for row in rows} <= {Change.REMOVED, Change.OPERANDS, Change.MOVED}
    counted = sum(count.a - count.b for one in found.functions for count in one.counts if count.what == "instructions")
    assert counted == 1


@pytest.mark.sample(every=9)
@pytest.mark.parametrize("file", SMALL[::7], ids=lambda file: file.path.name)
def test_every_line_of_both_stands_in_one_row(file: CorpusFile) -> None:
    text = file.read()
    module = parse(text)
    shuffled = [*instructions(module)][3::5]
    for one in reversed(shuffled):
        text = text[: one.start] + text[one.end :]
    for found in compare(module, parse(text)).functions:
        assert found.whole
        moved = [row for hunk in found.hunks for row in hunk.rows if row.change is Change.MOVED]
        both = found.changes[Change.SAME] + found.changes[Change.OPERANDS]
        in_a = both + found.changes[Change.REMOVED] + sum(row.a is not None for row in moved)
        in_b = both + found.changes[Change.ADDED] + sum(row.b is not None for row in moved)
        assert in_a == len(lines_of(found.a.function, {}))
        assert in_b == len(lines_of(found.b.function, {}))


@given(SEQUENCES, SEQUENCES)
def test_an_alignment_pairs_what_is_equal_in_order(a: list[str], b: list[str]) -> None:
    found = aligned(a, b, (a, b))
    assert found.whole
    assert all(a[i] == b[j] for i, j in found.pairs)
    assert all(i < i_next and j < j_next for (i, j), (i_next, j_next) in pairwise(found.pairs))


@given(SEQUENCES, SEQUENCES)
def test_the_rest_is_aligned_as_far_as_it_can_be(a: list[str], b: list[str]) -> None:
    pairs = sorted(longest_common(a, b, Range(0, len(a), 0, len(b))))
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(i < i_next and j < j_next for (i, j), (i_next, j_next) in pairwise(pairs))
    lengths = [0] * (len(b) + 1)
    for one in a:
        before = 0
        for at, other in enumerate(b):
            here = lengths[at + 1]
            lengths[at + 1] = before + 1 if one == other else max(here, lengths[at])
            before = here
    assert len(pairs) == lengths[-1]


def test_a_part_too_long_is_said_to_be_unknown_and_never_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligning, "MOST_BITS", 3)
    body = ".entry k() {{ .reg .b32 %r<9>; {} ret; }}"
    one = body.format("add.s32 %r1, %r2, %r3; mul.lo.s32 %r1, %r2, %r3;" * 3)
    other = body.format("mul.lo.s32 %r1, %r2, %r3; add.s32 %r1, %r2, %r3;" * 3)
    found = compare(parse(one), parse(other))
    assert not found.functions[0].whole
    assert not found.same
    assert compare(parse(one), parse(one)).same


def test_thousands_of_equal_lines_are_no_trouble() -> None:
    body = ".entry k() {{ .reg .b32 %r<9>; {} ret; }}"
    one = body.format("add.s32 %r1, %r2, %r3; mul.lo.s32 %r1, %r2, %r3;" * 2000)
    other = body.format("mul.lo.s32 %r1, %r2, %r3; sub.s32 %r1, %r2, %r3;" * 1500)
    found = compare(parse(one), parse(other)).functions[0]
    assert found.whole
    assert found.changes[Change.SAME] == 1501
