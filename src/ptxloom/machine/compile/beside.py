"""The request to a process that makes hot code (`plan/hot_maker.py`) while the kernel continues in its first code."""

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
        package: The state of ptxloom's sources that the code is for: code of other versions may not fit.
        mark: The marker before and after the code, in hexadecimal digits.
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
        """The request as a line for the process."""
        return json.dumps(self._asdict()).encode() + b"\n"

    @classmethod
    def unpacked(cls, content: bytes) -> HotRequest:
        """Unpack a request."""
        return cls(**json.loads(content))


def request_of(text: str, name: str, cores: str, checks: frozenset[str], *, fused: bool) -> HotRequest:
    """A request of this version of ptxloom, with a fresh marker."""
    return HotRequest(text, name, cores, fused, tuple(sorted(checks)), disk_cache.package_state(), new_mark())
