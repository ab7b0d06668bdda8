"""A kernel's output: `printf` as in CUDA, within a limit (CUDA C++ Programming Guide, formatted output).

A directive is `%[flags][width][.precision][size]type`; anything else is printed unchanged, including `%n`, and so is
everything after 32 arguments. Measured on an H100: `%y`, a `%` at the end and `%5` are printed unchanged, `%5%` is `%`,
`%hhd` is narrowed, a negative `*` is a width to the left. CUDA has no precision from an argument (it prints the
contents of some register); here `.*` is C's.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.patterns import regex

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

_DIRECTIVE: Final = regex(
    rb"%([-+ #0]*+)(\*|\d*+)(?:(\.)(\*|\d*+))?+(hh|h|ll|l|j|z|t)?+([diouxXcsfFeEgGaAp%])",
)
_MOST_ARGUMENTS: Final = 32
_WIDE: Final = frozenset((b"l", b"ll", b"j", b"z", b"t"))
_NARROW: Final = {b"hh": 1, b"h": 2}
_DIGITS: Final = 1200  # more than a double has


class FormatDirective(NamedTuple):
    """A directive with its numbers: `precision` is negative if not given."""

    flags: bytes
    width: int
    precision: int
    size: bytes
    letter: str


class Printed:
    """The output of a launch.

    Attributes:
        cut: Calls whose output is missing, in whole or in part.
    """

    def __init__(self, limit: int) -> None:
        self._room = limit
        self._pieces: list[bytes] = []
        self.cut = 0

    def call(self, template: bytes, take: Callable[[int], bytes], text_at: Callable[[int, int], bytes]) -> int:
        """One call of `printf`.

        Args:
            template: The format.
            take: Returns the next argument of a given number of bytes.
            text_at: Returns the string at an address, cut after a number of bytes.

        Returns:
            The arguments parsed.
        """
        taken = 0
        at = 0
        for found in _DIRECTIVE.finditer(template):
            wanted = found[2].count(b"*") + (found[4] or b"").count(b"*") + (found[6] != b"%")
            if taken + wanted > _MOST_ARGUMENTS:
                break
            taken += wanted
            self._write(template[at : found.start()])
            at = found.end()
            form = _form(found, take, self._room)
            self._write(_one(form, take, text_at, self._room))
        before = self._room
        self._write(template[at:])
        self.cut += before < 0 or self._room < 0
        self._room = max(self._room, -1)
        return taken

    def _write(self, text: bytes) -> None:
        """Keep what fits; the remaining space becomes negative once something did not fit."""
        if self._room >= 0:
            self._pieces.append(text[: self._room])
            self._room -= len(text)

    def __str__(self) -> str:
        return b"".join(self._pieces).decode(errors="replace")


def _form(found: re.Match[bytes], take: Callable[[int], bytes], room: int) -> FormatDirective:
    """A directive with its `*` filled in; numbers are limited to what can be printed."""
    flags, width_text, point, precision_text, size, letter = found.groups()
    width = _number(width_text, take)
    precision = _number(precision_text, take) if point else -1
    if width < 0:
        flags, width = flags + b"-", -width
    most = max(room, 0) + _DIGITS
    return FormatDirective(flags, min(width, most), min(precision, most), size or b"", letter.decode())


def _number(text: bytes, take: Callable[[int], bytes]) -> int:
    if text == b"*":
        number: int = struct.unpack("<i", take(4))[0]
        return number
    return int(text.lstrip(b"0")[:9] or b"0") if len(text.lstrip(b"0")) < 10 else 1 << 31


def _one(form: FormatDirective, take: Callable[[int], bytes], text_at: Callable[[int, int], bytes], room: int) -> bytes:
    """The output of a directive."""
    match form.letter:
        case "%":
            return b"%"
        case "c":
            return _padded(form, b"", take(4)[:1])
        case "s":
            return _string(form, int.from_bytes(take(8), "little"), text_at, room)
        case "p":
            at = int.from_bytes(take(8), "little")
            return _padded(form, b"", b"(nil)") if at == 0 else _integer(form._replace(letter="x"), at, b"0x")
        case "f" | "F" | "e" | "E" | "g" | "G" | "a" | "A":
            return _float(form, struct.unpack("<d", take(8))[0])
        case _:
            bits = take(8 if form.size in _WIDE else 4)
            bits = bits[: _NARROW.get(form.size, 8)]
            return _integer(form, int.from_bytes(bits, "little", signed=form.letter in "di"))


def _string(form: FormatDirective, at: int, text_at: Callable[[int, int], bytes], room: int) -> bytes:
    most = room + 1 if form.precision < 0 else form.precision
    if at == 0:
        return _padded(form, b"", b"(null)" if form.precision < 0 or form.precision >= 6 else b"")
    return _padded(form, b"", text_at(at, max(most, 0)))


def _sign(form: FormatDirective, *, negative: bool) -> bytes:
    return b"-" if negative else b"+" if b"+" in form.flags else b" " if b" " in form.flags else b""


def _integer(form: FormatDirective, value: int, prefix: bytes = b"") -> bytes:
    digits = format(abs(value), form.letter if form.letter in "oxX" else "d").encode()
    if form.precision >= 0:
        digits = digits.rjust(form.precision, b"0") if value or form.precision else b""
    if b"#" in form.flags:
        if form.letter == "o" and not digits.startswith(b"0"):
            digits = b"0" + digits
        elif form.letter in "xX" and value:
            prefix = b"0" + form.letter.encode()
    before = (_sign(form, negative=value < 0) if form.letter in "di" else b"") + prefix
    return _padded(form, before, digits, zeros=form.precision < 0)


def _float(form: FormatDirective, value: float) -> bytes:
    negative = bool(struct.pack("<d", value)[7] >> 7)
    sign = _sign(form, negative=negative)
    if value != value or value in {float("inf"), float("-inf")}:  # noqa: PLR0124 - a NaN is unequal to itself
        word = b"nan" if value != value else b"inf"  # noqa: PLR0124 - likewise
        return _padded(form, sign, word.upper() if form.letter.isupper() else word)
    if form.letter in "aA":
        digits = _hexadecimal(form, abs(value))
        return _padded(form, sign + digits[:2], digits[2:], zeros=True)
    exact = "" if form.precision < 0 else f".{form.precision}"
    text = f"%{'#' if b'#' in form.flags else ''}{exact}{form.letter}" % abs(value)
    return _padded(form, sign, text.encode(), zeros=True)


def _hexadecimal(form: FormatDirective, value: float) -> bytes:
    """A number from 0 up as `%a` prints it: `0x1.8p+3`."""
    bits = int.from_bytes(struct.pack("<d", value), "little")
    exponent, fraction = bits >> 52, bits & (1 << 52) - 1
    whole = (1 << 52) * (exponent > 0) | fraction
    power = max(exponent, 1) - 1023 if bits else 0
    places = 13
    if 0 <= form.precision < places:
        places = form.precision
        cut = 52 - 4 * places
        half, rest = 1 << cut - 1, whole & (1 << cut) - 1
        whole = (whole >> cut) + (rest > half or (rest == half and whole >> cut & 1))
    digits = f"{whole & (1 << 4 * places) - 1:0{places}x}" if places else ""
    digits = digits.rstrip("0") if form.precision < 0 else digits.ljust(form.precision, "0")
    point = "." if digits or b"#" in form.flags else ""
    text = f"0x{whole >> 4 * places}{point}{digits}p{power:+d}"
    return (text.upper() if form.letter == "A" else text).encode()


def _padded(form: FormatDirective, before: bytes, text: bytes, *, zeros: bool = False) -> bytes:
    """A field: spaces on the left or right, or zeros after the sign."""
    missing = form.width - len(before) - len(text)
    if missing <= 0:
        return before + text
    if b"-" in form.flags:
        return before + text + b" " * missing
    if zeros and b"0" in form.flags:
        return before + b"0" * missing + text
    return b" " * missing + before + text
