"""Failures while a kernel is made ready are explained by the checker's errors, where it has any."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ptxloom.diagnostics import PtxloomError
from ptxloom.machine.program.unsupported import UnsupportedInstruction

if TYPE_CHECKING:
    from collections.abc import Generator

    from ptxloom.syntax.module import Module


@contextmanager
def explained(module: Module, name: str, *, unchecked: bool) -> Generator[None]:
    """Report illegal PTX where something fails over it; where PTX is legal, the failure is ours.

    Raises:
        IllegalPtx: What was done inside failed, and the kernel is not legal.
    """
    try:
        yield
    except UnsupportedInstruction:
        if not unchecked:
            must_be_legal(module, name)
        raise
    except PtxloomError:
        raise
    except Exception as error:
        must_be_legal(module, name, error)
        raise


def must_be_legal(module: Module, name: str, cause: Exception | None = None) -> None:
    """Refuse a kernel that holds, or reaches, what ptxas rejects.

    Raises:
        IllegalPtx: With what the checker found.
    """
    from ptxloom.machine.plan import legality  # noqa: PLC0415 - a kernel that is known is not judged again

    legality.must_be_legal(module, name, cause)
