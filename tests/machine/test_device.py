"""A device: memory that lives from launch to launch, reached through any pointer; what is gone is reported."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ptxloom as pl
from ptxloom.diagnostics import UsageError
from ptxloom.machine import LaunchError, OutOfDeviceMemory
from ptxloom.machine.memory.arguments import Lent
from ptxloom.machine.memory.device_memory import GAP, DeviceMemory
from ptxloom.machine.memory.spans import table_of, with_spans
from ptxloom.machine.port.launch import Prepared

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine import Kernel

HEAD = ".version 9.0 .target sm_80 .address_size 64\n"
#: p[i] += 1 for a list of pointers: the kernel gets a pointer to a structure that holds the list's address
THROUGH = (
    HEAD
    + """.visible .entry bump(.param .align 8 .b8 s[16]) {
    .reg .b64 %a<4>; .reg .b32 %r<4>;
    mov.u32 %r0, %tid.x;
    ld.param.u64 %a0, [s+8];
    mul.wide.u32 %a1, %r0, 8; add.u64 %a0, %a0, %a1;
    ld.global.u64 %a2, [%a0];
    ld.global.u32 %r1, [%a2]; add.u32 %r1, %r1, 1; st.global.u32 [%a2], %r1;
    ret; }"""
)
LOAD = (
    HEAD
    + """.visible .entry load(.param .u64 p, .param .u64 q) {
    .reg .b64 %a<4>; .reg .b32 %r<4>;
    ld.param.u64 %a0, [p]; ld.param.u64 %a1, [q];
    ld.global.u32 %r1, [%a0]; st.global.u32 [%a1], %r1; ret; }"""
)


def hazard_of(kernel: Kernel, device: pl.Device, *args: Any) -> str:
    with pytest.raises(LaunchError) as caught:
        kernel.launch(1, 1, args, memory=device)
    return str(caught.value)


def test_pointers_in_memory_reach_every_allocation_and_registered_array() -> None:
    device = pl.Device("sm_80")
    cells = [device.alloc(4) for _ in range(31)]
    host = np.zeros(7, np.uint32)
    device.register(host, "host")
    table = device.alloc(8 * 32)
    middle = host.ctypes.data + 12
    device.write(table, np.array([*(one.address for one in cells), middle], np.uint64))
    params = bytes(8) + table.address.to_bytes(8, "little")
    kernel = device.kernel(THROUGH, "bump")
    for _ in range(2):
        kernel.launch(1, 32, params, memory=device)
    assert [int.from_bytes(device.read(one), "little") for one in cells] == [2] * 31
    assert host.tolist() == [0, 0, 0, 2, 0, 0, 0]
    assert device.kernel(THROUGH, "bump") is kernel


def test_what_is_registered_twice_is_called_by_its_last_name() -> None:
    device, x = pl.Device("sm_80"), np.zeros(1, np.uint32)
    beyond = device.register(x, "a tensor") + 4
    assert "at a tensor+0x4 is out of bounds" in hazard_of(device.kernel(LOAD), device, beyond, beyond)
    device.register(x, "y")
    assert "at y+0x4 is out of bounds: y has 4 bytes" in hazard_of(device.kernel(LOAD), device, beyond, beyond)


def test_a_text_may_end_as_one_of_c_does() -> None:
    device = pl.Device("sm_80")
    kernel = device.kernel(LOAD + "\n\0")
    assert kernel is device.kernel(LOAD + "\n")
    x, y = np.full(1, 7, np.uint32), np.zeros(1, np.uint32)
    kernel.launch(1, 1, [device.register(x), device.register(y)], memory=device)
    assert y == x


def test_parameters_say_where_the_bytes_of_a_launch_lie() -> None:
    device = pl.Device()
    text = HEAD + ".visible .entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .f32 d) { ret; }"
    kernel = device.kernel(text, "k")
    found = [(p.name, p.type, p.offset, p.size, p.alignment) for p in kernel.parameters]
    assert found == [("a", "u8", 0, 1, 1), ("b", "u64", 8, 8, 8), ("c", "b8", 16, 20, 16), ("d", "f32", 36, 4, 4)]
    assert kernel.parameter_bytes == 40
    kernel.launch(1, 1, bytes(40), memory=device)
    with pytest.raises(UsageError, match="the number of bytes in args is 39; it must be 40"):
        kernel.launch(1, 1, bytes(39), memory=device)


def test_what_is_freed_is_told_with_its_name_and_gives_its_memory_back() -> None:
    device = pl.Device()
    kernel = device.kernel(LOAD, "load")
    out, gone = device.alloc(4), device.alloc(1 << 20, "weights")
    device.write(gone, bytes([7]) * (1 << 20))
    kernel.launch(1, 1, [gone.address, out.address], memory=device)
    device.free(gone)
    assert device.memory.allocated == 4
    told = hazard_of(kernel, device, gone.address + 8, out.address)
    assert "weights+0x8, which has been freed" in told
    with pytest.raises(UsageError, match="has been freed"):
        device.free(gone)
    with pytest.raises(UsageError, match="within one live allocation"):
        device.read(gone)


def test_nothing_lies_between_allocations() -> None:
    device = pl.Device()
    kernel = device.kernel(LOAD, "load")
    one, two = device.alloc(100, "one"), device.alloc(100, "two")
    assert two.address - one.address >= GAP
    assert "one+0x64 is out of bounds: one has 100 bytes" in hazard_of(kernel, device, one.address + 100, two.address)


def test_initcheck_knows_from_launch_to_launch_what_was_written() -> None:
    device = pl.Device(checks=("memcheck", "initcheck:global"))
    kernel = device.kernel(LOAD, "load")
    out = device.register(np.zeros(1, np.uint32))
    first, second, third = (device.alloc(8) for _ in range(3))
    device.write(first, bytes(4))

    def told(source: int, target: int) -> list[str]:
        return [h.tool for h in kernel.launch(1, 1, [source, target], memory=device).hazards]

    assert told(first.address, second.address) == []
    assert told(second.address, out) == []
    assert told(second.address + 4, out) == ["initcheck"]
    assert told(second.address + 4, third.address) == []  # what is unwritten moves on
    assert told(third.address, out) == ["initcheck"]
    device.array(third)[:] = 1
    assert told(third.address, out) == []
    device.free(third)
    assert told(device.alloc(8).address, out) == ["initcheck"]


def test_freed_addresses_are_used_again_only_when_the_others_are_gone() -> None:
    memory = DeviceMemory(1 << 16, watched=True)
    seen: set[int] = set()
    while True:
        made = memory.allocate(1 << 12)
        memory.view(made.address, made.nbytes)[:] = 1
        memory.free(made.address)
        if made.address in seen:
            break
        seen.add(made.address)
        assert memory.freed_at(made.address) is not None
    assert len(seen) > 4
    kept = memory.allocate(1 << 16)
    assert not memory.view(kept.address, kept.nbytes).any()
    with pytest.raises(OutOfDeviceMemory, match="which are left of the device's 65,536"):
        memory.allocate(1)
    memory.free(kept.address)


def test_a_place_that_is_kept_is_nobody_elses_and_holds_zeros_when_it_is_restored() -> None:
    memory = DeviceMemory(1 << 16, watched=True)
    kept = memory.allocate(1 << 12)
    memory.view(kept.address, kept.nbytes)[:] = 1
    memory.free(kept.address, keeps_place=True)
    assert memory.freed_at(kept.address + 8) is not None
    with pytest.raises(UsageError, match="has been freed"):
        memory.free(kept.address)
    for _ in range(100):  # so many that addresses are used again
        other = memory.allocate(1 << 12)
        assert other.address != kept.address
        memory.free(other.address)
    assert memory.restore(kept.address) == kept
    assert not memory.view(kept.address, kept.nbytes).any()
    memory.free(kept.address, keeps_place=True)
    memory.leave(kept.address)
    for call in (memory.restore, memory.leave):
        with pytest.raises(UsageError, match="keeps its place"):
            call(kept.address)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.data())
def test_the_kept_table_is_the_table_made_anew(data: st.DataObject) -> None:
    memory = DeviceMemory(1 << 24, watched=False)
    host = np.zeros(4096, np.uint8)
    live: dict[int, tuple[int, int, bool]] = {}
    registered: list[tuple[int, int, bool]] = []
    for _ in range(data.draw(st.integers(1, 25))):
        match data.draw(st.sampled_from(["alloc", "free", "register", "unregister"])):
            case "alloc":
                made = memory.allocate(data.draw(st.integers(0, 100_000)))
                live[made.address] = (made.address, made.address + made.nbytes, True)
            case "free" if live:
                address = data.draw(st.sampled_from(sorted(live)))
                memory.free(address)
                del live[address]
            case "register":
                start = data.draw(st.integers(0, 4000))
                view = host[start : start + data.draw(st.integers(0, 90))]
                constant = data.draw(st.booleans())
                memory.register(view, "", constant=constant)
                registered.append((view.ctypes.data, view.ctypes.data + view.nbytes, not constant))
            case "unregister" if registered:
                address = registered[-1][0]
                memory.unregister(address)
                registered.remove([one for one in registered if one[0] == address][-1])
            case _:
                continue
        assert memory.snapshot().table.tolist() == table_of([*live.values(), *registered]).tolist()


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 40), st.booleans()), max_size=12), st.integers(0, 12))
def test_spans_put_into_a_table_are_those_of_a_table_of_all(drawn: list[tuple[int, int, bool]], cut: int) -> None:
    spans = [(start, start + size, writable) for start, size, writable in drawn if size]
    whole = table_of(spans)
    covered = {at: False for start, end, _ in spans for at in range(start, end)}
    for start, end, writable in spans:
        covered |= {at: covered[at] or writable for at in range(start, end)}
    put = with_spans(table_of(spans[:cut]), spans[cut:])
    for table in (whole, put):
        assert {at: bool(w) for s, e, w in table.tolist() for at in range(s, e)} == covered
        starts, ends = table[:, 0], table[:, 1]
        assert (ends[:-1] <= starts[1:]).all()


def test_threads_allocate_launch_and_free_at_the_same_time() -> None:
    device = pl.Device()
    kernel = device.kernel(LOAD, "load")
    wrong: list[object] = []

    def work(number: int) -> None:
        for turn in range(20):
            here, there = device.alloc(4), device.alloc(4)
            device.write(here, (100 * number + turn).to_bytes(4, "little"))
            kernel.launch(1, 1, [here.address, there.address], memory=device, threads=1)
            if device.read(there) != (100 * number + turn).to_bytes(4, "little"):
                wrong.append((number, turn))
            device.free(here)
            device.free(there.address)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong
    assert device.memory.allocated == 0


def calls_of(launch: Callable[[], object]) -> int:
    """How many functions of Python a warm launch calls."""
    count = 0

    def seen(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    for _ in range(3):
        launch()
    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        launch()
    finally:
        sys.setprofile(before)
    return count


def test_a_launch_with_arrays_of_its_own_calls_as_much_however_much_the_device_holds() -> None:
    device = pl.Device()
    kernel = device.kernel(LOAD, "load")
    ready = Prepared(kernel, 1, 1, device)
    source, into = np.full(1, 7, np.uint32), np.zeros(1, np.uint32)
    lent = [Lent(one, (one.ctypes.data, one.ctypes.data + 4, True), name) for one, name in ((source, "p"), (into, "q"))]
    params = b"".join(one.span[0].to_bytes(8, "little") for one in lent)
    few = calls_of(lambda: ready.launch(params, lent))
    held = [np.zeros(4, np.uint32) for _ in range(300)]
    for one in held:
        device.register(one)
    assert calls_of(lambda: ready.launch(params, lent)) == few
    assert into[0] == 7
    source[0] = 8  # the same memory with other values
    ready.launch(params, lent)
    assert into[0] == 8


def test_an_array_that_was_lent_to_a_launch_is_named_in_it_and_out_of_bounds_behind_it() -> None:
    device = pl.Device()
    kernel = device.kernel(LOAD, "load")
    ready = Prepared(kernel, 1, 1, device)
    source, into = np.zeros(1, np.uint32), device.alloc(4)
    start: int = source.ctypes.data
    lent = [Lent(source, (start, start + 4, True), "x")]
    params = start.to_bytes(8, "little") + into.address.to_bytes(8, "little")
    ready.launch(params, lent)
    with pytest.raises(LaunchError, match=r"read of 4 bytes at x\+0x4 is out of bounds: x has 4 bytes"):
        ready.launch((start + 4).to_bytes(8, "little") + params[8:], lent)
    with pytest.raises(LaunchError, match="out of bounds"):
        ready.launch(params)


def wrong_calls(device: Any) -> dict[str, Any]:
    return {
        "nbytes is 0; it must be 1 or more": lambda: device.alloc(0),
        "nbytes is '4'; it must be 1 or more": lambda: device.alloc("4"),
        "address is 0xc; it must be the start of a live allocation": lambda: device.free(12),
        "nbytes is None; it must be a number of bytes, where an address is given": lambda: device.read(12),
        r"address \(of 4 bytes\) is 0xc; it must be within one live allocation": lambda: device.read(12, 4),
        "address is 0xc; it must be the address of a registered array": lambda: device.unregister(12),
        "array is .*; it must be a NumPy array, or one that another library shares": lambda: device.register([1]),
        "array is .*; it must be a C-contiguous array of plain values": lambda: device.register(np.zeros((4, 4))[:, 1]),
        r"address \(of 5 bytes\) is": lambda: device.write(device.alloc(4), bytes(5)),
        "text is b''; it must be PTX, or a parsed module": lambda: device.load(b""),
        "it must be a kernel of the module: load": lambda: device.kernel(LOAD, "nothing"),
    }


@pytest.mark.parametrize("message", wrong_calls(None))
def test_wrong_calls_are_told(message: str) -> None:
    with pytest.raises(UsageError, match=message):
        wrong_calls(pl.Device())[message]()


def test_wrong_devices_are_told() -> None:
    with pytest.raises(UsageError, match="checks is 'none'"):
        pl.Device(checks=("none",))
    with pytest.raises(UsageError, match="memory_bytes is 0"):
        pl.Device(memory_bytes=0)
    with pytest.raises(UsageError):
        pl.Device("sm_1")
    assert repr(pl.Device("sm_90", memory_bytes=4096)) == "Device('sm_90', 0 of 4,096 bytes allocated)"
