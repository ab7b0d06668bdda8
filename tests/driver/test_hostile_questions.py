"""Whatever a process asks of the server is answered; its device goes with it, and others never notice."""

import os
import socket
import struct
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from driver.running import Running, needs_compiler
from ptxloom.cuda_driver import regions, textures
from ptxloom.cuda_driver.errors import CudaError
from ptxloom.cuda_driver.protocol import ANSWER, DEVICE, IMAGE, MOST_BYTES, NUMBER, PAIR, QUESTION, VIRTUAL, Operation
from ptxloom.cuda_driver.regions import SharedRegion
from ptxloom.cuda_driver.report import Report
from ptxloom.cuda_driver.session import Session
from ptxloom.cuda_driver.virtual import UNIT, Step
from ptxloom.machine.port.region import OutOfHostMemory
from unit.files.fatbin_writer import entry, fatbin

pytestmark = needs_compiler


@pytest.fixture
def running() -> Iterator[Running]:
    made = Running()
    before = {*threading.enumerate()}
    yield made
    ended(before)
    made.server.close()


class Asking:
    """One end of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.files: list[int] = []

    def hello(self) -> bytes:
        """What the device is; its files are kept."""
        self.connection.sendall(QUESTION.pack(Operation.HELLO, 8) + NUMBER.pack(os.getpid()))
        told, files, _, _ = socket.recv_fds(self.connection, DEVICE.size, 4, socket.MSG_WAITALL)
        self.files += files
        return told

    def ask(self, operation: int, data: bytes = b"") -> tuple[int, bytes]:
        """What a question comes to."""
        self.connection.sendall(QUESTION.pack(operation, len(data)) + data)
        error, _, size = ANSWER.unpack(self._received(ANSWER.size))
        return error, self._received(size)

    def _received(self, size: int) -> bytes:
        data = self.connection.recv(size, socket.MSG_WAITALL) if size else b""
        if len(data) < size:
            raise EOFError
        return data


@contextmanager
def asking(running: Running) -> Generator[Asking]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(running.server.path)
        made = Asking(connection)
        yield made
        for file in made.files:
            os.close(file)


def places() -> int:
    """How many stretches of addresses this process has mapped for devices."""
    return Path("/proc/self/maps").read_text(encoding="ascii").count("/memfd:ptxloom")


def ended(before: set[threading.Thread]) -> None:
    """Wait until whoever served has finished; an exception in one of the threads fails the test that waits."""
    for thread in {*threading.enumerate()} - before:
        thread.join(300)


@pytest.mark.parametrize("operation", [*Operation, 0, 18, 1 << 40])
def test_a_question_of_another_length_is_answered(running: Running, operation: int) -> None:
    before = {*threading.enumerate()}
    taken = places()
    for length in (0, 1, 7, 8, 9, 15, 16, 17, 24, 31, 33, 80, 84, 85, 119, 121):
        for byte in (b"\0", b"\xff"):
            with asking(running) as one:
                one.hello()
                if operation != Operation.HELLO:
                    error, _ = one.ask(operation, byte * length)
                    assert error != CudaError.UNKNOWN
                assert one.ask(Operation.ALLOCATE, PAIR.pack(8, 0))[0] == CudaError.SUCCESS
    ended(before)
    assert places() == taken


def test_a_question_that_is_cut_off_or_too_long_takes_no_device_with_it(running: Running) -> None:
    before = {*threading.enumerate()}
    taken = places()
    for data in (
        b"",
        b"\x02",
        QUESTION.pack(2, 16) + b"\0",
        QUESTION.pack(2, MOST_BYTES + 1),
        QUESTION.pack(2, 2**64 - 1),
    ):
        for greets in (False, True):
            with asking(running) as one:
                if greets:
                    one.hello()
                one.connection.sendall(data)
    ended(before)
    assert places() == taken
    assert running.run("kernels.py").returncode == 0


def test_a_bug_is_called_one_and_the_process_goes_on(
    running: Running, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> bytes:
        raise ZeroDivisionError

    monkeypatch.setattr(textures.Images, "drop", broken)
    with asking(running) as one:
        one.hello()
        assert one.ask(Operation.DROP_IMAGE, NUMBER.pack(1)) == (CudaError.UNKNOWN, b"")
        assert one.ask(Operation.ALLOCATE, PAIR.pack(8, 0))[0] == CudaError.SUCCESS
    assert "ptxloom: this is a bug in ptxloom, not in the program (the question DROP_IMAGE):" in capfd.readouterr().err


def test_nobody_shortens_the_memory_of_a_device() -> None:
    running = Running(checks=("memcheck", "initcheck:global"))
    before = {*threading.enumerate()}
    with asking(running) as one:
        told = DEVICE.unpack(one.hello())
        assert len(one.files) == 2
        for file in one.files:
            for length in (0, told[1] - 1, told[1] + 1):
                with pytest.raises(PermissionError):
                    os.ftruncate(file, length)
        assert one.ask(Operation.ALLOCATE, PAIR.pack(1 << 20, 0))[0] == CudaError.SUCCESS
    ended(before)
    running.server.close()


def test_there_are_more_places_than_devices(running: Running) -> None:
    held = [SharedRegion(1 << 28, 1 << 31) for _ in range(400)]
    with asking(running) as one:
        one.hello()
        assert one.ask(Operation.ALLOCATE, PAIR.pack(8, 0))[0] == CudaError.SUCCESS
    for region in held:
        region.close()


def test_a_device_without_its_second_half_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = places()
    usual = regions.SharedRegion.__init__

    def first_only(one: SharedRegion, least: int, most: int) -> None:
        if places() > taken:
            raise OutOfHostMemory(least, "the memory of a device")
        usual(one, least, most)

    monkeypatch.setattr(regions.SharedRegion, "__init__", first_only)
    with pytest.raises(OutOfHostMemory):
        Session(1, "sm_80", ("initcheck:global",), 1 << 24, report=Report(), others=lambda _: None)
    assert places() == taken


def test_only_what_was_allocated_is_freed(running: Running) -> None:
    text = b".version 8.0\n.target sm_80\n.address_size 64\n.global .u32 x;\n"
    with asking(running) as one:
        one.hello()
        (number,) = NUMBER.unpack(one.ask(Operation.LOAD, PAIR.pack(0, 0) + text)[1])
        address, _ = PAIR.unpack(one.ask(Operation.GET_GLOBAL, NUMBER.pack(number) + b"x")[1])
        assert one.ask(Operation.FREE, NUMBER.pack(address))[0] == CudaError.INVALID_VALUE
        assert one.ask(Operation.PLACE, PAIR.pack(1, address))[0] == CudaError.INVALID_VALUE
        assert one.ask(Operation.UNLOAD, NUMBER.pack(number))[0] == CudaError.SUCCESS


def test_memory_of_another_process_is_its_own_allocation_and_goes_with_the_last_of_both(running: Running) -> None:
    before = {*threading.enumerate()}
    taken = places()
    with asking(running) as borrower:
        session = DEVICE.unpack(borrower.hello())[4]
        (mine,) = NUMBER.unpack(borrower.ask(Operation.ALLOCATE, PAIR.pack(8, 0))[1])
        assert borrower.ask(Operation.IPC_OPEN, PAIR.pack(session, mine))[0] == CudaError.INVALID_VALUE
        with asking(running) as owner:
            session = DEVICE.unpack(owner.hello())[4]
            (address,) = NUMBER.unpack(owner.ask(Operation.ALLOCATE, PAIR.pack(8, 0))[1])
            start, _, _ = struct.unpack("<3Q", owner.ask(Operation.VIRTUAL, VIRTUAL.pack(Step.RANGE, 0, 0, 0))[1])
            piece, _, _ = struct.unpack("<3Q", owner.ask(Operation.VIRTUAL, VIRTUAL.pack(Step.CREATE, UNIT, 0, 0))[1])
            assert owner.ask(Operation.VIRTUAL, VIRTUAL.pack(Step.MAP, start, UNIT, piece))[0] == CudaError.SUCCESS
            assert owner.ask(Operation.VIRTUAL, VIRTUAL.pack(Step.ACCESS, start, UNIT, 3))[0] == CudaError.SUCCESS
            assert borrower.ask(Operation.IPC_OPEN, PAIR.pack(session, start))[0] == CudaError.INVALID_VALUE
            assert borrower.ask(Operation.IPC_OPEN, PAIR.pack(session, address))[0] == CudaError.SUCCESS
    ended(before)
    assert places() == taken


TEXT = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
DAMAGED = fatbin(entry(b"\xf0", flags=0x2011, whole=9))


def border(colour: float) -> bytes:
    """A texture of fractions, with a colour outside."""
    head = (0, 0, 1, 0x01, 4, 0, 0, 0, 0, 0, 0, 0, *[colour] * 4, *[0.0] * 3, 1, 0)
    return IMAGE.pack(*head) + struct.pack("<3Q3I4x", 0x1000, 64, 64, 4, 4, 1)


@pytest.mark.parametrize(
    ("operation", "data", "error"),
    [
        (Operation.LOAD, PAIR.pack(0, 0) + fatbin(entry(TEXT, 2**32 - 1), entry(TEXT)), CudaError.SUCCESS),
        (Operation.LOAD, PAIR.pack(0, 0) + fatbin(entry(b".version 8.0\n", 2**32 - 1)), CudaError.NO_BINARY_FOR_GPU),
        (Operation.LOAD, PAIR.pack(0, 0) + fatbin(entry(b"a\0b")), CudaError.NO_BINARY_FOR_GPU),
        (Operation.LOAD, PAIR.pack(0, 1) + b"." + fatbin(), CudaError.NO_BINARY_FOR_GPU),
        (
            Operation.LINK,
            PAIR.pack(4, len(DAMAGED)) + DAMAGED + PAIR.pack(0, 0),
            CudaError.NO_BINARY_FOR_GPU,
        ),
        (Operation.LINK, PAIR.pack(1, 2**64 - 1) + TEXT + PAIR.pack(0, 0), CudaError.INVALID_VALUE),
        (Operation.IMAGE, border(float("nan")), CudaError.SUCCESS),
        (Operation.TENSOR_MAP, struct.pack("<10q", 1, 0, 1, *[0] * 7), CudaError.INVALID_VALUE),
        (Operation.TENSOR_MAP, struct.pack("<10q", 0, 0, -(2**63), *[0] * 7), CudaError.INVALID_VALUE),
        (Operation.TENSOR_MAP, struct.pack("<11q", *[0] * 11), CudaError.INVALID_VALUE),
    ],
)  # fmt: skip
def test_what_besieging_found_has_an_answer(running: Running, operation: int, data: bytes, error: int) -> None:
    with asking(running) as one:
        one.hello()
        assert one.ask(operation, data)[0] == error


@pytest.mark.parametrize("directive", ["maxntid", "maxnreg", "reqntid"])
def test_a_directive_may_say_any_number(running: Running, directive: str) -> None:
    head = ".version 8.0\n.target sm_80\n.address_size 64\n"
    text = f"{head}.visible .entry k() .{directive} {1 << 40} {{ ret; }}\n".encode()
    with asking(running) as one:
        one.hello()
        error, number = one.ask(Operation.LOAD, PAIR.pack(0, 0) + text)
        told, _ = one.ask(Operation.GET_FUNCTION, (number if not error else NUMBER.pack(1)) + b"k")
    assert CudaError(told) is not CudaError.UNKNOWN
