"""Shrinks a program: removes parts as long as the difference stays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ptxloom.fuzzing.nodes import Invoke, Repeat, Step, Switch, bodies_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ptxloom.fuzzing.nodes import Node, Program, Region


def shrunk(program: Program, differs: Callable[[Program], bool], tries: int = 400) -> Program:
    """A program from which nothing more can be removed.

    Args:
        program: A program that differs.
        differs: Whether a candidate differs.
        tries: The most candidates to try.
    """
    left = tries
    while True:
        for body in _smaller(program.body):
            if left == 0:
                return program
            left -= 1
            candidate = program.with_body(body)
            if differs(candidate):
                program = candidate
                break
        else:
            return program


def fewer(programs: Sequence[Program], differs: Callable[[Sequence[Program]], bool]) -> list[Program]:
    """The programs of a kernel without those that the difference does not need."""
    left = list(programs)
    part = len(left) // 2
    while part and len(left) > 1:
        at = 0
        while at < len(left):
            candidate = [*left[:at], *left[at + part :]]
            if candidate and differs(candidate):
                left = candidate
            else:
                at += part
        part //= 2
    return left


def _smaller(region: Region) -> Iterator[Region]:
    """Smaller regions, the smallest first."""
    size = len(region)
    part = size // 2
    while part:
        for at in range(0, size, part):
            yield region[:at] + region[at + part :]
        part //= 2
    for at, node in enumerate(region):
        for instead in _instead(node):
            yield region[:at] + instead + region[at + 1 :]


def _instead(node: Node) -> Iterator[Region]:
    """Replacements of a node: the parts that it controls, or smaller ones."""
    if isinstance(node, Step):
        if node.guard:
            yield (Step(node.text),)
        return
    bodies = bodies_of(node)
    if not isinstance(node, Invoke):
        yield from bodies
    if isinstance(node, Repeat) and node.times > 1:
        yield (replace(node, times=1),)
    if isinstance(node, Switch) and len(bodies) > 2:
        yield (replace(node, bodies=bodies[:2]),)
    for at, body in enumerate(bodies):
        for less in _smaller(body):
            yield (replace(node, bodies=(*bodies[:at], less, *bodies[at + 1 :])),)
