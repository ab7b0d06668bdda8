"""The process in which the kernels of a program run: `python -m ptxloom.cuda_driver.server SOCKET` or `ptxloom exec`.

Every process of the program has a connection, which a thread here serves: a device of its own, whose memory both see at
the same addresses. When a connection ends, its device is removed.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import threading
import time
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.cuda_driver.answers import Ending
from ptxloom.cuda_driver.build import NoDriver, temporary_folder
from ptxloom.cuda_driver.protocol import ANSWER, MOST_BYTES, QUESTION, Operation
from ptxloom.cuda_driver.report import STOPPED, Report, say
from ptxloom.cuda_driver.session import Session
from ptxloom.diagnostics import BEFORE_LAWS
from ptxloom.machine.port.region import OutOfHostMemory
from ptxloom.names.demangling import demangled

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import BinaryIO

    from _typeshed import WriteableBuffer

    from ptxloom.machine import LaunchResult

_SOCKET: Final = "/driver"
_MOST_NAME_BYTES: Final = 107  # of a `sockaddr_un`, except for its end
_LOOKS: Final = 20
_PAUSE: Final = 0.05  # seconds
_LESS: Final = "ask for less (`--memory-limit`, `memory_bytes` of `pl.driver`), or raise `ulimit -v` and `ulimit -f`"


class Server:
    """Devices for all processes that connect.

    Args:
        arch: The architecture whose tensor cores compute.
        checks: The tools that watch.
        memory_bytes: The bytes that may be allocated on each device.
        report: Receives the reports on kernels.

    Attributes:
        path: The socket's path.
        report: The same.
    """

    def __init__(self, arch: str, checks: Sequence[str], memory_bytes: int, report: Report) -> None:
        self.report = report
        self._sessions: dict[int, Session] = {}
        self._make: Callable[[int], Session] = lambda number: Session(
            number, arch, checks, memory_bytes, report=report, others=self._sessions.get
        )
        self._folder = _folder()
        self.path = self._folder + _SOCKET
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(self.path)
        self._socket.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no more processes."""
        self._socket.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _accept(self) -> None:
        for number in count(1):
            connection = self._next()
            if connection is None:
                return
            threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    def _next(self) -> socket.socket | None:
        """The next process that connects; None after `close`."""
        while self._socket.fileno() >= 0:
            try:
                return self._socket.accept()[0]
            except OSError:  # closed, or too many open files: wait until one is closed
                time.sleep(_PAUSE)
        return None

    def _serve(self, connection: socket.socket, number: int) -> None:
        """Serve one process until it ends in any way, then remove its device."""
        with connection, BufferedReader(_Asked(connection)) as asked:  # a short request takes one read
            try:
                while (question := _question(asked)) is not None:
                    if not self._goes_on(connection, number, *question):
                        break
            finally:
                self._drop(number)

    def _goes_on(self, connection: socket.socket, number: int, operation: int, data: bytes) -> bool:
        """Handle one request; returns False if it is the last one."""
        if operation == Operation.HELLO:
            return self._welcome(connection, number)
        session = self._sessions.get(number)
        if session is None:
            return False
        try:
            error, answer = session.answer(operation, data)
        except Ending:
            _answered(connection, ANSWER.pack(0, STOPPED, 0))
            return False
        return _answered(connection, ANSWER.pack(error, 0, len(answer)) + answer)

    def _welcome(self, connection: socket.socket, number: int) -> bool:
        """Make a device for a process; another one if the process cannot map the addresses of the first."""
        self._drop(number)
        try:
            session = self._sessions[number] = self._make(number)
        except OutOfHostMemory as refused:
            say(f"ptxloom: {refused}: {_LESS}")
            return False
        try:
            socket.send_fds(connection, [session.hello()], [region.file for region in session.regions])
        except OSError:  # the process has ended
            return False
        return True

    def _drop(self, number: int) -> None:
        """Remove the device of a process."""
        session = self._sessions.pop(number, None)
        if session is not None:
            session.close()


def _folder() -> str:
    """A folder for the socket: the one for temporary files, unless its path is too long for a socket.

    Raises:
        NoDriver: There is no folder for temporary files.
    """
    folder = temporary_folder("ptxloom-")
    if len(os.fsencode(folder + _SOCKET)) <= _MOST_NAME_BYTES:
        return folder
    Path(folder).rmdir()
    return temporary_folder("ptxloom-", "/tmp")  # noqa: S108 - a new name, and a private folder


class _Asked(RawIOBase):
    """The requests of a process: polled a few times before this thread sleeps, as waking takes longer than a launch."""

    def __init__(self, connection: socket.socket) -> None:
        self._receive = connection.recv_into

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill a buffer with the available bytes; 0 if the other end has closed."""
        for _ in range(_LOOKS):
            try:
                return self._receive(buffer, 0, socket.MSG_DONTWAIT)
            except BlockingIOError:
                pass
        return self._receive(buffer)


def _answered(connection: socket.socket, answer: bytes) -> bool:
    """Send a response; returns False if the requesting process has ended."""
    try:
        connection.sendall(answer)
    except OSError:
        return False
    return True


def _question(asked: BinaryIO) -> tuple[int, bytes] | None:
    """The next request; None if the other end has closed."""
    head = _received(asked, QUESTION.size)
    if head is None:
        return None
    operation, size = QUESTION.unpack(head)
    data = _received(asked, size) if size <= MOST_BYTES else None
    return None if data is None else (operation, data)


def _received(asked: BinaryIO, size: int) -> bytes | None:
    parts: list[bytes] = []
    while size:
        try:
            part = asked.read(min(size, 1 << 20))
        except OSError:
            return None
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


@contextmanager
def watched() -> Generator[None]:
    """With `PTXLOOM_WHY`, report for every kernel why its result is wrong; equal reports only once."""
    if not os.environ.get("PTXLOOM_WHY"):
        yield
        return
    from ptxloom.diagnosis.watched import Watcher  # noqa: PLC0415 - only where it is asked for
    from ptxloom.machine.port.launch import watching  # noqa: PLC0415 - likewise

    watcher = Watcher()

    def tell(kernel: str, result: LaunchResult) -> None:
        if (seen := watcher.tell(kernel, result)) is not None:
            say(f"ptxloom why: kernel {demangled(kernel)}:\n{seen}")

    with watching(BEFORE_LAWS, tell, provenance=True):
        yield


def main(arguments: Sequence[str]) -> None:
    """Serve until standard input ends; the first line of the output is the socket's path.

    Args:
        arguments: The architecture, the tools (comma-separated), the memory in bytes, and the treatment of hazards.
    """
    arch, checks, memory_bytes, on_hazard = arguments
    report = Report(on_hazard)
    try:
        server = Server(arch, [one for one in checks.split(",") if one], int(memory_bytes), report)
    except NoDriver as error:
        say(f"ptxloom: {error}")
        return
    sys.stdout.write(server.path + "\n")
    sys.stdout.flush()
    with watched():
        sys.stdin.read()
    server.close()
    if summary := report.summary():
        say(summary)


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)
