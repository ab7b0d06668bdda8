"""What a process is asked for that makes hot code (`plan/hot_maker.py`), while a kernel runs on in its first code."""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from ptxloom import disk_cache
from ptxloom.machine.native.beside import new_mark

_MAKER: Final = "ptxloom.machine.plan.hot_maker"


class HotRequest(NamedTuple):
    """The hot code to make.

    Attributes:
        text: A module.
        name: A kernel of it.
        cores: The architecture whose tensor cores compute.
        fused: Whether products and sums are fused first.
        checks: The tools that watch.
        package: The state of ptxloom's sources that the code is for: what others make of the same text may not fit.
        mark: What stands before and behind the code, in hexadecimal digits.
        maker: The module that serves it.
    """

    text: str
    name: str
    cores: str
    fused: bool
    checks: tuple[str, ...]
    package: str
    mark: str
    maker: str = _MAKER

    def packed(self) -> bytes:
        """As the process reads it: a line."""
        return json.dumps(self._asdict()).encode() + b"\n"

    @classmethod
    def unpacked(cls, content: bytes) -> HotRequest:
        """As it was packed."""
        return cls(**json.loads(content))


def request_of(text: str, name: str, cores: str, checks: frozenset[str], *, fused: bool) -> HotRequest:
    """What is asked for, of this ptxloom, and marked as nothing before."""
    return HotRequest(text, name, cores, fused, tuple(sorted(checks)), disk_cache.package_state(), new_mark())
