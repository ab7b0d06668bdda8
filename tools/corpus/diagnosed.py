"""Compile the kernels that the diagnosis is tried on: `python tools/corpus/diagnosed.py`.

The PTX in `tests/diagnosis/ptx` and `tests/diagnosis/reports/ptx` is committed. Of a report's kernel there are two: as
it was reported (`FAULT` is defined), and as it should be.
"""

from __future__ import annotations

from pathlib import Path

import toolchain

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "diagnosis"
REPORTS = FOLDER / "reports"
ARCHITECTURE = "sm_90a"


def main() -> None:
    """Write the PTX of every source."""
    for source in sorted((FOLDER / "src").glob("*.cu")):
        text = toolchain.nvcc(source, ARCHITECTURE, ("-lineinfo",))
        (FOLDER / "ptx" / f"{source.stem}.ptx").write_text(text)
    for source in sorted((REPORTS / "src").glob("*.cu")):
        for version, flags in (("right", ()), ("faulty", ("-DFAULT",))):
            text = toolchain.nvcc(source, ARCHITECTURE, ("-lineinfo", *flags))
            (REPORTS / "ptx" / f"{source.stem}-{version}.ptx").write_text(text)


if __name__ == "__main__":
    main()
