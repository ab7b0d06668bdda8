"""The hot tier beside the first: `python bench/tiers.py [--repeat 12] [--only sgemm]`.

The kernels of `limits.py`, each made twice, run by turns in one process on one thread; processor time, and the median
of the turns' ratios. The first launch of each hot one, which compiles, is given by itself: `PTXLOOM_CACHE` should name
an empty folder.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from typing import TYPE_CHECKING

from limits import by_turns, compiled, computed, moved

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable, Iterator

    from limits import Sides


def launches(
    tier: str, family: Callable[[ctypes.CDLL], Iterator[tuple[str, Sides]]], c: ctypes.CDLL
) -> Iterator[tuple[str, Callable[[], object], float]]:
    """The launches of a family, whose kernels are compiled for a tier; and the seconds that the first one took."""
    rows = family(c)
    while True:
        os.environ["PTXLOOM_TIER"] = tier
        try:
            name, sides = next(rows)
        except StopIteration:
            return
        start = time.process_time()
        sides["ptxloom"]()
        made = time.process_time() - start
        for other, run in sides.items():
            if other != "ptxloom":
                run()  # what the result is held to
        yield name, sides["ptxloom"], made


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=12)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = compiled(folder)
        for family in (moved, computed):
            pairs = zip(launches("first", family, c), launches("hot", family, c), strict=True)
            for (name, first, _), (_, hot, made) in pairs:
                if options.only not in name:
                    continue
                taken = by_turns({"first": first, "hot": hot}, options.repeat)
                ratio = statistics.median(a / b for a, b in zip(taken["first"], taken["hot"], strict=True))
                first_ms, hot_ms = (statistics.median(taken[tier]) * 1e3 for tier in ("first", "hot"))
                print(
                    f"{name:32} {first_ms:9.3f} ms, hot {hot_ms:9.3f} ms: {ratio:5.2f} x   made in {made:.2f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
