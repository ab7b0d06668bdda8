"""The two tiers of a kernel's code: the first, which is ready soon, and the hot one, which runs faster.

A kernel that has run long in its first code gets hot code, made by a separate process.
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

#: Instructions of warps that run before hot code is made, for each of the kernel's: about as long as making it takes.
LONG: Final = 1 << 20
#: Instructions in the time of whose making the process that makes them starts.
START: Final = 300
#: Instructions of a kernel from which on LLVM's optimiser takes seconds.
LONGEST: Final = 1500


def is_hot(*, whole: bool, checks: frozenset[str]) -> bool:
    """Whether hot code is wanted at once, if there is any: where `PTXLOOM_TIER` says so, for whole warps, few tools.

    Raises:
        UsageError: `PTXLOOM_TIER` is something else.
    """
    return tier.asked() == tier.HOT and _has(whole=whole, checks=checks)


def may_turn_hot(*, whole: bool, checks: frozenset[str]) -> bool:
    """Whether hot code is wanted once the first has run long.

    Raises:
        UsageError: `PTXLOOM_TIER` is something else.
    """
    return tier.asked() == tier.BY_ITSELF and _has(whole=whole, checks=checks)


def _has(*, whole: bool, checks: frozenset[str]) -> bool:
    """Whether such code has a hot tier."""
    return whole and lets_be_hot(checks)


def hot_request(module: Module, name: str, cores: str, checks: frozenset[str], *, fused: bool) -> HotRequest | None:
    """What a process is asked for that makes hot code; None for a module that differs from its text."""
    if not module.is_as_read:
        return None
    from ptxloom.machine.compile.beside import request_of  # noqa: PLC0415 - few kernels run so long

    return request_of(module.source.text, name, cores, checks, fused=fused)


class Heat:
    """Counts instructions, and has hot code made beside once they are many.

    When that begins depends on numbers alone; when it is there, on how busy the host is. What is computed is the same.
    """

    def __init__(
        self, request: Callable[[frozenset[str]], HotRequest | None], kept: Callable[[frozenset[str]], bytes | None]
    ) -> None:
        """Initialise without runs.

        Args:
            request: Makes the request to a process, by the tools that watch; None if that is impossible.
            kept: The hot code that is kept by now, since another process may have had it made: nothing if the kernel
                has none, None if that is not known.
        """
        self._request = request
        self._kept = kept
        self._left: dict[frozenset[str], int] = {}  # instructions until it is worth it
        self._making: dict[frozenset[str], Making] = {}

    def watch(self, checks: frozenset[str], sites: int) -> None:
        """Begin to count for code with a number of instructions, watched by these tools; too long code is never hot."""
        if sites <= LONGEST:
            self._left.setdefault(checks, (START + sites) * LONG)

    def forget(self, checks: frozenset[str]) -> None:
        """Count no more: there is hot code, or none can be made."""
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
        """Have it made, unless it is kept, or another kernel's is being made: then this is asked again."""
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
