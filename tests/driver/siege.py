"""Hostile images and questions, in processes of their own: a crash, a hang, a bug or a device left behind is a failure.

`python -m driver.siege --seconds 3600` runs until the time is up and prints every case that failed with its number;
`python -m driver.siege --case 1234` runs one. Each process has a server, a connection of its own through the library in
C, and others that speak the protocol themselves. Both work in a folder of their own, which goes with them.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import mmap
import os
import random
import resource
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from ctypes import byref, c_int, c_size_t, c_uint, c_void_p
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from driver.image_cases import FILL, image
from driver.question_cases import Known, asked, first, torn
from ptxloom.cuda_driver import build
from ptxloom.cuda_driver.protocol import ANSWER, DEVICE, NUMBER, QUESTION, Operation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_A_PROCESS: Final = 400  # cases before a process is replaced
_HANGS: Final = 300.0  # seconds without a word
_WAITS: Final = 60.0  # seconds for a server to see that a process has ended
_PROCESS_BYTES: Final = 4 << 30
_DEVICE_BYTES: Final = 1 << 26
_ROOM: Final = 1 << 20  # bytes before the page that cannot be read
_UNAVAILABLE: Final = 46
_UNKNOWN: Final = 999


@dataclass(slots=True)
class Siege:
    """What a siege has come to: the next case, those that failed, and how often each outcome was met."""

    number: int
    failures: list[str] = field(default_factory=list[str])
    outcomes: dict[str, int] = field(default_factory=dict[str, int])


class Besieged:
    """A server, this process as a program of its, and whoever else connects."""

    def __init__(self) -> None:
        self._words = Path("server.txt")
        command = [sys.executable, "-m", "ptxloom.cuda_driver.server", "sm_90", "memcheck,initcheck:global"]
        pipe = subprocess.PIPE
        with self._words.open("w") as words:
            self._server = subprocess.Popen(
                [*command, str(_DEVICE_BYTES), "ignore"], stdin=pipe, stdout=pipe, stderr=words, text=True
            )
        assert self._server.stdout is not None
        self.path = self._server.stdout.readline().strip()
        os.environ["PTXLOOM_DRIVER"] = self.path
        self.cuda = ctypes.CDLL(str(build.folder() / "libcuda.so.1"))
        assert self.cuda.cuInit(0) == 0
        assert self.cuda.cuCtxCreate_v2(byref(c_void_p()), 0, 0) == 0
        libc = ctypes.CDLL(None)
        libc.mmap.restype = c_void_p
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        start = libc.mmap(
            None, c_size_t(_ROOM + mmap.PAGESIZE), mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, c_size_t(0)
        )
        self._end = start + _ROOM
        libc.mprotect(c_void_p(self._end), c_size_t(mmap.PAGESIZE), 0)
        self._devices = self._count()

    def run(self, seed: int) -> str:
        """Run a case.

        Returns:
            What it was, and what it came to.

        Raises:
            AssertionError: It got through.
        """
        draw = random.Random(seed)
        try:
            outcome = self._image(draw) if seed % 2 else self._questions(draw)
            if seed % 20 == 0:
                self._is_well()
        finally:
            told = self._words.read_text(errors="replace")
            assert not told, told
        return outcome

    def _image(self, draw: random.Random) -> str:
        """Load an image that ends where the memory ends, or not much before; ask for all that is in it."""
        data = image(draw)
        start = self._end - len(data) - draw.choice((0, 0, 0, 1, 8, 4096))
        wrapper = b"\xb1\x43\x62\x46\1\0\0\0" + NUMBER.pack(start) + bytes(8)
        ctypes.memmove(start, data, len(data))
        if draw.random() < 0.2:
            ctypes.memmove(start - 32, wrapper, len(wrapper))
            start -= 32
        made = c_void_p()
        if draw.random() < 0.2:
            return f"link {self._link(draw, start, len(data))}"
        error = self.cuda.cuLibraryLoadData(byref(made), c_void_p(start), None, None, 0, None, None, 0)
        if not error:
            self._look_at(made)
        return f"image {_right(error)}"

    def _look_at(self, library: c_void_p) -> None:
        kernels, count = (c_void_p * 8)(), c_uint()
        _right(self.cuda.cuLibraryEnumerateKernels(kernels, 8, library))
        _right(self.cuda.cuLibraryGetKernelCount(byref(count), library))
        for name in (b"fill", b"k", b"base", b"bytes", b"table", b"picture"):
            _right(self.cuda.cuLibraryGetKernel(byref(c_void_p()), library, name))
            _right(self.cuda.cuLibraryGetGlobal(byref(c_void_p()), byref(c_size_t()), library, name))
        assert self.cuda.cuLibraryUnload(library) == 0

    def _link(self, draw: random.Random, start: int, size: int) -> int:
        link, made, bytes_ = c_void_p(), c_void_p(), c_size_t()
        assert self.cuda.cuLinkCreate_v2(0, None, None, byref(link)) == 0
        for length in (size, draw.choice((size, size + (1 << 20), 1 << 40))):
            kind = c_int(draw.choice((1, 3, 4)))
            _right(self.cuda.cuLinkAddData_v2(link, kind, c_void_p(start), c_size_t(length), None, 0, None, None))
        error = _right(self.cuda.cuLinkComplete(link, byref(made), byref(bytes_)))
        assert self.cuda.cuLinkDestroy(link) == 0
        return error

    def _questions(self, draw: random.Random) -> str:
        """Connect, ask, and end in one way or another; the device has to go."""
        several = [(Known(), _connected(self.path)) for _ in range(draw.choice((1, 1, 2)))]
        for known, connection in several:
            if draw.random() < 0.98:
                _greet(known, connection)
                for operation, data in first() if draw.random() < 0.8 else ():
                    error, answer = _answer(connection, operation, data, 1)
                    assert not error, f"{error} of {operation} {data[:200]!r}"
                    known.learn(operation, data, answer)
        granted = _asked_in_turns(several, draw)
        for _, connection in several:
            with suppress(OSError):
                if draw.random() < 0.4:
                    connection.sendall(torn(draw))
            connection.close()
        deadline = time.monotonic() + _WAITS
        while self._count() != self._devices:
            assert time.monotonic() < deadline, "a device was left behind"
            time.sleep(0.001)
        return f"questions {'granted' if granted else 'refused'}"

    def _count(self) -> int:
        """How many stretches of addresses the server has mapped for devices."""
        return Path(f"/proc/{self._server.pid}/maps").read_text(encoding="ascii").count("/memfd:ptxloom")

    def _is_well(self) -> None:
        """A program that means no harm still gets what it asks for."""
        module, function, array, into = c_void_p(), c_void_p(), ctypes.c_uint64(), (ctypes.c_uint32 * 2)()
        count = ctypes.c_uint32(2)
        assert self.cuda.cuModuleLoadData(byref(module), FILL) == 0
        assert self.cuda.cuModuleGetFunction(byref(function), module, b"fill") == 0
        assert self.cuda.cuMemAlloc_v2(byref(array), c_size_t(8)) == 0
        parameters = (c_void_p * 2)(ctypes.addressof(array), ctypes.addressof(count))
        assert self.cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, parameters, None) == 0
        assert self.cuda.cuMemcpyDtoH_v2(into, array, c_size_t(8)) == 0
        assert list(into) == [5, 6]
        assert self.cuda.cuMemFree_v2(array) == 0
        assert self.cuda.cuModuleUnload(module) == 0


def _right(error: int) -> int:
    """What the library may answer."""
    assert error not in {_UNAVAILABLE, _UNKNOWN}, f"the library answers {error}"
    return error


def _connected(path: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    made.connect(path)
    return made


def _greet(known: Known, connection: socket.socket) -> None:
    """Ask for a device."""
    connection.sendall(QUESTION.pack(Operation.HELLO, 8) + NUMBER.pack(os.getpid()))
    told, files, _, _ = socket.recv_fds(connection, DEVICE.size, 4, socket.MSG_WAITALL)
    for file in files:
        os.close(file)
    numbers: tuple[int, ...] = DEVICE.unpack(told)
    known.start, known.session = numbers[0], numbers[4]


def _asked_in_turns(several: Sequence[tuple[Known, socket.socket]], draw: random.Random) -> int:
    """Ask by one connection or another; how many questions were granted."""
    granted = 0
    for _ in range(draw.randrange(1, 40)):
        known, connection = draw.choice(several)
        if draw.random() < 0.01:
            _greet(known, connection)
        if not known.start:
            break
        granted += _asked(known, connection, draw)
        for other, _ in several:
            if other is not known:
                other.others = [(known.session, one) for one in [*known.addresses[-3:], known.space]]
    return granted


def _asked(known: Known, connection: socket.socket, draw: random.Random) -> bool:
    """Ask a question, at times twice at once; whether it was granted."""
    operation, data = asked(known, draw)
    error, answer = _answer(connection, operation, data, draw.choice((1,) * 15 + (2,)))
    if not error:
        known.learn(operation, data, answer)
    return not error


def _answer(connection: socket.socket, operation: int, data: bytes, times: int) -> tuple[int, bytes]:
    """What a question comes to that is asked a number of times, the last time."""
    connection.sendall((QUESTION.pack(operation, len(data)) + data) * times)
    error, answer = _UNKNOWN, b""
    for _ in range(times):
        error, ends, size = ANSWER.unpack(_received(connection, ANSWER.size))
        answer = _received(connection, size)
        assert not ends, "the program shall end"
        assert error != _UNKNOWN or operation == Operation.VIRTUAL, f"unknown: {operation} {data[:200].hex()}"
    return error, answer


def _received(connection: socket.socket, size: int) -> bytes:
    data = connection.recv(size, socket.MSG_WAITALL) if size else b""
    assert len(data) == size, "the connection was ended"
    return data


def siege(seconds: float, start: int = 0, limit: int = sys.maxsize, *, keep: bool = False) -> Siege:
    """Run cases from a number on, in processes of their own, until the time is up or as many as `limit` have been run.

    Args:
        seconds: How long.
        start: The first case.
        limit: How many at most.
        keep: Whether their machine code may stay in the user's cache, where that of the run-time lies already.
    """
    ends = time.monotonic() + seconds
    found = Siege(start)
    with tempfile.TemporaryDirectory(prefix="ptxloom-siege-") as cache:
        environment = {} if keep else {"PTXLOOM_CACHE": cache}
        while time.monotonic() < ends and found.number < start + limit:
            with tempfile.TemporaryDirectory(prefix="ptxloom-siege-") as folder:
                _besiege(found, min(found.number + _A_PROCESS, start + limit), ends, folder, environment)
    return found


def _besiege(found: Siege, last: int, ends: float, folder: str, more: Mapping[str, str]) -> None:
    """One process, until it is through, dies or the time is up."""
    tests = Path(__file__).parents[1]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LD_", "PTXLOOM_DRIVER"))}
    environment |= {
        "PYTHONPATH": os.pathsep.join([str(tests), *sys.path]),
        "HOME": folder,
        "TMPDIR": folder,
        "PYTHONFAULTHANDLER": "1",
    }
    environment |= more
    command = [sys.executable, "-m", "driver.siege", "--serve", str(found.number), str(last)]
    pipe = subprocess.PIPE
    last_words: list[str] = []
    with subprocess.Popen(
        command, env=environment, cwd=folder, stdout=pipe, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            word, _, rest = line.strip().partition(" ")
            if word not in {"DONE", "FAILED"}:
                last_words = [*last_words[-11:], line.strip()]
                continue
            if word == "DONE":
                found.outcomes[rest] = found.outcomes.get(rest, 0) + 1
            else:
                found.failures.append(f"case {found.number}: {rest}")
            found.number += 1
            last_words = []
            if time.monotonic() > ends:
                child.kill()
                return
    if child.returncode and found.number < last:
        found.failures.append(
            f"case {found.number}: the process ended with {child.returncode}: {' | '.join(last_words)}"
        )
        found.number += 1


def _serve(first: int, last: int) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (_PROCESS_BYTES, _PROCESS_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    words = sys.stderr
    besieged = Besieged()
    for seed in range(first, last):
        faulthandler.dump_traceback_later(_HANGS, exit=True, file=words)
        try:
            said = f"DONE {besieged.run(seed)}"
        except BaseException:  # noqa: BLE001 - whatever it is, it is reported
            said = "FAILED " + " | ".join(traceback.format_exc().strip().splitlines()[-12:])
        sys.stdout.write(said + "\n")
        sys.stdout.flush()
        if said.startswith("FAILED"):
            break  # the next case gets a process of its own
    os._exit(0)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--case", type=int)
    parser.add_argument("--keep", action="store_true", help="keep machine code in the user's cache")
    parser.add_argument("--serve", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        _serve(*options.serve)
    found = siege(
        600.0 if options.case is not None else options.seconds,
        options.start if options.case is None else options.case,
        sys.maxsize if options.case is None else 1,
        keep=options.keep,
    )
    for failure in found.failures:
        sys.stdout.write(failure + "\n")
    sys.stdout.write(f"{found.number - options.start} cases, {len(found.failures)} failed; {found.outcomes}\n")
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())
