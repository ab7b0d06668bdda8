"""Compile the examples: `python tools/corpus/examples.py` rewrites every `examples/*.ptx` from its source."""

from __future__ import annotations

import sys
from pathlib import Path

import toolchain

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ARCHITECTURE = "sm_80"


def compiled(source: Path) -> str:
    """The PTX of one example, with line information."""
    if source.suffix == ".cu":
        return toolchain.nvcc(source, ARCHITECTURE, ("-lineinfo",))
    return toolchain.triton(source, source.stem.removeprefix("triton_"), ARCHITECTURE)


def main() -> int:
    """Compile, assemble as a check, and write; 1 if a path of this machine got into a file."""
    failed = 0
    for source in sorted([*EXAMPLES.glob("*.cu"), *EXAMPLES.glob("triton_*.py")]):
        text = compiled(source)
        toolchain.ptxas(text, ARCHITECTURE)
        if paths := toolchain.paths_in(text):
            print(f"{source.name}: the PTX names {', '.join(paths)}", file=sys.stderr)
            failed = 1
        source.with_suffix(".ptx").write_text(text)
        print(f"{source.name}: {len(text)} bytes")
    return failed


if __name__ == "__main__":
    sys.exit(main())
