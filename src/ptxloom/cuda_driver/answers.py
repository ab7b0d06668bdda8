"""Every request gets a response: its result, or an error."""

from __future__ import annotations

from traceback import format_exc
from typing import TYPE_CHECKING

from ptxloom.cuda_driver.errors import CudaError, Refused
from ptxloom.cuda_driver.protocol import Operation, is_known, is_whole
from ptxloom.cuda_driver.report import say
from ptxloom.machine.port.region import OutOfHostMemory

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.cuda_driver.report import Report


class Ending(Exception):  # noqa: N818 - says what happens
    """The program must end: a hazard was found, and `on_hazard` says to stop."""


def one_answer(
    answered: Callable[[int, bytes], tuple[CudaError, bytes]], operation: int, data: bytes, report: Report
) -> tuple[CudaError, bytes]:
    """The response to a request, valid or not, even if carrying it out fails.

    Args:
        answered: Carries out a known request of the right length.
        operation: The operation.
        data: Its data.
        report: Receives the reasons of refusals.

    Raises:
        Ending: The program must end.
    """
    try:
        _must_be_whole(operation, data)
        return answered(operation, data)
    except Ending:
        raise
    except Refused as refused:
        if refused.text:
            report.refused(refused.text)
        return refused.error, refused.text.encode()
    except OutOfHostMemory as refused:
        report.refused(f"ptxloom: {refused}")
        return CudaError.OUT_OF_MEMORY, b""
    except MemoryError:
        report.refused(f"ptxloom: this machine has too little memory for {_called(operation)}")
        return CudaError.OUT_OF_MEMORY, b""
    except Exception:  # noqa: BLE001 - later requests are still served, and the program must not get the blame
        say(f"ptxloom: this is a bug in ptxloom, not in the program ({_called(operation)}):\n{format_exc()}")
        return CudaError.UNKNOWN, b""


def _must_be_whole(operation: int, data: bytes) -> None:
    """Check that an operation exists and its request has the right length.

    Raises:
        Refused: The operation does not exist, or the length is wrong.
    """
    if not is_known(operation):
        raise Refused(CudaError.NOT_SUPPORTED)
    if not is_whole(operation, data):
        raise Refused(CudaError.INVALID_VALUE)


def _called(operation: int) -> str:
    """The name of a request in messages."""
    return f"the question {Operation(operation).name}"
