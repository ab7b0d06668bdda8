"""How much work something is, without a clock: how many calls of functions it makes."""

from __future__ import annotations

import cProfile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL, LARGE = 1000, 4000
HEAD: Final = ".version 8.0\n.target sm_80\n.address_size 64\n"


def body(text: str) -> str:
    registers = ".reg .b32 %r<9>;\n.reg .pred %p<9>;\n.reg .b64 %d<9>;\n"
    return f"{HEAD}.visible .entry k(.param .u64 p)\n{{\n{registers}{text}ret;\n}}\n"


def numbered(line: str) -> Callable[[int], str]:
    return lambda count: "".join(line.replace("#", str(number)) for number in range(count))


def calls(work: Callable[[], object]) -> int:
    with cProfile.Profile() as profile:  # in C: a function of Python called for each would take longer than the work
        work()
    return sum(one.callcount for one in profile.getstats())


def assert_linear(make: Callable[[int], Callable[[], object]]) -> None:
    """Four times as much takes at most five times the calls.

    Args:
        make: Makes the work of a size; what that takes is not counted.
    """
    make(100)()  # what is loaded once
    small, large = calls(make(SMALL)), calls(make(LARGE))
    assert large <= 5 * small + 500
