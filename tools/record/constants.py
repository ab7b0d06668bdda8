"""Record what ptxas makes of constant expressions: `python tools/record/constants.py` (needs `nvidia-cuda-nvcc`)."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from oracle.cubin import machine_code
from oracle.ptxas import release
from recorded.ptxas.constant_cases import FILE, REFUSED, expressions, module_text


def asked(texts: tuple[str, ...]) -> dict[str, int | None]:
    """The values of expressions; those of a module that is refused are asked in halves."""
    try:
        (data,) = (d for n, d in machine_code(module_text(texts), "sm_90").items() if n.startswith(".nv.global"))
    except ValueError:
        if len(texts) == 1:
            return {texts[0]: None}
        half = len(texts) // 2
        return asked(texts[:half]) | asked(texts[half:])
    return dict(zip(texts, struct.unpack(f"<{len(texts)}Q", data[8:]), strict=True))


if __name__ == "__main__":
    said = asked(expressions())
    rows = (f"{text}\t{REFUSED if value is None else f'{value:x}'}\n" for text, value in said.items())
    FILE.write_text(f"# ptxas {release()}\n{''.join(rows)}", encoding="utf-8")
