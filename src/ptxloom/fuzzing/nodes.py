"""A program as a tree: statements, and the control flow around them; any part can be removed.

A decision of each lane is `joined` if the warp reconverges after it.

All registers are initialised, memory is private to a thread or ordered inside one node, and loops count
to a constant or to the low bits of a register of their own: so any part of a program is a program, and a shrinker may
remove any part.
"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator


class Reach(IntEnum):
    """The threads that run a place of the program together, which decides what is legal there."""

    LANE = 0
    WARP = 1
    CTA = 2


@dataclass(frozen=True, slots=True)
class Step:
    """Consecutive instructions.

    Attributes:
        text: The text, in a `{ }` of its own if it declares something.
        guard: The guard, such as `@!%p1 `; may be empty.
    """

    text: str
    guard: str = ""


@dataclass(frozen=True, slots=True)
class Fork:
    """`if`, by a predicate; `voted`: the whole warp branches if any lane would."""

    predicate: str
    voted: bool
    bodies: tuple[Region, ...]
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Repeat:
    """A loop: `times` iterations, or the number in the low bits of a register."""

    times: int
    counted_by: str
    bodies: tuple[Region, ...]
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Switch:
    """`brx.idx` by the low bits of a register: two or four bodies."""

    selector: str
    bodies: tuple[Region, ...]
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Invoke:
    """A call of a function: its body, its argument (a word, 64 bits, a float), and whether it is called by address."""

    given: tuple[str, str, str]
    taken: tuple[str, str, str]
    by_address: bool
    bodies: tuple[Region, ...]
    joined: bool = False


Node: TypeAlias = "Step | Fork | Repeat | Switch | Invoke"
Region: TypeAlias = "tuple[Node, ...]"

CLUSTER: Final = 2
"""CTAs of a cluster, where a program has one."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the fuzzer.

    Attributes:
        seed: The campaign's seed.
        case: Its number there.
        body: Its statements.
        clustered: Whether it runs on clusters of two CTAs.
    """

    seed: int
    case: int
    body: Region
    clustered: bool = False

    @property
    def steps(self) -> int:
        """The total number of nodes."""
        return sum(1 for _ in every(self.body))

    def with_body(self, body: Region) -> Program:
        """The program with another body."""
        return replace(self, body=body)


def bodies_of(node: Node) -> tuple[Region, ...]:
    """The parts that a node controls."""
    return () if isinstance(node, Step) else node.bodies


def every(region: Region) -> Iterator[Node]:
    """All nodes, each before those that it controls."""
    for node in region:
        yield node
        for body in bodies_of(node):
            yield from every(body)
