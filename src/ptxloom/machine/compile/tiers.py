"""The two tiers of a kernel's code: the first, which is ready quickly, and the hot one, which runs faster.

A kernel that has run for a while in its first code gets hot code, made by a separate process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.instruments.wanted import lets_be_hot
from ptxloom.machine.native import tier

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.compile.beside import HotRequest
    from ptxloom.machine.native.beside import Making
    from ptxloom.syntax.module import Module

#: Warp instructions to run, per instruction of the kernel, before hot code is made: about the time that making it
#: takes.
LONG: Final = 1 << 20
#: The start of the process that makes hot code costs as much as compiling this number of instructions.
START: Final = 300
#: Number of instructions of a kernel beyond which LLVM's optimiser takes seconds.
LONGEST: Final = 1500


def is_hot(*, whole: bool, checks: frozenset[str]) -> bool:
    """Whether to use hot code at once, if possible: with `PTXLOOM_TIER=hot`, for whole warps and few tools.

    Raises:
        UsageError: `PTXLOOM_TIER` is something else.
    """
    return tier.asked() == tier.HOT and _has(whole=whole, checks=checks)


def may_turn_hot(*, whole: bool, checks: frozenset[str]) -> bool:
    """Whether to make hot code once the first code has run for a while.

    Raises:
        UsageError: `PTXLOOM_TIER` is something else.
    """
    return tier.asked() == tier.BY_ITSELF and _has(whole=whole, checks=checks)


def _has(*, whole: bool, checks: frozenset[str]) -> bool:
    """Whether code for such warps and tools has a hot tier."""
    return whole and lets_be_hot(checks)


def hot_request(module: Module, name: str, cores: str, checks: frozenset[str], *, fused: bool) -> HotRequest | None:
    """The request to a process that makes hot code; None for a module that differs from its text."""
    if not module.is_as_read:
        return None
    from ptxloom.machine.compile.beside import request_of  # noqa: PLC0415 - few kernels run so long

    return request_of(module.source.text, name, cores, checks, fused=fused)


class Heat:
    """Counts instructions, and starts making hot code in the background once there are many.

    The counts alone decide when that starts; the host's load decides when it is ready. Results are the same.
    """

    def __init__(
        self, request: Callable[[frozenset[str]], HotRequest | None], kept: Callable[[frozenset[str]], bytes | None]
    ) -> None:
        """Initialise without runs.

        Args:
            request: Makes the request to a process, by the tools that watch; None if that is impossible.
            kept: Looks up hot code in the cache, since another process may have made it: empty if the kernel has none,
                None if unknown.
        """
        self._request = request
        self._kept = kept
        self._left: dict[frozenset[str], int] = {}  # instructions until it is worth it
        self._making: dict[frozenset[str], Making] = {}

    def watch(self, checks: frozenset[str], sites: int) -> None:
        """Start counting for code with a number of instructions, watched by these tools; long code is never hot."""
        if sites <= LONGEST:
            self._left.setdefault(checks, (START + sites) * LONG)

    def forget(self, checks: frozenset[str]) -> None:
        """Stop counting: there is hot code, or it is impossible."""
        self._left.pop(checks, None)
        self._making.pop(checks, None)

    def made(self, checks: frozenset[str], instructions: int) -> bytes | None:
        """Record that instructions have run.

        Returns the hot code in the form of the cache once it is ready, perhaps empty.
        """
        left = self._left.get(checks)
        if left is None:
            return None
        making = self._making.get(checks)
        if making is None or not making.is_ours:  # as in a child of the process that had it made
            self._left[checks] = left = left - instructions
            return self._start(checks) if left <= 0 else None
        if not making.is_over:
            return None
        self.forget(checks)
        return making.content

    def _start(self, checks: frozenset[str]) -> bytes | None:
        """Start making it, unless it is cached, or another kernel's is being made: then a later call tries again."""
        from ptxloom.machine.native import beside  # noqa: PLC0415 - few kernels run so long

        if not beside.is_free():
            return None
        content, request = self._kept(checks), self._request(checks)
        if content is not None or request is None:
            self.forget(checks)
            return content
        making = beside.started(request)
        if making is not None:
            self._making[checks] = making
        return None
