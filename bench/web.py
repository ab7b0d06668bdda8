"""The explorer: how long it takes to write, how large it is, and when it can be used after a browser opened it."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser import Browser, browser, installed
from ptxloom.web import page

READY = "performance.getEntriesByName('ready')[0]?.startTime ?? performance.now()"
VIEWS = ("fragment", "banks", "descriptor", "tensor", "check")
LARGEST = "view=fragment&form=wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16&operand=d"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    start = time.perf_counter()
    made = page()
    print(f"written in              {time.perf_counter() - start:6.2f} s")
    print(f"size                    {len(made.encode()) / 1000:6.0f} kB")
    if installed() is None:
        print("no browser is installed: the rest is not measured")
        return
    with tempfile.TemporaryDirectory() as folder, browser() as shown:
        path = Path(folder) / "explorer.html"
        path.write_text(made, encoding="utf-8")
        for name, link in (*((view, f"view={view}") for view in VIEWS), ("largest operand", LARGEST)):
            found = [opened(shown, path, link) for _ in range(repeat)]
            print(f"{name:20} {min(found):5.0f} ms, median {statistics.median(found):5.0f} ms to interactive")


def opened(shown: Browser, path: Path, link: str) -> float:
    """Milliseconds from the start of the navigation until the page says that it is ready."""
    shown.open(path, link)
    return float(shown.run(READY))


if __name__ == "__main__":
    main()
