"""Calls of a CUDA driver, whichever the system finds, and what each one answers: a row of JSON."""

from __future__ import annotations

import ctypes as ct
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import TextIO

N: TypeAlias = ct.c_uint64
P: TypeAlias = ct.c_void_p
I: TypeAlias = ct.c_int
ENDED: Final = "ended"
ABSENT: Final = "absent"
"""What stands in a row for an error: the process ended in this call; the driver has no such function."""

PTX: Final = b"""
.version 7.8
.target sm_80
.address_size 64
.visible .global .align 4 .u32 base = 5;
.visible .global .align 4 .b8 room[40];
.visible .const .align 4 .u32 steady = 9;
.visible .entry fill(.param .u64 to, .param .u32 count)
{
    .reg .b64 %to; .reg .b32 %t, %count, %x; .reg .pred %beyond;
    ld.param.u64 %to, [to]; ld.param.u32 %count, [count];
    cvta.to.global.u64 %to, %to;
    mov.u32 %t, %tid.x; setp.ge.u32 %beyond, %t, %count; @%beyond ret;
    ld.global.u32 %x, [base]; add.u32 %x, %x, %t;
    mad.wide.u32 %to, %t, 4, %to; st.global.u32 [%to], %x;
    ret;
}
.visible .entry mixed(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .u16 d) { ret; }
.visible .entry empty() { ret; }
.visible .entry small() .maxntid 64, 1, 1 { ret; }
.visible .entry exact() .reqntid 32, 2, 1 { ret; }
.visible .entry statically(.param .u64 to)
{
    .shared .align 4 .b8 here[1024];
    .reg .b64 %to; .reg .b32 %x;
    ld.param.u64 %to, [to]; cvta.to.global.u64 %to, %to;
    mov.u32 %x, 1; st.shared.u32 [here], %x; ld.shared.u32 %x, [here]; st.global.u32 [%to], %x;
    ret;
}
.visible .entry trap() { trap; }
.func hidden() { ret; }
"""
"""What scenarios load."""


class Stopped(Exception):  # noqa: N818 - says what happened
    """A call that a scenario is built on answers an error."""


class Calls:
    """Calls a driver and writes what it answers.

    Args:
        out: Where the rows go.
        skipped: Numbers of calls that are not made, as they end the process.
        answers: What calls answer to a scenario, by number, so that it goes the way of a recording.
    """

    def __init__(self, out: TextIO, skipped: Collection[int] = (), answers: Sequence[int] = ()) -> None:
        self._library = ct.CDLL("libcuda.so.1")
        self._out = out
        self._skipped = skipped
        self._answers = answers
        self._count = 0
        self.context = P()
        self.kept: list[Any] = []

    def has(self, name: str) -> bool:
        """Whether the driver exports this symbol."""
        return hasattr(self._library, name)

    def __call__(self, name: str, *arguments: Any, gives: Any = (), about: str = "") -> int:
        """Call a function and write its row.

        Args:
            name: Its symbol.
            arguments: Integers (passed as 64 bits), None, bytes, files of `file`, or whatever ctypes passes.
            gives: Boxes, or functions of nothing, whose values follow the error where there is none.
            about: What the arguments do not say.

        Returns:
            The error; -1 if the call was not made.
        """
        label = f"{name}({', '.join(map(_said, arguments))})" + f" {about}" * bool(about)
        number, self._count = self._count, self._count + 1
        if number in self._skipped:
            return self._row([label, ENDED])
        if not self.has(name):
            return self._row([label, ABSENT])
        error = int(getattr(self._library, name)(*map(_passed, arguments)))
        values = [] if error else [_value(one) for one in _all(gives)]
        self._row([label, error, *values])
        return self._answers[number] if number < len(self._answers) else error

    def told(self, label: str, *values: Any) -> None:
        """Write a row that is no call's: what memory holds."""
        self._count += 1
        self._row([label, 0, *values])

    def _row(self, row: list[Any]) -> int:
        self._out.write(json.dumps(row) + "\n")
        self._out.flush()
        return row[1] if isinstance(row[1], int) else -1

    def do(self, name: str, *arguments: Any) -> None:
        """Call what a scenario is built on: no row.

        Raises:
            Stopped: It answers an error.
        """
        error = getattr(self._library, name)(*map(_passed, arguments))
        if error:
            raise Stopped(name, error)

    def quietly(self, name: str, *arguments: Any) -> int:
        """Call without a row, whatever it answers."""
        return int(getattr(self._library, name)(*map(_passed, arguments)))

    # -- what scenarios are built on

    def begin(self) -> None:
        """Initialise, with the primary context."""
        self.do("cuInit", 0)
        self.do("cuDevicePrimaryCtxRetain", ct.byref(self.context), 0)
        self.do("cuCtxSetCurrent", self.context)

    def file(self, name: str) -> Path:
        """Where a file of a scenario may lie; rows call it by its name."""
        return Path(self._out.name).with_name(name)

    def memory(self, size: int) -> int:
        """The address of new device memory."""
        made = N()
        self.do("cuMemAlloc_v2", ct.byref(made), size)
        return made.value

    def module(self, text: bytes = PTX) -> P:
        """A module."""
        made = P()
        self.do("cuModuleLoadData", ct.byref(made), text)
        return made

    def function(self, name: bytes, module: P | None = None) -> P:
        """A kernel."""
        found = P()
        self.do("cuModuleGetFunction", ct.byref(found), module or self.module(), name)
        return found

    def stream(self, flags: int = 1) -> P:
        """A stream."""
        made = P()
        self.do("cuStreamCreate", ct.byref(made), flags)
        return made

    def event(self, flags: int = 0) -> P:
        """An event."""
        made = P()
        self.do("cuEventCreate", ct.byref(made), flags)
        return made

    def graph(self) -> P:
        """An empty graph."""
        made = P()
        self.do("cuGraphCreate", ct.byref(made), 0)
        return made

    def words(self, address: int, count: int) -> list[int]:
        """32-bit integers of the device; nothing if they cannot be read."""
        data = (ct.c_uint32 * count)()
        self.quietly("cuCtxSynchronize")
        return [] if self.quietly("cuMemcpyDtoH_v2", data, N(address), 4 * count) else list(data)

    def pointers(self, *values: Any) -> Any:
        """The parameters of a kernel, as `cuLaunchKernel` takes them."""
        self.kept.extend(values)
        return (P * max(len(values), 1))(*(ct.addressof(one) for one in values))


def at(address: int) -> N:
    """An address, whose number is not told."""
    return N(address & (1 << 64) - 1)


def _said(one: Any) -> str:
    match one:
        case None:
            return "NULL"
        case int():
            return str(one)
        case bytes() if 0 not in one[:40]:
            return repr(one[:40])[1:]
        case Path():
            return repr(one.name)
        case _:
            return "*"


def _passed(one: Any) -> Any:
    if isinstance(one, Path):
        return os.fsencode(one)
    return N(one & (1 << 64) - 1) if isinstance(one, int) else one


def _all(gives: Any) -> tuple[Any, ...]:
    return gives if isinstance(gives, tuple) else (gives,)  # pyright: ignore[reportUnknownVariableType]


def _value(one: Any) -> Any:
    box: Any = one
    value = one() if callable(one) else box.value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def held(box: ct.c_void_p) -> int:
    """What a handle or an address is."""
    return box.value or 0
