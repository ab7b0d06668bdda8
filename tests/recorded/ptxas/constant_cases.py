"""Constant expressions whose values ptxas told: `tools/record/constants.py` asks, what it said lies in `ptxas`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

FILE: Final = Path(__file__).parent / "constants.tsv"
HEAD: Final = ".version 9.0\n.target sm_90\n.address_size 64\n"
REFUSED: Final = "refused"
_NAMED: Final = (
    *("1<<70", "1<<65", "8>>-1", "8>>65", "7%-3", "1<<63", "-8>>1", "~0>>1", "(-16)>>1", "2<<-1", "1<<63>>63"),
    *("1U<<63>>63", "-1<1", "-1<1U", "0xFFFFFFFFFFFFFFFF<1", "-7/2", "-7U/2", "-7/2U", "7/-2", "(-7) % 3"),
    *("18446744073709551615", "18446744073709551616", "0x1FFFFFFFFFFFFFFFF", "184467440737095516160"),
    *("92233720368547758079", "04000000000000000000000", "-9223372036854775808/2", "(1<<63) % -1", "WARP_SZ*2"),
)
_BAD: Final = (
    *("1/0", "1 % 0", "5 ? 2 : 1/0", "0 ? 1/0 : 2", "99999999999999999999", "92233720368547758080"),
    *("010000000000000000000000", "0b1" + "0" * 64, "100000000000000000000", "0x123456789abcdef0123456789abcdef"),
    *("1.5+1", "1<2.0", "0f3F800000", "089", "0f12", "1u", "12abc"),
)
_LEAVES: Final = (
    *("0", "1", "2", "3", "7", "63", "64", "0x7FFFFFFFFFFFFFFF", "0x8000000000000000", "0xFFFFFFFFFFFFFFFF"),
    *("1U", "5U", "0x7FFFFFFFFFFFFFFFU", "WARP_SZ", "017", "0b101", "4294967296", "12345678901234567890"),
)
_SIGNS: Final = ("+", "-", "*", "&", "|", "^", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&&", "||", "/", "%")


def expressions() -> tuple[str, ...]:
    """What is asked: cases by name, and random ones."""
    chance = random.Random(5)
    drawn = (_drawn(chance, 4) for _ in range(600))
    return tuple(dict.fromkeys((*_NAMED, *_BAD, *drawn)))


def _drawn(chance: random.Random, depth: int) -> str:
    if depth == 0 or chance.random() < 0.15:
        return chance.choice(_LEAVES)
    inner = _drawn(chance, depth - 1)
    match chance.randrange(10):
        case 0 | 1:
            return f"{chance.choice('-+~!')}({inner})"
        case 2:
            return f"(.{chance.choice(('s64', 'u64'))}) ({inner})"
        case 3:
            return f"(({inner}) ? ({_drawn(chance, depth - 1)}) : ({_drawn(chance, depth - 1)}))"
        case _:
            sign = chance.choice(_SIGNS)
            right = chance.choice(("3", "5U", "0x10", "WARP_SZ")) if sign in "/%" else _drawn(chance, depth - 1)
            text = f"{inner} {sign} {right}"
            return text if chance.random() < 0.3 else f"({text})"


def recorded() -> dict[str, int | None]:
    """By expression: its 64 bits, or None where ptxas refused it."""
    rows = (line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines()[1:])
    return {text: None if value == REFUSED else int(value, 16) for text, value in rows}


def module_text(asked: Iterable[str]) -> str:
    """A module that keeps the values in memory, behind a one."""
    values = ", ".join(("1", *asked))
    return f"{HEAD}.visible .global .u64 values[] = {{{values}}};\n.visible .entry k() {{ ret; }}\n"
