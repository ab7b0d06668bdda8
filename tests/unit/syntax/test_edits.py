from __future__ import annotations

from typing import Any

import pytest

from ptxloom import UsageError, edit, instructions, parse, walk
from ptxloom.diagnostics import Fix
from ptxloom.source import Span
from ptxloom.syntax import EditConflict
from ptxloom.syntax.node import StatementNode
from ptxloom.syntax.tree import Address, Binary, Instruction, Integer, Label, Name

KERNEL = """\
.version 9.0
.target sm_90a
.visible .entry k(.param .u64 a) // a kernel
{
	.reg .b32 %r<9>;

	mov.u32   %r1,%r2 ;	// as it came
L:	add.u32 %r1, %r1, /* one */ 1; @%p bra L;
	/* the end */
	ret;
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mov.u32   %r1,%r2 ;", "cvt.u32.u32   %r1,%r2 ;"),
        ("mov.u32   %r1,%r2 ;", "@!%p2 mov.u32   %r1,%r2 ;"),
        ("mov.u32   %r1,%r2 ;", "mov.u32   %r1,%r77 ;"),
        ("mov.u32   %r1,%r2 ;", "ret;"),
        ("add.u32 %r1, %r1, /* one */ 1;", "add.s32 %r1, %r1, /* one */ 2;"),
        ("@%p bra L;", "bra L;"),
        ("@%p bra L;", "@!%q bra L;"),
        (".reg .b32 %r<9>;", ".reg .b32 %r<10>;"),
        (".version 9.0", ".version 9.1"),
    ],
)
def test_only_what_differs_is_written_anew(old: str, new: str) -> None:
    module = parse(KERNEL)
    statements = (one for one in walk(module) if isinstance(one, StatementNode))
    node = next(one for one in statements if one.span.text == old)
    (other,) = parse(new).statements
    editor = edit(module)
    editor.replace(node, other)
    assert editor.text() == KERNEL.replace(old, new)


def test_comments_inside_what_is_replaced_move_behind_it() -> None:
    module = parse("add.u32 a, /* x */ b, // y\n c;\nret;")
    editor = edit(module)
    editor.replace(module.statements[0], Instruction(None, "trap"))
    assert editor.text() == "trap; /* x */ // y\n\nret;"


def test_deleting_takes_the_line_if_nothing_else_is_on_it() -> None:
    module = parse(KERNEL)
    mov, add, bra, ret = instructions(module)
    editor = edit(module)
    editor.delete(ret)
    assert "\tret;\n" not in editor.text()
    editor.delete(add)
    editor.delete(mov)
    expected = KERNEL.replace("\tret;\n", "").replace("add.u32 %r1, %r1, /* one */ 1; ", "")
    assert editor.text() == expected.replace("mov.u32   %r1,%r2 ;\t", "")
    assert [one.opcode for one in instructions(editor.module())] == [bra.opcode]


def test_insertions_stand_on_their_own_lines() -> None:
    module = parse(KERNEL)
    mov, _, _, ret = instructions(module)
    editor = edit(module)
    editor.insert_before(mov, "// here", Label("M"))
    editor.insert_after(mov, "trap;")
    editor.insert_after(mov, Instruction(None, "brkpt"))
    editor.insert_before(ret, "membar.gl;")
    assert editor.text() == KERNEL.replace(
        "\tmov.u32   %r1,%r2 ;	// as it came\n",
        "\t// here\n\tM:\n\tmov.u32   %r1,%r2 ;	// as it came\n\ttrap;\n\tbrkpt;\n",
    ).replace("\tret;", "\tmembar.gl;\n\tret;")


def test_insertions_among_statements_of_one_line() -> None:
    module = parse(KERNEL)
    _, add, bra, _ = instructions(module)
    editor = edit(module)
    editor.insert_before(add, "nop;")
    editor.insert_after(add, "brkpt;")
    editor.insert_after(bra, "trap;")
    assert "L:\tnop; add.u32 %r1, %r1, /* one */ 1; brkpt; @%p bra L;\n\ttrap;\n" in editor.text()


def test_starts_and_ends() -> None:
    module = parse(KERNEL)
    function = module.functions["k"]
    editor = edit(module)
    editor.prepend(module, "// made by hand")
    editor.append(module, "// the end")
    editor.prepend(function, "mov.u32 a, 1;")
    editor.append(function, "trap;")
    lines = editor.text().splitlines()
    assert (lines[0], lines[-1]) == ("// made by hand", "// the end")
    assert lines[4:7] == ["{", "\tmov.u32 a, 1;", "\t.reg .b32 %r<9>;"]
    assert lines[-3:-1] == ["\ttrap;", "}"]
    empty = parse(".entry k() {}")
    editor = edit(empty)
    editor.append(empty.functions["k"], "ret;")
    assert editor.text() == ".entry k() {ret; }"


def test_a_function_is_compared_statement_by_statement() -> None:
    module = parse(KERNEL)
    function = module.functions["k"]
    assert function.body is not None
    mov, *rest = [one for one in function.body.statements if isinstance(one, Instruction)]
    new = (*function.body.statements[:-1], mov.replace(opcode="neg"), rest[-1], Instruction(None, "trap"))
    editor = edit(module)
    editor.replace(function, function.replace(body=function.body.replace(statements=new)))
    assert editor.module().functions["k"].body == function.body.replace(statements=new)
    assert editor.text() == KERNEL.replace("bra L;\n", "bra L;\n\tneg.u32 %r1, %r2;\n").replace(
        "ret;\n", "ret;\n\ttrap;\n"
    )


def test_operands_get_parentheses_where_they_need_them() -> None:
    module = parse("mov.u32 a, b*2; ld.u32 a, [b];")
    first, second = instructions(module)
    editor = edit(module)
    (_, product), (_, address) = first.operands, second.operands
    assert isinstance(product, Binary)
    assert isinstance(address, Address)
    editor.replace(product.left, Binary("+", Name("c"), Integer(1)))
    editor.replace(address.base, Binary("+", Name("c"), Name("d")))
    assert editor.text() == "mov.u32 a, (c + 1)*2; ld.u32 a, [c + d];"


def test_conflicts_name_both_places() -> None:
    module = parse(KERNEL)
    _, add, bra, _ = instructions(module)
    editor = edit(module)
    editor.replace(add.operands[2], Integer(3))
    with pytest.raises(EditConflict, match=r"<string>:8:4 meets the one at <string>:8:32"):
        editor.delete(add)
    with pytest.raises(EditConflict):
        editor.replace(module.functions["k"], "")
    editor.delete(bra)
    with pytest.raises(EditConflict):
        editor.replace(bra, "ret;")
    before = editor.text()
    editor.insert_before(bra, "trap;")
    assert "trap;" in editor.text()
    assert editor.text().replace("trap; ", "") == before


def test_fixes_are_edits() -> None:
    module = parse("ret")
    (missing,) = module.diagnostics
    assert missing.fix is not None
    editor = edit(module)
    editor.apply(missing.fix)
    assert editor.text() == "ret;"
    with pytest.raises(UsageError):
        editor.apply(Fix("x", Span(parse("ret").source, 0, 1), ""))


def test_strangers_are_refused() -> None:
    module = parse(KERNEL)
    editor = edit(module)
    for stranger in (Instruction(None, "ret"), parse(KERNEL).statements[0]):
        with pytest.raises(UsageError):
            editor.replace(stranger, "ret;")
    with pytest.raises(UsageError):
        editor.delete(module.functions["k"].params[0])
    prototype = parse(".func f();")
    with pytest.raises(UsageError):
        edit(prototype).append(prototype.functions["f"], "ret;")
    with pytest.raises(UsageError):
        editor.append(prototype, "ret;")


def test_what_is_neither_node_nor_text_is_refused() -> None:
    module = parse(KERNEL)
    statement = module.statements[0]
    odd: Any = 5
    for change in (
        lambda: edit(module).replace(odd, "ret;"),
        lambda: edit(module).replace(statement, odd),
        lambda: edit(module).insert_after(statement, odd),
        lambda: edit(module).delete(odd),
    ):
        with pytest.raises(UsageError, match="is 5; it must be a"):
            change()


def test_new_lines_end_as_the_others_do() -> None:
    module = parse(KERNEL.replace("\n", "\r\n"))
    editor = edit(module)
    editor.append(module.functions["k"], "trap;", "ret;")
    editor.replace(module.statements[0], ".version 9.1")
    text = editor.text()
    assert text.count("\n") == text.count("\r\n") == KERNEL.count("\n") + 2
