"""A program as a tree: statements, and what decides which of them run; every part can be left out.

What lanes decide each for itself is `joined` where the warp goes on together behind it.

All registers hold something from the start, memory belongs to a thread or is ordered inside one node, and loops count
to a constant or to the low bits of a register of their own: so any part of a program is a program, and a shrinker may
take away what it likes.
"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING, Final, TypeAlias

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator


class Reach(IntEnum):
    """Who runs a place of the program together: what may stand there."""

    LANE = 0
    WARP = 1
    CTA = 2


@dataclass(frozen=True, slots=True)
class Step:
    """Instructions in a row.

    Attributes:
        text: What is written; a `{ }` of its own where it declares something.
        guard: Under which predicate, such as `@!%p1 `; empty: none.
    """

    text: str
    guard: str = ""


@dataclass(frozen=True, slots=True)
class Fork:
    """`if`, by a predicate; `voted`: the whole warp goes where one lane of it would."""

    predicate: str
    voted: bool
    bodies: tuple[Region, ...]
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Repeat:
    """A loop: `times` iterations, or as many as the low bits of a register give."""

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
    """A call of a function: its body, what it is given (a word, 64 bits, a float) and whether its address is."""

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
        seed: Of the campaign.
        case: Its number there.
        body: What it does.
        clustered: Whether it runs on clusters of two CTAs.
    """

    seed: int
    case: int
    body: Region
    clustered: bool = False

    @property
    def steps(self) -> int:
        """How many nodes it has, all of them."""
        return sum(1 for _ in every(self.body))

    def with_body(self, body: Region) -> Program:
        """The same with another body."""
        return replace(self, body=body)


def bodies_of(node: Node) -> tuple[Region, ...]:
    """The parts that a node decides about."""
    return () if isinstance(node, Step) else node.bodies


def every(region: Region) -> Iterator[Node]:
    """All nodes, a node before what it decides about."""
    for node in region:
        yield node
        for body in bodies_of(node):
            yield from every(body)
