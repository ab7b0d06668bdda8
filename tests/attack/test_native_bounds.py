"""Native functions hold by construction: what is not checked does not translate, what is checked traps."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import pytest

from attack.declared_lengths import native_functions, structs_of
from attack.loop_audit import bounded_by_assertions
from attack.native_audit import broken_rules, with_each_length_raised, without_each_check
from ptxloom.machine.native import jit, language
from ptxloom.machine.native.language import (
    Array,
    Code,
    Ptr,
    Sealed,
    Slice,
    copy,
    fill,
    invoke,
    length,
    part,
    pointer,
    u8,
    u32,
    u64,
    view,
)
from ptxloom.machine.native.translation import translate
from ptxloom.machine.native.writer import MAKERS
from ptxloom.machine.runtime.memory.places import registers, site_bytes, span_bytes
from ptxloom.machine.runtime.state import REGISTERS, Launch, Warp
from ptxloom.machine.runtime.structs.spans import LastSpan, Span

if TYPE_CHECKING:
    from collections.abc import Callable


class Other:
    number: u64


class Fixed(Sealed):
    start: u64


class Table:
    count: u32
    entries: Annotated[Slice[u32], "count"]
    pairs: Annotated[Slice[u64], "2 * count"]
    inside: Annotated[Array[u32], 8]
    other: Other
    fixed: Fixed
    code: Code


def number_as_pointer(at: u64) -> u32:
    return pointer(u32, at, 1)[0]


def number_as_code(at: u64, t: Table) -> u32:
    return invoke(at, t)


def code_by_arithmetic(t: Table) -> u32:
    return invoke(t.code + 8, t)


def code_by_complement(t: Table) -> u32:
    return invoke(~t.code, t)


def beyond_an_array(t: Table) -> u32:
    return t.inside[8]


def too_many_for_lanes(t: Table) -> u32:
    return language.lowest(t.inside, 1)


def another_count(t: Table) -> None:
    t.count = 1 << 20


def another_table(t: Table, found: Slice[u64]) -> None:
    t.pairs = found


def another_struct(t: Table) -> None:
    t.other = t.fixed  # pyright: ignore[reportAttributeAccessIssue]


def into_what_is_sealed(t: Table) -> None:
    t.fixed.start = 0


def struct_as_numbers(t: Table) -> None:
    view(u64, t)[1] = 0


def numbers_into_a_struct(t: Table) -> None:
    copy(t, t.inside, 32)


def pointers_of_ones(t: Table) -> None:
    fill(t, 1)


def lanes_of_another_type(values: Ptr[u64]) -> u32:
    return first_of_lanes(values)  # pyright: ignore[reportArgumentType]


def first_of_lanes(values: Ptr[u32]) -> u32:
    return values[0]


REFUSED: Final = (
    number_as_pointer,
    number_as_code,
    code_by_arithmetic,
    code_by_complement,
    beyond_an_array,
    too_many_for_lanes,
    another_count,
    another_table,
    another_struct,
    into_what_is_sealed,
    struct_as_numbers,
    numbers_into_a_struct,
    pointers_of_ones,
    lanes_of_another_type,
)


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_what_nobody_can_check_does_not_translate(function: FunctionType) -> None:
    names = {**function.__globals__, "__name__": "ptxloom.machine.runtime.anything", "lowest": language.lowest}
    ours = FunctionType(function.__code__, names, function.__name__)
    with pytest.raises(TypeError, match=function.__name__):
        translate(ours)


def test_a_table_of_a_struct_says_how_many_elements_it_has() -> None:
    with pytest.raises(TypeError, match=r"Loose\.entries does not declare the number of"):
        language.record(type("Loose", (), {"__annotations__": {"entries": "Slice[u32]"}, "__module__": __name__}))


def read_table(t: Table, index: u64) -> u32:
    return t.entries[index]


def read_array(t: Table, index: u64) -> u32:
    return t.inside[index]


def write_lane(values: Ptr[u32], index: u64) -> None:
    values[index] = 7


def read_part(t: Table, index: u64) -> u32:
    return part(t.entries, index, 2)[1]


def copy_part(t: Table, size: u64) -> None:
    copy(t.inside, t.entries, size)


def fill_part(t: Table, size: u64) -> None:
    fill(part(view(u8, t.inside), 0, size), 9)


def from_site(site: LastSpan, offset: u64) -> u64:
    return length(site_bytes(site, site.start + offset, 8))


def from_span(span: Span, offset: u64) -> u64:
    return length(span_bytes(span, span.start + offset, 8))


def of_registers(w: Warp, offset: u64) -> u64:
    return length(registers(w, u32(offset), 8))


# Each with the smallest and the largest argument that it takes: the table has 5 entries, the array 8, lanes are 32, the
# piece of memory 16 bytes, and the warp as many for registers.
BOUNDED: Final[dict[str, tuple[Callable[..., object], int, int]]] = {
    f.__name__: (f, least, most)
    for f, least, most in (
        (read_table, 0, 4),
        (read_array, 0, 7),
        (write_lane, 0, 31),
        (read_part, 0, 3),
        (copy_part, 0, 20),
        (fill_part, 0, 32),
        (from_site, 0, 8),
        (from_span, 0, 8),
        (of_registers, REGISTERS, REGISTERS + 8),
    )
}


def _run(name: str, argument: int) -> None:
    """Call one of these functions; a process of its own may die of it."""
    entries = (ctypes.c_uint32 * 32)()
    launch = language.structure(Launch)(warp_bytes=REGISTERS + 16)
    places: dict[Callable[..., object], Any] = {
        write_lane: entries,
        from_site: language.structure(LastSpan)(start=1 << 20, end=(1 << 20) + 16),
        from_span: language.structure(Span)(start=1 << 20, end=(1 << 20) + 16),
        of_registers: language.structure(Warp)(launch=ctypes.addressof(launch)),
    }
    table = language.structure(Table)(count=5, entries=ctypes.addressof(entries))
    function = BOUNDED[name][0]
    place = ctypes.addressof(places.get(function, table))
    ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64)(jit.native_address(function))(place, argument)


def child_of(script: str, seconds: float | None = None) -> subprocess.CompletedProcess[str]:
    """How Python ends that runs a script among the tests; it is killed after some seconds, if any are said."""
    path = [str(Path(__file__).parents[1]), *sys.path]
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {path!r}; {script}"]
    return subprocess.run(command, text=True, capture_output=True, check=False, timeout=seconds)


def tell_ends() -> None:
    """Print how a process ends that calls one of these functions with an argument beyond its bounds."""
    for name, (_, least, most) in BOUNDED.items():
        _run(name, least)  # which compiles it
        for beyond in {most + 1, max(least - 1, 0)} - {least}:
            if (child := os.fork()) == 0:
                _run(name, beyond)
                os._exit(0)
            print(name, beyond, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))  # noqa: T201 - to the test


def test_what_lies_beyond_a_table_traps() -> None:
    for name, (_, least, most) in BOUNDED.items():
        _run(name, least)
        _run(name, most)
    child = child_of("from attack.test_native_bounds import tell_ends; tell_ends()")
    ends = [line.split() for line in child.stdout.splitlines()]
    assert {name for name, _, _ in ends} == set(BOUNDED), child.stderr[-500:]
    assert [end for end in ends if int(end[2]) != -signal.SIGILL] == []


class Proved(NamedTuple):
    """A native function, and what the proof knows of it."""

    name: str
    ir: str
    given: dict[str, str]
    makes: bool

    def holds(self, ir: str) -> bool:
        """Whether the proof passes for this code of it."""
        return not broken_rules(ir, self.given, makes=self.makes)


@cache
def natives() -> tuple[Proved, ...]:
    """All native functions of the run-time."""
    return tuple(
        Proved(function.__name__, translate(function).ir, structs_of(function), function.__module__ in MAKERS)
        for function in native_functions()
    )


def test_every_native_function_touches_nothing_but_behind_a_check() -> None:
    assert len(natives()) > 300
    found = {one.name: broken_rules(one.ir, one.given, makes=one.makes) for one in natives()}
    assert {name: broken for name, broken in found.items() if broken} == {}


def test_the_proof_fails_without_any_of_the_checks() -> None:
    cut = [(one, ir) for one in natives() for ir in without_each_check(one.ir)]
    assert len(cut) > 600
    # what makes pointers asserts what it relies on: `test_what_lies_beyond_a_table_traps` shows that it does; other
    # asserts bound loops: without these the proof in `test_loops` fails
    passes = sorted(one.name for one, ir in cut if one.holds(ir))
    makers = ["registers", "registers", "site_bytes", "span_bytes"]
    products = ["add_product", "add_product"]  # the compiled code of a product relies on what is asserted before it
    assert passes == sorted([*makers, *products, *bounded_by_assertions()])


def test_the_proof_fails_if_a_length_is_larger_than_what_is_declared() -> None:
    raised = [(one, ir) for one in natives() if not one.makes for ir in with_each_length_raised(one.ir)]
    assert len(raised) > 400
    assert sorted(one.name for one, ir in raised if one.holds(ir)) == []


def test_tables_have_as_many_elements_as_their_structs_say() -> None:
    child = child_of("from attack.declared_counts import main; sys.exit(main())")
    *seen, _ = child.stdout.splitlines()
    assert child.returncode == 0, child.stdout + child.stderr
    assert max(int(line.split()[0]) for line in seen) > 100
