"""Loops of what is written as IR by hand: looks and accesses of a warp, atomics, combined stretches, tensor products.

Kernels call these. Each cycle must come by a block that leaves it in time, and so must those that are left without it:

- lanes of a mask: the block leaves when nothing is left of it, and every round takes away its lowest bit at least;
- a count, from 0 on, up to a number in the text, or to one that is read where nothing but counts of memory lies;
- a swap, a cycle of one block, that goes round only if somebody else has changed the place: they have gone on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from attack.ir_text import functions
from ptxloom.machine.native.language import record
from ptxloom.machine.runtime.structs.shadow import Shadow
from ptxloom.machine.runtime.tensor_cores.model import TensorJob, TensorPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from attack.ir_text import Function, Instruction

_TARGET: Final = re.compile(r"label %([\w.$-]+)")
_SUMMARIES: Final = f"getelementptr i8, ptr %s, i64 {record(Shadow).offsets['summaries']}"
_STRETCH: Final = "getelementptr i64, ptr %facts, i64 2"  # the bytes of a stretch, which have been found in memory
_PLAN: Final = f"getelementptr i8, ptr %job, i64 {record(TensorJob).offsets['plan']}"  # which Python alone writes
_TILES: Final = {record(TensorPlan).offsets[name] for name in ("a_tiles", "b_tiles")}
_TIMES: Final = (1 << 16) - 1


def endless(ir: str) -> list[str]:
    """The functions of a module with a cycle that nothing ends, each with the blocks of such cycles."""
    return [f"{one.name}: {' '.join(sorted(left))}" for one in functions(ir) if (left := Loops(one).endless())]


def loops(ir: str) -> int:
    """How many cycles a module has, those within others counted by themselves."""
    return sum(Loops(one).count() for one in functions(ir))


class Loops:
    """The cycles of a function: blocks that lead to each other, and within these, without the block that ends them.

    Args:
        function: Whose they are.
    """

    def __init__(self, function: Function) -> None:
        self.blocks: dict[str, list[Instruction]] = {}
        for one in function.code:
            self.blocks.setdefault(one.block, []).append(one)
        self.values = {one.result: one.text for one in function.code if one.result}
        self.stores = [one for one in function.code if one.opcode == "store"]
        self.ways = {label: set(_TARGET.findall(code[-1].text)) for label, code in self.blocks.items()}

    def endless(self) -> set[str]:
        """The blocks of cycles that nothing ends."""
        return {block for cycle, end in self.ended(set(self.blocks)) if end is None for block in cycle}

    def count(self) -> int:
        """How many cycles there are."""
        return len(list(self.ended(set(self.blocks))))

    def ended(self, among: set[str]) -> Iterator[tuple[set[str], str | None]]:
        """The cycles among some blocks, each with the block that ends it; and those within it."""
        for cycle in _cycles(self.ways, among):
            end = next((label for label in sorted(cycle) if self.ends(label, cycle)), None)
            yield cycle, end
            if end is not None:
                yield from self.ended(cycle - {end})

    def ends(self, label: str, cycle: set[str]) -> bool:
        """Whether a block leaves a cycle after as many rounds as no kernel decides."""
        found = re.match(r"br i1 (\S+), label", self.blocks[label][-1].text)
        if found is None or self.ways[label] <= cycle:
            return False
        test = self.values.get(found[1], "")
        if swapped := re.fullmatch(r"extractvalue \{ i\d+, i1 \} (\S+), 1", test):
            return cycle == {label} and self.values[swapped[1]].startswith("cmpxchg ")
        if masked := re.fullmatch(r"icmp eq i32 (\S+), 0", test):
            following = self.following(masked[1], label, cycle)
            return bool(following) and all(self.loses_a_bit(one, masked[1]) for one in following)
        compared = re.fullmatch(r"icmp (ult|uge|eq) i\d+ (\S+), (\S+)", test)
        if compared is None or not _is_limit(compared[3], self.values):
            return False
        if following := self.following(compared[2], label, cycle):  # looked at ahead of a round
            return all(self.counts(one) == compared[2] for one in following)
        counter = self.counts(compared[2])
        return self.following(counter, "", cycle) == {compared[2]} or self.is_kept(counter, compared[2], cycle)

    def following(self, name: str, label: str, cycle: set[str]) -> set[str]:
        """What a `phi` of a cycle (in a block, if one is named) takes from it."""
        text = self.values.get(name, "")
        here = [block for block in ([label] if label else cycle) for one in self.blocks[block] if one.result == name]
        pairs = re.findall(r"\[ (\S+), %(\S+) \]", text) if here and text.startswith("phi ") else []
        return {value for value, block in pairs if block in cycle}

    def counts(self, name: str) -> str:
        """What a value is more than, by a constant; empty if it is not made so."""
        found = re.fullmatch(r"add i\d+ (\S+), [1-9]\d*", self.values.get(name, ""))
        return found[1] if found else ""

    def loses_a_bit(self, one: str, mask: str) -> bool:
        """Whether a value is part of a mask without its lowest bit: `and`s of it, of it less 1, and of anything."""
        parts = self.parts(one)
        less = {f"sub i32 {mask}, 1", f"add i32 {mask}, -1"}
        return mask in parts and any(self.values.get(part) in less for part in parts)

    def parts(self, one: str) -> set[str]:
        """What `and`s join to a value."""
        found = re.fullmatch(r"and i32 (\S+), (\S+)", self.values.get(one, ""))
        return {one} if found is None else self.parts(found[1]) | self.parts(found[2])

    def is_kept(self, counter: str, grown: str, cycle: set[str]) -> bool:
        """Whether a counter lies in room of its own, in which a cycle stores nothing but what follows."""
        found = re.fullmatch(r"load i64, ptr (\S+), align 8", self.values.get(counter, ""))
        if found is None or not self.values.get(found[1], "").startswith("alloca i64"):
            return False
        kept = {one.text.split(",")[0] for one in self.stores if f"ptr {found[1]}," in one.text and one.block in cycle}
        return kept == {f"store i64 {grown}"}


def _cycles(ways: Mapping[str, set[str]], among: set[str]) -> Iterator[set[str]]:
    """The sets of blocks, among some, of which each leads to each."""
    reached = {one: _reached(ways, among, one) for one in among}
    seen: set[str] = set()
    for one in sorted(among):
        if one in reached[one] and one not in seen:
            cycle = {other for other in reached[one] if one in reached[other]}
            seen |= cycle
            yield cycle


def _reached(ways: Mapping[str, set[str]], among: set[str], start: str) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for one in (ways[waiting.pop()] & among) - found:
            found.add(one)
            waiting.append(one)
    return found


def _is_limit(limit: str, values: Mapping[str, str]) -> bool:
    """Whether no kernel decides a number: a constant, or a count of memory that was taken."""
    if limit.isdecimal():
        return int(limit) <= _TIMES
    text = values.get(limit, "")
    if widened := re.fullmatch(r"zext i32 (\S+) to i64", text):
        return _is_limit(widened[1], values)
    if least := re.fullmatch(r"call i\d+ @llvm\.umin\.\w+\(i\d+ \S+, i\d+ (\d+)\)", text):
        return _is_limit(least[1], values)
    loaded = re.fullmatch(r"load i\d+, ptr (\S+), align \d", text)
    place = values.get(loaded[1], "") if loaded else ""
    if place in {_SUMMARIES, _STRETCH}:
        return True
    tiles = re.fullmatch(r"getelementptr i8, ptr (\S+), i64 (\d+)", place)
    plan = re.fullmatch(r"load ptr, ptr (\S+), align 8", values.get(tiles[1], "")) if tiles else None
    if tiles is None or plan is None:
        return False
    return values.get(plan[1], "") == _PLAN and int(tiles[2]) in _TILES
