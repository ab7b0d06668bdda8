"""What processes of a program share, while one of them ends or frees it."""

import threading
from collections.abc import Callable

import pytest

from driver.running import needs_compiler
from ptxloom.cuda_driver.errors import CudaError
from ptxloom.cuda_driver.protocol import NUMBER, PAIR, Operation
from ptxloom.cuda_driver.report import Report
from ptxloom.cuda_driver.session import Session

pytestmark = needs_compiler


def session(others: Callable[[int], Session | None] = lambda _: None) -> Session:
    return Session(1, "sm_80", ("memcheck",), 1 << 24, report=Report(), others=others)


def allocated(one: Session) -> int:
    error, answer = one.answer(Operation.ALLOCATE, PAIR.pack(64, 0))
    assert error == CudaError.SUCCESS
    return int(NUMBER.unpack(answer)[0])


def test_memory_that_is_being_opened_stays_when_its_owner_ends() -> None:
    owner = session()
    address = allocated(owner)
    ending = threading.Thread(target=owner.close)

    def while_it_ends(_number: int) -> Session:
        ending.start()
        ending.join(0.2)  # it has all the time that it needs, and waits
        return owner

    borrower = session(while_it_ends)
    error, _ = borrower.answer(Operation.IPC_OPEN, PAIR.pack(1, address))
    ending.join()
    assert error == CudaError.SUCCESS
    assert borrower.memory.view(address, 64).tolist() == [0] * 64
    borrower.close()


def test_memory_that_is_freed_while_it_is_opened_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = session()
    address = allocated(owner)
    pieces = [*owner.memory.pieces()]
    owner.answer(Operation.FREE, NUMBER.pack(address))
    monkeypatch.setattr(owner.memory, "pieces", lambda: iter(pieces))
    borrower = session(lambda _: owner)
    assert borrower.answer(Operation.IPC_OPEN, PAIR.pack(1, address)) == (CudaError.INVALID_VALUE, b"")
    owner.close()
    borrower.close()
