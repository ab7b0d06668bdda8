"""Python's services for a running kernel: CUDA's device run-time calls, such as `vprintf`, `malloc`, `__assertfail`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.launch import tensor_plans
from ptxloom.machine.launch.launch_calls import LAUNCH_CALLS
from ptxloom.machine.memory.heap import Maker
from ptxloom.machine.native import interrupts
from ptxloom.machine.program.signatures import FRAME_HEAD
from ptxloom.machine.results.outcome import LaunchError
from ptxloom.machine.runtime.state import GLOBAL
from ptxloom.machine.runtime.tensor_memory import products

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.launch.request import Request


def serve(number: int, request: Request) -> None:
    """Carry out a kernel's call.

    Raises:
        LaunchError: An assertion failed.
        TimeIsUp: The time limit has come.
    """
    match number:
        case 0:
            _each(request, _print)
        case 1:
            _each(request, _allocate)
        case 2:
            _each(request, _free)
        case products.SERVICE:
            tensor_plans.make_plan(request)
        case _ if number in LAUNCH_CALLS:
            _each(request, LAUNCH_CALLS[number])
        case _:
            _fail(request)


def _each(request: Request, do: Callable[[Request, int], None]) -> None:
    """Process a call lane by lane, checking the time limit: one lane can take long, if it prints a megabyte."""
    for lane in request.lanes:
        interrupts.check()
        do(request, lane)


def _print(request: Request, lane: int) -> None:
    """`vprintf(format, arguments)`: returns the number of arguments parsed."""
    template = request.text_at(lane, request.number(lane, FRAME_HEAD + 8))
    values = request.number(lane, FRAME_HEAD + 16)
    at = 0

    def take(size: int) -> bytes:
        nonlocal at
        at = -(-at // size) * size
        if values:
            request.use(lane, values + at, size)
        found = request.bytes_at(lane, values + at, size).ljust(size, b"\0") if values else bytes(size)
        at += size
        return found

    def text_at(address: int, most: int) -> bytes:
        return request.text_at(lane, address, most)

    request.result(lane, request.launch.printed.call(template, take, text_at), 4)


def _allocate(request: Request, lane: int) -> None:
    """`malloc(size)`: a null pointer if the heap is full."""
    maker = Maker(request.op, request.block, int(request.warp.index), lane)
    request.result(lane, request.launch.allocate(request.number(lane, FRAME_HEAD + 8), maker), 8)


def _fail(request: Request) -> None:
    """`__assertfail(message, file, line, function, size of a character)`."""
    lane = request.lanes[0]
    message, file, function = (
        request.text_at(lane, request.number(lane, FRAME_HEAD + at)).decode(errors="replace") for at in (0, 8, 24)
    )
    line = request.number(lane, FRAME_HEAD + 16, 4)
    text = f"assertion `{message}` failed at {file}:{line}, in {function}"
    raise LaunchError("the kernel was ended by an error", (request.hazard("assertion", text=text),))


def _free(request: Request, lane: int) -> None:
    """`free(pointer)`: the pointer must come from `malloc` and be freed once; a null pointer is ignored."""
    launch = request.launch
    address = request.number(lane, FRAME_HEAD)
    if address == 0 or launch.release(address):
        return
    found = launch.reporter.atlas.locate(request.op, GLOBAL, address)
    kind = "double-free" if found.is_freed else "invalid-free"
    launch.noted.append(request.hazard(kind, lane, place=found.text))
