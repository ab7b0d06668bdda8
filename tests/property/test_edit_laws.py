"""Edited text reads as the edited tree, and differs from the old text only where something was changed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_files import CorpusFile, corpus_files
from property.test_roundtrip_trees import INSTRUCTIONS, OPERANDS
from ptxloom import Module, edit, instructions, parse, walk
from ptxloom.syntax import EditConflict
from ptxloom.syntax.tree import Block, Instruction, Integer, Name
from sweeps import examples

if TYPE_CHECKING:
    from ptxloom.syntax.tree import Operand, Statement

FILES = [file for file in corpus_files() if file.path.stat().st_size < 9_000]


@cache
def read(file: CorpusFile) -> Module:
    return parse(file.read())


def comments(module: Module) -> list[str]:
    return [module.source.text[start:end].rstrip() for start, end in module.comments]


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_putting_everything_back_changes_nothing(file: CorpusFile) -> None:
    module = read(file)
    editor = edit(module)
    for statement in module.statements:
        editor.replace(statement, statement)
    assert editor.text() == module.source.text


@settings(max_examples=examples(20), deadline=None)
@given(st.sampled_from(FILES), st.data())
def test_replaced_instructions(file: CorpusFile, data: st.DataObject) -> None:
    module = read(file)
    found = list(instructions(module))
    if not found:
        return
    chosen = data.draw(st.lists(st.integers(0, len(found) - 1), min_size=1, max_size=4, unique=True))
    editor = edit(module)
    wanted = list(found)
    for at in chosen:
        old = found[at]
        changed = data.draw(
            INSTRUCTIONS
            | st.just(old.replace(opcode="other") if old.opcode != "call" else old)  # its lists are a call's alone
            | st.just(old.replace(predicate=None))
            | st.just(old.replace(operands=old.operands[1:]))
            | st.lists(OPERANDS, min_size=len(old.operands), max_size=len(old.operands)).map(
                lambda new, old=old: old.replace(operands=tuple(new)) if old.opcode != "call" else old
            )
        )
        editor.replace(old, changed)
        wanted[at] = changed
    again = editor.module()
    assert list(instructions(again)) == wanted
    assert sorted(comments(again)) == sorted(comments(module))
    assert_only_there(module.source.text, editor.text(), [(found[at].start, found[at].end) for at in chosen])


def assert_only_there(old: str, new: str, places: list[tuple[int, int]]) -> None:
    """The text before, between and after the changed places is in the new text, in order and at its edges."""
    at, behind = 0, 0
    for start, end in sorted(places):
        piece = old[behind:start]
        at = new.index(piece, at) + len(piece)
        behind = end
    assert new.startswith(old[: min(start for start, _ in places)])
    assert new.endswith(old[behind:])


@settings(max_examples=examples(20), deadline=None)
@given(st.sampled_from(FILES), st.data())
def test_inserted_and_deleted_statements(file: CorpusFile, data: st.DataObject) -> None:
    module = read(file)
    functions = [one for one in module.functions.values() if one.body is not None and one.body.statements]
    if not functions:
        return
    function = data.draw(st.sampled_from(functions))
    assert function.body is not None
    editor = edit(module)
    expected: list[Statement] = []
    marker = 0
    kept_lines: set[str] = set()
    chosen = set(data.draw(st.lists(st.integers(0, len(function.body.statements) - 1), max_size=5)))
    for at, statement in enumerate(function.body.statements):
        made = [Instruction(None, "mark", (), (Integer(marker + n),)) for n in range(2)]
        kind = data.draw(st.sampled_from(("before", "after", "delete", "all"))) if at in chosen else ""
        marker += 2
        if kind in {"before", "all"}:
            editor.insert_before(statement, made[0])
            expected.append(made[0])
        if kind in {"delete", "all"}:
            editor.delete(statement)
        else:
            expected.append(statement)
            kept_lines.add(statement.span.text)
        if kind in {"after", "all"}:
            editor.insert_after(statement, made[1])
            expected.append(made[1])
    again = editor.module()
    body = again.functions[function.name].body
    assert body is not None
    assert body.statements == tuple(expected)
    assert all(line in editor.text() for line in kept_lines)


@settings(max_examples=examples(20), deadline=None)
@given(st.sampled_from(FILES), st.data())
def test_trees_that_were_changed_elsewhere(file: CorpusFile, data: st.DataObject) -> None:
    """Whatever was done to a function's statements, the text follows."""
    module = read(file)
    functions = [one for one in module.functions.values() if one.body is not None]
    if not functions:
        return
    function = data.draw(st.sampled_from(functions))
    assert function.body is not None
    statements = list(function.body.statements)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(statements)))
        cut = data.draw(st.integers(0, 3))
        statements[at : at + cut] = data.draw(st.lists(INSTRUCTIONS, max_size=3))
    wanted = function.replace(body=Block(tuple(statements)))
    editor = edit(module)
    editor.replace(function, wanted)
    again = editor.module().functions[function.name]
    assert again == wanted


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(OPERANDS, min_size=1, max_size=3), st.data())
def test_replaced_operands(operands: list[Operand], data: st.DataObject) -> None:
    module = Module(parse("").source, (Instruction(None, "op", ("b32",), tuple(operands)),))
    read_back = parse(str(module))
    (statement,) = instructions(read_back)
    at = data.draw(st.integers(0, len(operands) - 1))
    new = data.draw(OPERANDS)
    editor = edit(read_back)
    editor.replace(statement.operands[at], new)
    (again,) = instructions(editor.module())
    assert again.operands == (*operands[:at], new, *operands[at + 1 :])


@settings(max_examples=examples(20), deadline=None)
@given(st.sampled_from(FILES), st.data())
def test_overlapping_changes_are_refused(file: CorpusFile, data: st.DataObject) -> None:
    module = read(file)
    found = [one for one in instructions(module) if one.operands]
    if not found:
        return
    chosen = data.draw(st.sampled_from(found))
    editor = edit(module)
    first, second = data.draw(st.permutations((chosen, chosen.operands[0])))
    editor.replace(first, "x;")
    before = editor.text()
    with pytest.raises(EditConflict):
        editor.replace(second, "y;")
    assert editor.text() == before


def test_renaming_everywhere() -> None:
    module = parse(".entry k() { add.u32 %r1, %r1, %r2; st.global.u32 [%r1+4], {%r1, %r2}; }")
    editor = edit(module)
    for node in walk(module):
        if isinstance(node, Name) and node.text == "%r1":
            editor.replace(node, Name("%x"))
    assert editor.text() == module.source.text.replace("%r1", "%x")
