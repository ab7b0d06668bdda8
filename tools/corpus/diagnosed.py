"""Compile the kernels that the diagnosis is tried on: `python tools/corpus/diagnosed.py`.

The PTX in `tests/diagnosis/ptx` is committed.
"""

from __future__ import annotations

from pathlib import Path

import toolchain

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "diagnosis"
ARCHITECTURE = "sm_90a"


def main() -> None:
    """Write the PTX of every source."""
    for source in sorted((FOLDER / "src").glob("*.cu")):
        text = toolchain.nvcc(source, ARCHITECTURE, ("-lineinfo",))
        (FOLDER / "ptx" / f"{source.stem}.ptx").write_text(text)


if __name__ == "__main__":
    main()
