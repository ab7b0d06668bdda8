"""How fast PTX is read, and how much memory its tree takes.

`python bench/parse.py [FILES OR FOLDERS] [--repeat N] [--size MEGABYTES]`, by default over the corpus. Each file is
parsed once to warm up and then N times; the best time counts. `--size` parses the largest file again, its functions
repeated up to that size, to show that time and memory grow with the text. At the end a text of one megabyte is checked,
and other parsers read the same files, where they are installed (`pip install pyptx ptx-parser`).
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

from ptxloom.checker import check
from ptxloom.syntax import instructions, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CORPUS = Path(__file__).resolve().parents[1] / "tests" / "corpus"
PEERS = (("pyptx", "pyptx.parser", "parse"), ("ptx-parser", "ptx_parser", "parse_ptx"))
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
    rows = [report(Path(name).name, text, chosen.repeat) for name, text in texts.items()]
    size, seconds, count, memory = map(sum, zip(*rows, strict=True))
    speed = f"{size / 1e6:7.2f} {size / seconds / 1e6:7.2f} {count / seconds:9.0f}"
    print(f"{'all':40} {speed} {memory / size:6.1f}x")
    if chosen.size:
        longest = max(texts.values(), key=len)
        for size in (chosen.size / 10, chosen.size):
            report(f"repeated to {size:g} MB", repeated(longest, round(size * 1e6)), 1)
    judged(repeated(max(texts.values(), key=len), 1_000_000), chosen.repeat)
    for name, module, function in PEERS:
        peer(name, module, function, tuple(texts.values()))


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


def report(name: str, text: str, repeat: int) -> tuple[int, float, int, int]:
    """Print a line and give the size, the best time, the number of instructions and the peak of memory."""
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
    return size, seconds, count, memory


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


def judged(text: str, repeat: int) -> None:
    """How long the checker takes for a module that was read."""
    module = parse(text)
    seconds = best(lambda: check(module), repeat)
    print(f"{'check of one file':40} {len(text) / 1e6:7.2f} in {seconds:.2f} s")


def peer(name: str, module: str, function: str, texts: tuple[str, ...]) -> None:
    """How many files another parser reads, and how fast both are on those."""
    try:
        read_text = getattr(importlib.import_module(module), function)
    except ImportError:
        print(f"{name} is not installed")
        return
    accepted = [text for text in texts if reads(read_text, text)]
    theirs = sum(best(lambda text=text: read_text(text), 1) for text in accepted)
    ours = sum(best(lambda text=text: parse(text), 1) for text in accepted)
    size = sum(map(len, accepted))
    speed = f"at {size / theirs / 1e6:.2f} MB/s, ours at {size / ours / 1e6:.2f} MB/s" if accepted else ""
    print(f"{name:40} reads {len(accepted)} of {len(texts)} files {speed}")


def reads(action: Callable[[str], object], text: str) -> bool:
    """Whether a parser takes a text."""
    try:
        action(text)
    except Exception:  # noqa: BLE001 - whatever another parser raises
        return False
    return True


if __name__ == "__main__":
    main()
