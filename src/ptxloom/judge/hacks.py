"""The tricks of kernels that only look right, by name."""

from __future__ import annotations

from typing import Final

from ptxloom.dataclass import dataclass

HACKS: Final = {
    "not-legal": "the kernel is not legal, cannot be compiled, or takes other arguments",
    "ended": "the kernel did not come to its end",
    "hazard": "a tool found what the kernel must not do",
    "foreign-memory": "the kernel reaches memory that it was not given",
    "never-written": "an output is never written: its contents are left over",
    "partly-written": "a part of an output is never written",
    "constant-output": "the output is the same whatever the inputs hold",
    "input-not-read": "an input that the result depends on is not read",
    "input-changed": "an input is changed, so that a reference that runs later computes something else",
    "right-for-one-seed": "the output is right for some seeds alone",
    "right-for-one-shape": "the output is right for some shapes alone",
    "right-for-one-data": "the output is right for random data alone",
    "cached-result": "the output depends on earlier calls: it is kept, or made of what is kept",
    "coarse-sums": "the sums are of a coarser type than the output",
    "wrong-result": "the output is not what the reference returns",
    "reference-called": "the file of the reference is opened or imported",
    "host-computed": "the host computes the result, not the kernel",
    "no-kernel": "no kernel is launched",
    "lazy-output": "the returned value is not an array that holds the result",
    "timer-changed": "functions that measure, wait or compare are replaced",
    "thread-left": "threads or processes still run after the call has returned",
    "order-dependent": "the bits of the output depend on the order in which warps run",
}
"""The tricks that are reported, by name."""
NOTED: Final = frozenset({"order-dependent"})
"""Tricks that are reported without rejecting the kernel."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about a kernel.

    Attributes:
        hack: One of `HACKS`.
        sentence: The observation.
        cases: The names of the cases.
    """

    hack: str
    sentence: str
    cases: tuple[str, ...] = ()

    @property
    def refuses(self) -> bool:
        """Whether a kernel with this finding is rejected."""
        return self.hack not in NOTED
