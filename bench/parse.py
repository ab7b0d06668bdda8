"""How fast PTX is read, and how much memory its tree takes.

`python bench/parse.py [FILES OR FOLDERS] [--repeat N] [--size MEGABYTES]`, by default over the corpus. Each file is
parsed once to warm up and then N times; the best time counts. `--size` parses the largest file again, its functions
repeated up to that size, to show that time and memory grow with the text. pyptx joins in where it is installed.
"""

from __future__ import annotations

import argparse
import importlib
import lzma
import re
import time
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

from ptxloom.syntax import instructions, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CORPUS = Path(__file__).resolve().parents[1] / "tests" / "corpus"
_TOKEN = re.compile(r"[%$\w]+|\S")


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("paths", nargs="*", type=Path, default=[CORPUS])
    arguments.add_argument("--repeat", type=int, default=5)
    arguments.add_argument("--size", type=float, default=0)
    chosen = arguments.parse_args()
    texts = {str(path): read(path) for path in found(chosen.paths)}
    print(f"{'file':40} {'MB':>7} {'MB/s':>7} {'instr/s':>9} {'memory':>7} {'tokens':>7}")
    totals = [0.0, 0.0, 0.0]
    for name, text in texts.items():
        seconds, count = report(Path(name).name, text, chosen.repeat)
        totals = [totals[0] + len(text), totals[1] + seconds, totals[2] + count]
    size, seconds, count = totals
    print(f"{'all':40} {size / 1e6:7.2f} {size / seconds / 1e6:7.2f} {count / seconds:9.0f}")
    if chosen.size:
        longest = max(texts.values(), key=len)
        for size in (chosen.size / 10, chosen.size):
            report(f"repeated to {size:g} MB", repeated(longest, round(size * 1e6)), 1)
    others("\n".join(texts.values()), chosen.repeat)


def found(paths: Iterable[Path]) -> Iterable[Path]:
    """The PTX files among paths and in folders."""
    for path in paths:
        yield from sorted([*path.glob("*.ptx"), *path.glob("*.ptx.xz")]) if path.is_dir() else [path]


def read(path: Path) -> str:
    """A file's text."""
    data = path.read_bytes()
    return (lzma.decompress(data) if path.suffix == ".xz" else data).decode()


def repeated(text: str, size: int) -> str:
    """A text of about this size with the same functions again and again."""
    start = max(text.find(".visible"), 0)
    return text[:start] + text[start:] * max((size - start) // (len(text) - start), 1)


def report(name: str, text: str, repeat: int) -> tuple[float, int]:
    """Print a line and give the best time and the number of instructions."""
    seconds = best(lambda: parse(text), repeat)
    tracemalloc.start()
    module = parse(text)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    count = sum(1 for _ in instructions(module))
    tokens = best(lambda: _TOKEN.findall(text), repeat)
    size = len(text)
    print(
        f"{name[:40]:40} {size / 1e6:7.2f} {size / seconds / 1e6:7.2f} {count / seconds:9.0f}"
        f" {memory / max(size, 1):6.1f}x {size / tokens / 1e6:7.2f}"
    )
    return seconds, count


def best(action: Callable[[], object], repeat: int) -> float:
    """The shortest of `repeat` processor times, after one run to warm up if there are several."""
    if repeat > 1:
        action()
    times: list[float] = []
    for _ in range(repeat):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return max(min(times), 1e-9)


def others(text: str, repeat: int) -> None:
    """The same text through other parsers, where they are installed."""
    try:
        pyptx = importlib.import_module("pyptx.parser")
    except ImportError:
        print("pyptx is not installed")
        return
    seconds = best(lambda: pyptx.parse(text), repeat)
    print(f"{'pyptx':40} {len(text) / 1e6:7.2f} {len(text) / seconds / 1e6:7.2f}")


if __name__ == "__main__":
    main()
