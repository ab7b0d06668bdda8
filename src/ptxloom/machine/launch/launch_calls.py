"""The calls by which kernels launch kernels: the request is read from a lane's frame, the result is left there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.launch.device_launches import LaunchRequest
from ptxloom.machine.program.signatures import (
    FRAME_HEAD,
    GET_BUFFER,
    GET_BUFFER_FOR,
    LAST_ERROR,
    LAUNCH,
    LAUNCH_BUFFER,
    PEEK_ERROR,
)

if TYPE_CHECKING:
    from ptxloom.machine.launch.device_launches import DeviceLaunches, Thread
    from ptxloom.machine.launch.request import Request


def _buffer(request: Request, lane: int) -> None:
    """`cudaGetParameterBuffer(alignment, size)`: buffers are aligned as any kernel's parameters are."""
    size = request.number(lane, FRAME_HEAD + 16)
    request.result(lane, _launches(request).buffer(_thread(request, lane), size), 8)


def _buffer_for(request: Request, lane: int) -> None:
    """`cudaGetParameterBufferV2(kernel, grid, block, shared memory)`."""
    wanted = _wanted(request, lane, FRAME_HEAD + 16)
    request.result(lane, _launches(request).buffer_for(_thread(request, lane), wanted), 8)


def _launch(request: Request, lane: int) -> None:
    """`cudaLaunchDevice(kernel, buffer, grid, block, shared memory, stream)`."""
    wanted = _wanted(request, lane, FRAME_HEAD + 24)
    buffer, stream = (request.number(lane, FRAME_HEAD + at) for at in (16, 56))
    request.result(lane, _launches(request).launch(_thread(request, lane), wanted, buffer, stream), 4)


def _launch_buffer(request: Request, lane: int) -> None:
    """`cudaLaunchDeviceV2(buffer, stream)`."""
    buffer, stream = (request.number(lane, FRAME_HEAD + at) for at in (8, 16))
    request.result(lane, _launches(request).launch_buffer(_thread(request, lane), buffer, stream), 4)


def _last_error(request: Request, lane: int) -> None:
    """`cudaGetLastError()`."""
    request.result(lane, _launches(request).last_error(_thread(request, lane)), 4)


def _peek_error(request: Request, lane: int) -> None:
    """`cudaPeekAtLastError()`."""
    request.result(lane, _launches(request).peek_error(_thread(request, lane)), 4)


def _wanted(request: Request, lane: int, extents: int) -> LaunchRequest:
    """Read the request: the kernel, which comes first, and its extents and shared memory, which are adjacent."""
    grid, block = ([request.number(lane, extents + at + axis, 4) for axis in (0, 4, 8)] for at in (0, 12))
    return LaunchRequest(request.number(lane, FRAME_HEAD + 8), grid, block, request.number(lane, extents + 24, 4))


def _launches(request: Request) -> DeviceLaunches:
    launches = request.launch.launches
    assert launches is not None  # every kernel that makes these calls has them (`running.launched`)
    return launches


def _thread(request: Request, lane: int) -> Thread:
    return request.block, int(request.warp.index), lane


LAUNCH_CALLS: Final = {
    GET_BUFFER: _buffer,
    GET_BUFFER_FOR: _buffer_for,
    LAUNCH: _launch,
    LAUNCH_BUFFER: _launch_buffer,
    LAST_ERROR: _last_error,
    PEEK_ERROR: _peek_error,
}
"""What is done for a lane, by the number of the service."""
