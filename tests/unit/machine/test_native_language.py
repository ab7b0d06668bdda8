"""The run-time's own language: it computes what its text says, in the width its types say."""

from __future__ import annotations

import ctypes
import importlib
import inspect
import pkgutil
from typing import TYPE_CHECKING, Annotated

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxloom.machine import runtime
from ptxloom.machine.native import jit, language, translation
from ptxloom.machine.native.language import (
    Array,
    Slice,
    address,
    atomic,
    compare_exchange,
    copy,
    fill,
    i32,
    leading_zeros,
    part,
    pointer,
    popcount,
    trailing_zeros,
    u8,
    u16,
    u32,
    u64,
    view,
)

if TYPE_CHECKING:
    from collections.abc import Callable


class Inner:
    first: u8
    second: u64


class Outer:
    small: u16
    inners: Annotated[Array[Inner], 3]
    numbers: Annotated[Array[u32], 5]
    link: Outer


def arithmetic(x: u32, y: u32) -> u32:
    z = x * 3 + (y >> 2) - (x ^ y)
    z ^= ~y & 0xFF
    return min(z, y) + max(x, 7) + (x // (y | 1)) + x % (y | 1)


def signed(x: i32, y: i32) -> i32:
    if x < y and not x < -5:
        return -x >> 1
    return (x if y > 0 else y) + 1


def widths(x: u64) -> u64:
    return u64(u8(x)) + (u64(u16(x >> 8)) << 32) + u64(popcount(x)) + leading_zeros(x | 1) + trailing_zeros(x | 1 << 63)


def loops(limit: u32) -> u32:
    total: u32 = 0
    for n in range(limit):
        if n % 5 == 4:
            continue
        if n > 40:
            break
        for m in range(2, 8, 3):
            total = total + m * n
    k = limit
    while k > 3 and total != 77:
        k = k - 2
    return total + k


def helper(x: u32) -> u32:
    return x + 1


def memory(o: Outer, room: Annotated[Slice[u32], "3"]) -> u32:
    o.small = 65535
    o.inners[1].second = 9
    o.inners[2].first = u8(300)
    o.numbers[4] = helper(u32(o.inners[1].second))
    o.link = o
    old = atomic("add", room[0], 5)
    swapped = compare_exchange(room[0], 12, 100)
    copy(part(room, 1, 1), room, 4)
    fill(part(view(u8, room), 8, 3), 0xAB)
    return old + swapped + o.link.numbers[4] + pointer(u32, address(room) + 4, 1)[0]


def mixed(x: u32, y: u64) -> u64:
    return x + y


def call(function: Callable[..., object], *values: int) -> int:
    compiled = translation.signature(function)
    kinds = [ctypes.c_uint64 if k.llvm in {"ptr", "i64"} else ctypes.c_uint32 for k in compiled.arguments]
    result = ctypes.c_uint64 if compiled.result.llvm == "i64" else ctypes.c_uint32
    return int(ctypes.CFUNCTYPE(result, *kinds)(jit.native_address(function))(*values))


words = st.one_of(st.integers(0, 20), st.integers(0, 2**32 - 1), st.sampled_from([2**31 - 1, 2**31, 2**32 - 1]))


@settings(max_examples=100, deadline=None)
@given(words, words)
def test_unsigned_arithmetic_wraps_at_its_width(x: int, y: int) -> None:
    m = 0xFFFFFFFF
    z = (x * 3 + (y >> 2) - (x ^ y)) & m
    z ^= ~y & 0xFF
    assert call(arithmetic, x, y) == (min(z, y) + max(x, 7) + x // (y | 1) + x % (y | 1)) & m


@settings(max_examples=100, deadline=None)
@given(words, words)
def test_signed_numbers_compare_and_shift_as_signed(x: int, y: int) -> None:
    a, b = (n - (n >> 31 << 32) for n in (x, y))
    negated = -a - ((-a + 2**31) >> 32 << 32)
    expected = negated >> 1 if a < b and a >= -5 else (a if b > 0 else b) + 1
    assert call(signed, x, y) == expected & 0xFFFFFFFF


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**64 - 1))
def test_conversions_and_bit_counts(x: int) -> None:
    leading = 64 - (x | 1).bit_length()
    high = x | 1 << 63
    trailing = (high & -high).bit_length() - 1
    expected = (x & 0xFF) + ((x >> 8 & 0xFFFF) << 32) + x.bit_count() + leading + trailing
    assert call(widths, x) == expected & (2**64 - 1)


@pytest.mark.parametrize("limit", [0, 1, 4, 9, 41, 100])
def test_loops_break_and_continue_as_python_s_do(limit: int) -> None:
    assert call(loops, limit) == loops(limit)


def test_structs_pointers_and_atomics() -> None:
    layout = language.structure(Outer)
    outer = layout()
    room = (ctypes.c_uint32 * 3)(7, 0, 0)
    place = ctypes.addressof(outer)
    assert call(memory, place, ctypes.addressof(room)) == 7 + 12 + 10 + 100
    assert bytes(room) == (100).to_bytes(4, "little") * 2 + bytes([0xAB, 0xAB, 0xAB, 0])
    assert (outer.small, outer.inners[1].second, outer.inners[2].first) == (65535, 9, 300 & 0xFF)
    assert (list(outer.numbers), outer.link) == ([0, 0, 0, 0, 10], place)
    assert ctypes.sizeof(layout) == language.record(Outer).size


def test_integer_types_do_not_mix_silently() -> None:
    with pytest.raises(TypeError, match=r"write u32\(\.\.\.\)|write u64\(\.\.\.\)"):
        translation.translate(mixed)


def largest(first: u32, second: u32, third: u32) -> u32:
    return max(first, second, third)


def test_the_largest_of_three_is_refused_not_that_of_two() -> None:
    with pytest.raises(TypeError, match="of two numbers"):
        translation.translate(largest)


def test_no_two_native_functions_have_one_name() -> None:
    """Object code knows them by their names alone."""
    homes: dict[str, set[str]] = {}
    for found in pkgutil.walk_packages(runtime.__path__, f"{runtime.__name__}."):
        for name, function in inspect.getmembers(importlib.import_module(found.name), inspect.isfunction):
            if function.__module__ == found.name and not name.startswith("_"):
                homes.setdefault(name, set()).add(found.name)
    twice = {name: where for name, where in homes.items() if len(where) > 1}
    assert set(twice) <= {"function"}  # plain Python: the text of a function


def test_the_text_of_a_function_is_what_the_standard_library_takes_for_it() -> None:
    names = [one.name for one in pkgutil.walk_packages(runtime.__path__, f"{runtime.__name__}.")]
    modules = [language, *map(importlib.import_module, names)]
    functions = [value for module in modules for value in vars(module).values() if inspect.isfunction(value)]
    functions = [one for one in functions if one.__name__ != "<lambda>" and not hasattr(one, "__wrapped__")]
    assert len(functions) > 300
    for function in functions:
        assert translation.source_of(function).rstrip() == inspect.getsource(function).rstrip(), function
