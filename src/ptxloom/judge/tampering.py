"""Functions that measure, wait or compare: a kernel that replaces one deceives the code that trusts it."""

from __future__ import annotations

import sys
from typing import Final

_WATCHED: Final = (
    ("time", "time perf_counter perf_counter_ns monotonic monotonic_ns process_time sleep"),
    ("numpy", "allclose array_equal isclose empty zeros matmul abs max"),
    ("numpy.testing", "assert_allclose assert_array_equal"),
    ("triton.testing", "do_bench do_bench_cudagraph assert_close"),
    ("torch", "allclose equal empty empty_like zeros"),
    ("torch.testing", "assert_close"),
    ("torch.cuda", "synchronize Event Stream current_stream"),
    ("ptxloom.judge.wire", "send receive"),
    ("ptxloom.machine.launch.watching", "watching tell may_run"),
)


class Functions:
    """Remembers these functions when they are first seen, and detects later replacements."""

    def __init__(self) -> None:
        self._seen: dict[str, object] = {}
        self.changed()

    def changed(self) -> tuple[str, ...]:
        """The functions that were replaced since they were first seen; those of newly imported modules are recorded."""
        found: list[str] = []
        for module, names in _WATCHED:
            there = sys.modules.get(module)
            for name in names.split() if there is not None else ():
                now: object = getattr(there, name, None)
                full = f"{module}.{name}"
                if now is not self._seen.setdefault(full, now):
                    found.append(full)
        return tuple(found)
