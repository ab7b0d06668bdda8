"""The code of a kernel as blocks of LLVM IR, each a part of one of the program's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.dataclass import dataclass
from ptxloom.machine.runtime import turns

if TYPE_CHECKING:
    from collections.abc import Iterator

OUTSIDE: Final = -1  # the part of blocks that belong to none of the program's
_ENTRY: Final = "{\nentry:\n"
_LABEL: Final = re.compile(r"([\w.]+):$")
_PROGRAM: Final = re.compile(r"B(\d+)$")
_GOES: Final = re.compile(r"label %([\w.]+)")
_OVER: Final = frozenset((f"ret i32 {turns.DONE}", f"ret i32 {turns.FAULT}"))


@dataclass(slots=True)
class Block:
    """A block of LLVM IR.

    Attributes:
        label: Its label.
        part: The number of the program's block that it is a part of, or `OUTSIDE`.
        lines: Its instructions; the last one is the branch.
    """

    label: str
    part: int
    lines: list[str]

    @property
    def goes(self) -> list[str]:
        """The labels of the blocks after it."""
        return _GOES.findall(self.lines[-1])


class Code(NamedTuple):
    """A module of IR that holds a kernel.

    Attributes:
        head: The text before its blocks: declarations, other functions, its start.
        blocks: These, by their labels, in order.
        tail: The text after them.
    """

    head: str
    blocks: dict[str, Block]
    tail: str

    def leaves(self, block: Block) -> bool:
        """Whether a block may leave the function, so that the warp continues in other code."""
        if block.part == OUTSIDE:
            return False
        last = block.lines[-1]
        if last.startswith("ret "):
            return last not in _OVER
        return any(self.blocks[name].part == OUTSIDE and name != "fault" for name in block.goes)


def read(ir: str) -> Code:
    """Parse a module in the form that the machine emits."""
    start = ir.index(_ENTRY) + 2
    end = ir.index("\n}", start)
    return Code(ir[:start], {block.label: block for block in _blocks(ir[start:end])}, ir[end:])


def _blocks(text: str) -> Iterator[Block]:
    block: Block | None = None
    for line in text.split("\n"):
        label = _LABEL.match(line)
        if label is None:
            assert block is not None
            block.lines.append(line)
            continue
        part = OUTSIDE if block is None else block.part
        if block is not None:
            yield block
        begun = _PROGRAM.match(label[1])
        block = Block(label[1], int(begun[1]) if begun else part, [])
    assert block is not None
    yield block
