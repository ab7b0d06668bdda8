"""Rows of instructions that do more than compute: they use the builder of LLVM IR, and call the run-time."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ptxloom.machine.codegen.builder import Builder
from ptxloom.machine.program.model import Op
from ptxloom.meaning.family import Row as AnyRow
from ptxloom.meaning.family import RowsOf

if TYPE_CHECKING:
    from collections.abc import Callable

    Semantic: TypeAlias = Callable[[Builder, Op], None]

Row: TypeAlias = AnyRow[Builder, Op]


class Family(RowsOf[Builder, Op]):
    """The rows of one file; used as a decorator."""
