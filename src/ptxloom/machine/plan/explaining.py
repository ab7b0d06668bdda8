"""Explains failures to prepare a kernel with the checker's errors, if it finds any."""

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
    """Report illegal PTX as the cause of a failure; if the PTX is legal, the failure is a bug in ptxloom.

    Raises:
        IllegalPtx: The code inside failed, and the kernel is not legal.
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
    """Refuse a kernel if it, or a function that it reaches, is rejected by ptxas.

    Raises:
        IllegalPtx: With the checker's findings.
    """
    from ptxloom.machine.plan import legality  # noqa: PLC0415 - a kernel that is known is not judged again

    legality.must_be_legal(module, name, cause)
