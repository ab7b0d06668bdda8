"""A kernel with many changes compiled into it, of which each launch enables one."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.diagnosis.suspects import parts, turns
from ptxloom.diagnosis.suspects.changes import CHOICE, VALUE, WIDE, guard_of, held
from ptxloom.syntax.edits import edit
from ptxloom.syntax.tree import Function

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ptxloom.diagnosis.suspects.changes import Change, Rewrite
    from ptxloom.diagnosis.suspects.sources import Sources
    from ptxloom.machine.program.model import Op
    from ptxloom.syntax.module import Module

_NUMBER: Final = "%ptxloom_number"
_SITE: Final = "%ptxloom_site"
_SOURCE: Final = "%ptxloom_source"
_GUARD: Final = "%ptxloom_guard"  # that of the instruction
_MEANT: Final = "%ptxloom_meant"  # the site is, and its guard holds
_AS_IT_IS: Final = "%ptxloom_as_it_is"  # nothing is changed, and its guard holds
_THIS: Final = "%ptxloom_this"  # this change is made


class Variants(NamedTuple):
    """A module with many changes.

    Attributes:
        module: The module.
        numbers: The number of each change, from 1: the same if they differ by a number or a source only.
    """

    module: Module
    numbers: tuple[int, ...]


def with_all(module: Module, changes: Sequence[Change], sources: Sources, ops: Sequence[Op]) -> Variants:
    """The module with all changes; the variable `CHOICE` enables one.

    Args:
        module: The original module.
        changes: Of its instructions.
        sources: The values that they may take.
        ops: Its instructions.
    """
    editor = edit(module)
    forms: dict[object, int] = {}
    numbers = tuple(forms.setdefault(form_of(one), len(forms) + 1) for one in changes)
    at: defaultdict[int, dict[int, Rewrite]] = defaultdict(dict)
    changed: dict[int, Op] = {}
    together: set[int] = set()
    for number, change in zip(numbers, changes, strict=True):
        for op, new in change.compiled:
            changed[op.site] = op
            at[op.site][number] = new
            if len(change.compiled) > 1:
                together.add(op.site)
    turning = turns.turning(ops)
    functions = {op.function.number: op.function.node for op in (*changed.values(), *turning.values())}
    entry = next(op.function for op in ops if op.function.is_entry)
    functions[entry.number] = entry.node
    wanted = {one.source for one in changes if one.source}
    for op in ops:
        lines = _either(op, at[op.site], is_alone=op.site not in together) if op.site in at else []
        if op.function.number in functions and (copies := sources.copies(op, wanted, _SOURCE, _THIS)):
            lines = [*(lines or [_written(op)]), *copies]
        if op.site in turning:
            lines = [*turns.COUNT, *(lines or [_written(op)])]
        if lines:
            editor.replace(op.node, "\n".join(lines))
    for function in functions.values():
        own = parts.HEAD if function is entry.node else ()
        editor.prepend(function, *_HEAD, *own, *sources.read(function, wanted, _SOURCE, _THIS))
    first = next(one for one in module.statements if isinstance(one, Function))
    editor.insert_before(first, f".const .align 16 .u32 {CHOICE}[8] = {{0, 0, 0, 0, 0xFFFFFFFF, 0, 0, 0xFFFFFFFF}};")
    return Variants(editor.module(), numbers)


def form_of(change: Change) -> object:
    """The compiled form of a change: equal for changes that differ only in a number or a source."""
    return tuple((op.site, new) for op, new in change.compiled)


_HEAD: Final = (
    f".reg .b32 {_NUMBER}, {_SITE}, {VALUE}, {_SOURCE}, {held(32)};",
    f".reg .b16 {held(16)};",
    f".reg .b64 {held(64)}, {WIDE}, {_NUMBER}_at;",
    f".reg .pred {held(0)}, {_GUARD}, {_MEANT}, {_AS_IT_IS}, {_THIS};",
    f"mov.u64 {_NUMBER}_at, {CHOICE};",
    f"ld.const.v4.u32 {{{_NUMBER}, {_SITE}, {VALUE}, {_SOURCE}}}, [{_NUMBER}_at];",
    *turns.HEAD,
    f"ld.const.u32 {turns.MOST}, [{_NUMBER}_at+16];",
    f"cvt.s64.s32 {WIDE}, {VALUE};",
    f"cvt.u16.u32 {held(16)}, {VALUE};",
    f"mov.b32 {held(32)}, {VALUE};",
    f"mov.b64 {held(64)}, {WIDE};",
    f"setp.ne.u32 {held(0)}, 0, 0;",
)


def _written(op: Op) -> str:
    return op.node.source.text[op.node.start : op.node.end]


def _either(op: Op, several: Mapping[int, Rewrite], *, is_alone: bool) -> list[str]:
    """An instruction or its replacement, as the numbers select."""
    node = op.node
    guard = guard_of(node).strip().removeprefix("@")
    lines = [f"setp.eq.u32 {_MEANT}, 0, 0;"]
    if not is_alone:
        lines = [f"setp.eq.u32 {_MEANT}, {_SITE}, 0;", f"setp.eq.or.u32 {_MEANT}, {_SITE}, {op.site + 1}, {_MEANT};"]
    if guard:  # which the instruction may itself write
        word = "not" if guard.startswith("!") else "mov"
        lines += [f"{word}.pred {_GUARD}, {guard.lstrip('!')};", f"and.pred {_MEANT}, {_MEANT}, {_GUARD};"]
    first, *others = several
    lines.append(f"setp.eq.u32 {_AS_IT_IS}, {_NUMBER}, {first};")
    lines += [f"setp.eq.or.u32 {_AS_IT_IS}, {_NUMBER}, {one}, {_AS_IT_IS};" for one in others]
    lines += [f"and.pred {_AS_IT_IS}, {_AS_IT_IS}, {_MEANT};", f"not.pred {_AS_IT_IS}, {_AS_IT_IS};"]
    if guard:
        lines.append(f"and.pred {_AS_IT_IS}, {_AS_IT_IS}, {_GUARD};")
    text = _written(op)
    bare = text if node.predicate is None else text[node.predicate.end - node.start :]
    lines.append(f"@{_AS_IT_IS} {bare.strip()}")
    for number, new in several.items():
        lines += [f"setp.eq.and.u32 {_THIS}, {_NUMBER}, {number}, {_MEANT};", *new.guarded(f"@{_THIS} ")]
    return lines
