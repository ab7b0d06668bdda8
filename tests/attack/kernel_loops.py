"""Loops in the code of kernels, which is emitted as IR: every cycle looks at the budget that it spends of, or counts.

A block looks at the budget if it takes something from it and leaves by whether it is spent. A loop counts if it is one
block that goes round while a number which grows by a constant stays below the lanes of a warp. Without the blocks that
look, and without the ways back of loops that count, no cycle may be left.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from attack.ir_text import functions
from attack.rooms import LANES, RECORD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from attack.ir_text import Function, Instruction

_TARGET: Final = re.compile(r"label %([\w.$-]+)")
_BUDGET: Final = f"getelementptr i8, ptr %w, i64 {RECORD.offsets['budget']}"


def endless(ir: str) -> list[str]:
    """The functions of a module with a cycle that nothing ends, each with the blocks in or between such cycles."""
    return [f"{one.name}: {' '.join(sorted(left))}" for one in functions(ir) if (left := _in_cycles(_unended(one)))]


def _unended(function: Function) -> dict[str, set[str]]:
    """The ways between blocks that do not look at the budget, without those back of loops that count."""
    blocks: dict[str, list[Instruction]] = {}
    for one in function.code:
        blocks.setdefault(one.block, []).append(one)
    values = {one.result: one.text for one in function.code if one.result}
    return {
        label: {target for target in _TARGET.findall(code[-1].text) if target != label or not _counts(code, values)}
        for label, code in blocks.items()
        if not _looks(code, values)
    }


def _looks(code: list[Instruction], values: Mapping[str, str]) -> bool:
    """Whether a block takes from the budget, stores what is left, and leaves by whether that is below 0."""
    spent = re.match(r"br i1 (\S+), ", code[-1].text)
    left = re.fullmatch(r"icmp slt i32 (\S+), 0", values.get(spent[1], "")) if spent else None
    taken = re.fullmatch(r"sub i32 (\S+), ([1-9]\d*)", values.get(left[1], "")) if left else None
    held = re.match(r"load i32, ptr (\S+), ", values.get(taken[1], "")) if taken else None
    if left is None or held is None or values.get(held[1]) != _BUDGET:
        return False
    return any(one.text.startswith(f"store i32 {left[1]}, ptr {held[1]}, ") for one in code)


def _counts(code: list[Instruction], values: Mapping[str, str]) -> bool:
    """Whether a block goes round only while a counter of its own, from 0 on in steps, is below the lanes of a warp."""
    again = re.fullmatch(r"br i1 (\S+), label %(\S+), label %\S+", code[-1].text)
    bound = re.fullmatch(r"icmp ult i\d+ (\S+), (\d+)", values.get(again[1], "")) if again else None
    step = re.fullmatch(r"add i\d+ (\S+), ([1-9]\d*)", values.get(bound[1], "")) if bound else None
    if again is None or bound is None or step is None or again[2] != code[0].block or int(bound[2]) > LANES:
        return False
    return any(one.result == step[1] and one.opcode == "phi" and f"[ {bound[1]}, " in one.text for one in code)


def _in_cycles(ways: Mapping[str, set[str]]) -> set[str]:
    """The nodes that are left when those that lead nowhere, or that nothing leads to, are taken out again and again."""
    left = {node: {one for one in after if one in ways} for node, after in ways.items()}
    while ends := {node for node, after in left.items() if not after} | (left.keys() - _led_to(left)):
        left = {node: after - ends for node, after in left.items() if node not in ends}
    return set(left)


def _led_to(ways: Mapping[str, set[str]]) -> set[str]:
    return {one for after in ways.values() for one in after}


def without_looks(ir: str) -> Iterator[str]:
    """A module without one of its looks at the budget, each in turn: it goes on as if there were some left."""
    for found in re.finditer(r"^br i1 (%\S+), label (%\S+), label (%\S+)$", ir, re.MULTILINE):
        if re.search(rf"^{re.escape(found[1])} = icmp slt i32 %\S+, 0$", ir, re.MULTILINE):
            yield ir[: found.start()] + f"br label {found[3]}" + ir[found.end() :]
