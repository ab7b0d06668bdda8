"""`printf` of a kernel: C's, byte for byte, but bounded; what CUDA does not take is printed as it stands."""

from __future__ import annotations

import ctypes
import random
import struct
import sys

import pytest

from ptxloom.machine.launch.printing import Printed

STRING = b"a word"
FLOATS = (0.0, -0.0, 1.0, -1.5, 5e-324, 2.0**-1060, 1e300, float("inf"), float("-inf"), float("nan"))


def printed(template: bytes, arguments: bytes = b"", limit: int = 1 << 20) -> tuple[str, int, int]:
    """What one call prints, its result, and whether something was cut; strings are `STRING` except at address 0."""
    at = 0

    def take(size: int) -> bytes:
        nonlocal at
        at = -(-at // size) * size
        found = arguments[at : at + size].ljust(size, b"\0")
        at += size
        return found

    def text_at(_address: int, most: int) -> bytes:
        return STRING[:most]

    out = Printed(limit)
    count = out.call(template, take, text_at)
    return str(out), count, out.cut


def by_c(template: bytes, *values: object) -> str:
    room = ctypes.create_string_buffer(4096)
    ctypes.CDLL(None).snprintf(room, 4096, template, *values)
    return room.value.decode()


@pytest.mark.skipif(sys.platform != "linux", reason="the judge is glibc")
def test_every_directive_prints_what_c_prints() -> None:
    generator = random.Random(11)  # the same directives every time
    for _ in range(20_000):
        flags = "".join(generator.sample("-+ #0", generator.randrange(4)))
        width = generator.choice(["", "1", "5", "12", "30"])
        precision = generator.choice(["", ".", ".0", ".1", ".3", ".9", ".17", ".40"])
        letter = generator.choice("diouxXdiouxXfFeEgGaAfFeEgGaAps")
        size = ""
        match letter:
            case "p":
                flags, precision = flags.strip("+ #0"), ""  # what else there is C leaves open
                number = generator.choice([0, generator.getrandbits(40)])
                argument, value = struct.pack("<Q", number), ctypes.c_uint64(number)
            case "s":
                flags = "-" if "-" in flags else ""
                argument, value = struct.pack("<Q", 16), ctypes.c_char_p(STRING)
            case _ if letter in "diouxX":
                size = generator.choice(["", "", "hh", "h", "l", "ll", "z", "j", "t"])
                bits = 64 if size in {"l", "ll", "z", "j", "t"} else 32
                number = generator.choice([0, 1, -1, 300, 70_000, generator.getrandbits(64)]) % (1 << bits)
                argument = struct.pack("<Q" if bits == 64 else "<I", number)
                value = (ctypes.c_uint64 if bits == 64 else ctypes.c_uint32)(number)
            case _:
                any_ = struct.unpack("<d", generator.randbytes(8))[0]
                real = generator.choice([*FLOATS, any_, generator.random(), generator.uniform(-1e6, 1e6)])
                argument, value = struct.pack("<d", real), ctypes.c_double(real)
        template = f"<%{flags}{width}{precision}{size}{letter}>".encode()
        assert printed(template, argument)[0] == by_c(template, value), template


@pytest.mark.parametrize(
    ("template", "numbers", "wanted", "count"),
    [
        (b"A%nB%dC", (-3,), "A%nB-3C", 1),
        (b"A%yB%dC", (-3,), "A%yB-3C", 1),
        (b"A%", (), "A%", 0),
        (b"A%5", (), "A%5", 0),
        (b"A%5%B%d", (-3,), "A%B-3", 1),
        (b"%hhd %hd %d", (-300, -70000, 5), "-44 -4464 5", 3),
        (b"%*d<", (-5, 7), "7    <", 2),
        (b"%.*d|%d", (-3, 42, 9), "42|9", 3),
        (b"%.0d<%#x %#o", (-3, 0, 5), "-3<0 05", 3),
        (b"%05.2d<", (-3,), "  -03<", 1),
        (b"%p %s", (0, 0, 0, 0), "(nil) (null)", 2),
        (b"%c%c", (195, 169), "\N{LATIN SMALL LETTER E WITH ACUTE}", 2),
    ],
)
def test_what_an_h100_printed(template: bytes, numbers: tuple[int, ...], wanted: str, count: int) -> None:
    """Except for what it printed at random (`%.*d`, what follows `%hhd`), and `%n`, at which its driver crashed."""
    arguments = struct.pack(f"<{len(numbers)}i", *numbers)
    assert printed(template, arguments) == (wanted, count, 0)


def test_after_32_arguments_directives_stand_as_they_are() -> None:
    text, count, _ = printed(b"%d " * 34, struct.pack("<34i", *range(34)))
    assert text == " ".join(map(str, range(32))) + " %d %d "
    assert count == 32


LARGE = ("1000000000", "99999999999999999999", "2147483647", "0" * 5000 + "1000000000")


@pytest.mark.parametrize("number", LARGE, ids=len)
@pytest.mark.parametrize("form", ["%{}d", "%-{}d|", "%.{}d", "%.{}f", "%.{}e", "%.{}a", "%{}s", "%.{}g%{}c"])
def test_a_huge_field_costs_no_more_than_may_be_printed(form: str, number: str) -> None:
    text, _, cut = printed(form.replace("{}", number).encode(), struct.pack("<2d", 1.5, 1.5), 1 << 16)
    assert len(text) == 1 << 16
    assert cut == 1


def test_what_is_cut_is_the_end_and_counted() -> None:
    def nothing(_address: int, _most: int) -> bytes:
        return b""

    out = Printed(10)
    for _ in range(3):
        out.call(b"12345", bytes, nothing)
    assert str(out) == "1234512345"
    assert out.cut == 1
