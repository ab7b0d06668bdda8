"""Edits of descriptors and of the copies beside them, as people get them wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnosis.planted.model import Edit, PlantedBug

if TYPE_CHECKING:
    from diagnosis.planted.model import RightKernel


def words(kernel: RightKernel, name: str, operand: str, old: str, new: str) -> PlantedBug:
    """A descriptor with other words."""
    mark = f"{operand}-words"
    return PlantedBug(name, kernel, "descriptor", operand, (Edit(mark, old, new),), (mark,))


def steps(operand: str, *changes: tuple[int, int]) -> tuple[Edit, ...]:
    """Other distances from one product to the next."""
    register = {"a": "d10", "b": "d11"}[operand]
    return tuple(Edit(f"{operand}-step", f"{register}, {old};", f"{register}, {new};") for old, new in changes)


def moved(kernel: RightKernel, name: str, cause: str, mark: str, by: int) -> PlantedBug:
    """A coordinate of a copy that is a number of elements off."""
    return PlantedBug(name, kernel, cause, mark[0], (Edit(mark, ", 0;", f", {by};"),), (mark,))
