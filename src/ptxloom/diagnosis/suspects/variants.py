"""A kernel with many changes in it, of which a launch chooses one: all are compiled in one go."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from ptxloom.diagnosis.suspects.changes import guard_of
from ptxloom.syntax.edits import edit
from ptxloom.syntax.tree import Function

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.suspects.changes import Change, Rewrite
    from ptxloom.machine.program.model import Op
    from ptxloom.syntax.module import Module

CHOICE: Final = "ptxloom_choice"  # which change is made (0: none), and of which site (0: of all that it has)
_NUMBER: Final = "%ptxloom_number"
_SITE: Final = "%ptxloom_site"
_THIS: Final = "%ptxloom_this"  # 0: the guard, 1: the site is meant, 2: nothing is changed, 3: this change is made


def with_all(module: Module, changes: Sequence[Change]) -> Module:
    """The module with all changes, of which the variable `CHOICE` says which one is made, counted from 1.

    Args:
        module: What is to be changed.
        changes: Of its instructions.
    """
    editor = edit(module)
    at: defaultdict[int, list[tuple[int, Rewrite]]] = defaultdict(list)
    ops: dict[int, Op] = {}
    for number, change in enumerate(changes, 1):
        for op, new in change.rewrites:
            ops[op.node.start] = op
            at[op.node.start].append((number, new))
    for start, several in at.items():
        editor.replace(ops[start].node, _either(ops[start], several))
    functions = {op.function.number: op.function.node for op in ops.values()}
    for function in functions.values():
        editor.prepend(function, *_HEAD)
    first = next(one for one in module.statements if isinstance(one, Function))
    editor.insert_before(first, f".const .align 4 .u32 {CHOICE}[2] = {{0, 0}};")
    return editor.module()


_HEAD: Final = (
    f".reg .b32 {_NUMBER}, {_SITE};",
    f".reg .pred {_THIS}<4>;",
    f".reg .b64 {_NUMBER}_at;",
    f"mov.u64 {_NUMBER}_at, {CHOICE};",
    f"ld.const.v2.u32 {{{_NUMBER}, {_SITE}}}, [{_NUMBER}_at];",
)


def _either(op: Op, several: Sequence[tuple[int, Rewrite]]) -> str:
    """An instruction or what stands in its place, as the numbers say."""
    node = op.node
    guard = guard_of(node).strip().removeprefix("@")
    lines = [f"setp.eq.u32 {_THIS}1, {_SITE}, 0;", f"setp.eq.or.u32 {_THIS}1, {_SITE}, {op.site + 1}, {_THIS}1;"]
    if guard:  # which the instruction may itself write
        lines += [f"mov.pred {_THIS}0, {guard.lstrip('!')};"]
        held = f"!{_THIS}0" if guard.startswith("!") else f"{_THIS}0"
        lines += (
            [f"and.pred {_THIS}1, {_THIS}1, {_THIS}0;"]
            if held[0] != "!"
            else [
                f"not.pred {_THIS}2, {_THIS}0;",
                f"and.pred {_THIS}1, {_THIS}1, {_THIS}2;",
            ]
        )
        lines += [f"not.pred {_THIS}2, {_THIS}0;" if held[0] == "!" else f"mov.pred {_THIS}2, {_THIS}0;"]
    else:
        lines += [f"setp.eq.u32 {_THIS}2, 0, 0;"]
    made: list[str] = []
    for number, _ in several:
        made.append(f"setp.eq.and.u32 {_THIS}3, {_NUMBER}, {number}, {_THIS}1;")
        lines += [made[-1], f"not.pred {_THIS}0, {_THIS}3;", f"and.pred {_THIS}2, {_THIS}2, {_THIS}0;"]
    text = node.source.text[node.start : node.end]
    bare = text if node.predicate is None else text[node.predicate.end - node.start :]
    lines.append(f"@{_THIS}2 {bare.strip()}")
    for test, (_, new) in zip(made, several, strict=True):
        lines += [test, *new.guarded(f"@{_THIS}3 ")]
    return "\n".join(lines)
