"""The process in which the kernels of a program run: `python -m ptxloom.cuda_driver.server SOCKET` or `ptxloom exec`.

Every process of the program has a connection, which a thread here serves: a device of its own, whose memory both see at
the same addresses. When a connection ends, its device goes with it.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from ptxloom.cuda_driver.protocol import ANSWER, MOST_BYTES, QUESTION, Operation
from ptxloom.cuda_driver.report import STOPPED, Report, say
from ptxloom.cuda_driver.session import Ending, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import BinaryIO


class Server:
    """Devices for all processes that connect.

    Args:
        arch: Whose tensor cores compute.
        checks: The tools that watch.
        memory_bytes: What each device may give out.
        report: What is told of the kernels.

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
        self._folder = tempfile.TemporaryDirectory(prefix="ptxloom-")
        self.path = str(Path(self._folder.name) / "driver")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(self.path)
        self._socket.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more processes."""
        self._socket.close()
        self._folder.cleanup()

    def _accept(self) -> None:
        for number in count(1):
            try:
                connection, _ = self._socket.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self._serve, args=(connection, number), daemon=True).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        """Answer one process until it ends."""
        with connection, connection.makefile("rb") as asked:  # a short question comes at one reading
            session: Session | None = None
            while (question := _question(asked)) is not None:
                operation, data = question
                try:
                    if operation == Operation.HELLO:
                        if session is not None:  # its addresses are taken at the other end
                            session.close()
                        session = self._sessions[number] = self._make(number)
                        files = [region.file for region in session.regions]
                        socket.send_fds(connection, [session.hello()], files)
                        continue
                    if session is None:
                        break
                    error, answer = session.answer(operation, data)
                except Ending:
                    connection.sendall(ANSWER.pack(0, STOPPED, 0))
                    break
                connection.sendall(ANSWER.pack(error, 0, len(answer)) + answer)
            if session is not None:
                del self._sessions[number]
                session.close()


def _question(asked: BinaryIO) -> tuple[int, bytes] | None:
    """What is asked next; None if nobody asks any more."""
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


def main(arguments: Sequence[str]) -> None:
    """Serve until standard input ends; the first line of the output is the socket's path.

    Args:
        arguments: The architecture, the tools (with commas between), bytes, what becomes of a hazard.
    """
    arch, checks, memory_bytes, on_hazard = arguments
    report = Report(on_hazard)
    server = Server(arch, [one for one in checks.split(",") if one], int(memory_bytes), report)
    sys.stdout.write(server.path + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    server.close()
    if summary := report.summary():
        say(summary)


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)
