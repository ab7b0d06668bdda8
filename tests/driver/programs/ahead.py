"""Launches that are not waited for: each case is a program of its own, whose name is the argument."""

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from ctypes import byref, c_size_t, c_uint64, c_void_p

import driver_calls as cuda

PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry bump(.param .u64 at, .param .u64 count)
{
    .reg .b64 %at, %count, %x; .reg .pred %more;
    ld.param.u64 %at, [at]; ld.param.u64 %count, [count];
again:
    ld.volatile.global.u64 %x, [%at]; add.u64 %x, %x, 1; st.volatile.global.u64 [%at], %x;
    sub.u64 %count, %count, 1; setp.ne.u64 %more, %count, 0; @%more bra again;
    ret;
}
.visible .entry other(.param .u64 at, .param .u64 count)
{
    .reg .b64 %at;
    ld.param.u64 %at, [at]; st.global.u64 [%at], 7;
    ret;
}
"""


def launch(kernel: c_void_p, at: c_uint64, count: int = 1) -> int:
    number = c_uint64(count)
    pointers = (c_void_p * 2)(ctypes.addressof(at), ctypes.addressof(number))
    return cuda.answer("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, None, pointers, None)


def number_at(address: int) -> int:
    return c_uint64.from_address(address).value


def counter(kernel: c_void_p) -> c_uint64:
    """Eight bytes of zero that `kernel` has counted up to 1: launches like that one go ahead."""
    made = c_uint64()
    cuda.call("cuMemAllocManaged", byref(made), c_size_t(8), 1)
    cuda.call("cuMemsetD8_v2", made, 0, c_size_t(8))
    launch(kernel, made)
    return made


def many(bump: c_void_p, _: c_void_p) -> None:
    """More than may be under way at a time; all are done when the program has waited, or has asked for bytes."""
    at = counter(bump)
    print({launch(bump, at) for _ in range(200)}, cuda.answer("cuCtxSynchronize"), number_at(at.value or 0))
    print({launch(bump, at, 1000) for _ in range(20)}, cuda.read(at, 2))


def polled(bump: c_void_p, _: c_void_p) -> None:
    """A program that looks at memory and asks nothing sees what a kernel has written, sooner or later."""
    at = counter(bump)
    launch(bump, at)
    while number_at(at.value or 0) != 2:
        pass
    print("seen")


def failing(bump: c_void_p, other: c_void_p) -> None:
    """Later calls answer the error; what was sent behind the kernel that failed does not run."""
    at, wild = counter(bump), c_uint64(64)
    launch(other, at)
    print(launch(bump, wild), launch(other, at), launch(bump, at))
    print(cuda.answer("cuCtxSynchronize"), number_at(at.value or 0), launch(bump, at))


def ending(bump: c_void_p, _: c_void_p) -> None:
    """The program ends, with a status of its own, while a launch that fails is under way."""
    at = counter(bump)
    launch(bump, at, 200_000)
    launch(bump, c_uint64(64))
    sys.exit(5)


def forking(bump: c_void_p, _: c_void_p) -> None:
    """A child has no driver; its parent's launches go on."""
    at = counter(bump)
    launch(bump, at, 200_000)
    if (child := os.fork()) == 0:
        print(launch(bump, at), cuda.answer("cuCtxSynchronize"), flush=True)
        sys.exit(0)
    launch(bump, at)
    os.waitpid(child, 0)
    print(cuda.answer("cuCtxSynchronize"), number_at(at.value or 0))


def threads(bump: c_void_p, _: c_void_p) -> None:
    """Eight threads, each with a number of its own, which is right whenever its thread has waited."""
    context = c_void_p()
    cuda.call("cuCtxGetCurrent", byref(context))
    counters = [counter(bump) for _ in range(8)]
    right: list[bool] = []

    def work(at: c_uint64) -> None:
        cuda.call("cuCtxSetCurrent", context)
        for turn in range(1, 21):
            for _ in range(10):
                launch(bump, at)
            right.append(cuda.read(at, 2) == [1 + 10 * turn, 0])

    workers = [threading.Thread(target=work, args=(at,)) for at in counters]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    print(len(right), all(right))


def dying(bump: c_void_p, _: c_void_p) -> None:
    """The server ends while a launch is under way; whoever waits is told."""
    at = counter(bump)
    print(launch(bump, at, 1 << 40), flush=True)
    sys.stdin.readline()
    print(cuda.answer("cuCtxSynchronize"), launch(bump, at))


def ordered(bump: c_void_p, other: c_void_p) -> None:
    """A function of the host, a copy, a fill and an event come behind the launches before them."""
    at, copy = counter(bump), cuda.allocate(8)
    seen: list[int] = []

    @ctypes.CFUNCTYPE(None, c_void_p)
    def look(_: int) -> None:
        seen.append(number_at(at.value or 0))

    for _ in range(5):
        launch(bump, at)
    cuda.call("cuLaunchHostFunc", None, look, None)
    launch(bump, at)
    cuda.call("cuMemcpyDtoDAsync_v2", copy, at, c_size_t(8), None)
    launch(bump, at)
    cuda.call("cuMemsetD32Async", at, 100, c_size_t(1), None)
    launch(bump, at)
    print(seen, cuda.read(copy, 2), cuda.read(at, 2))


def together(bump: c_void_p, _: c_void_p) -> None:
    """Whoever says that the host looks at memory itself finds there what launches have done."""
    cuda.call("ptxloom_wait_for_launches")
    at = counter(bump)
    print([(launch(bump, at, 1000), number_at(at.value or 0)) for _ in range(3)])


CASES: dict[str, Callable[[c_void_p, c_void_p], None]] = {
    one.__name__: one for one in (many, polled, failing, ending, forking, threads, dying, ordered, together)
}

if __name__ == "__main__":
    cuda.begin()
    module = cuda.module(PTX)
    CASES[sys.argv[1]](cuda.function(module, b"bump"), cuda.function(module, b"other"))
