"""Make the images that `tests/recorded/driver/value_scenarios.py` loads: fatbins of a kernel for several architectures.

    python tools/record/driver_images.py

writes them into tests/recorded/driver/values, whose names say what is in each: `ptx80` is PTX for sm_80, `elf90a`
machine code for sm_90a, `elf90of80` machine code for sm_90 from PTX for sm_80. It takes ptxas and fatbinary of CUDA
13.0. The kernel `which` writes what it was made of: 1,000 for PTX, 2,000 for machine code, beside the number of the
architecture, and 100,000 for a suffix `a`, 200,000 for `f`.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Final

PLACE: Final = Path(__file__).parents[2] / "tests/recorded/driver/values"
IMAGES: Final = (
    "ptx80", "ptx90", "ptx90a", "ptx75-ptx80-ptx90", "ptx90-ptx90a", "ptx90a-ptx90", "ptx80-ptx90a", "ptx90-ptx100",
    "ptx100", "ptx100f", "ptx100a", "ptx80-ptx100a-ptx100f",
    "elf80-ptx80", "elf86-ptx80", "elf80", "elf89", "elf100", "elf90", "elf90a", "elf90-elf90a", "elf90a-elf90",
    "elf90of80", "elf90of80-ptx80", "elf90-ptx90", "elf90-ptx90a", "elf90a-ptx90", "elf90a-ptx90-ptx90a",
    "elf100-ptx90", "elf80-elf90of80-ptx80",
)  # fmt: skip
_VERSION: Final = {"": "7.8", "a": "8.0", "f": "8.8"}
_TEXT: Final = """\
.version {version}
.target sm_{target}
.address_size 64
.visible .entry which(.param .u64 to)
{{
    .reg .b64 %to; .reg .b32 %x;
    ld.param.u64 %to, [to]; cvta.to.global.u64 %to, %to;
    mov.u32 %x, {said}; st.global.u32 [%to], %x;
    ret;
}}
"""


def text(target: str, kind: int) -> str:
    """The PTX for a target, such as `90a`, that says that it was made so."""
    number, suffix = int(target.rstrip("af")), target[len(target.rstrip("af")) :]
    said = number + 1000 * kind + 100_000 * "af".find(suffix or "-") + 100_000
    return _TEXT.format(version=_VERSION[suffix] if number < 100 else "8.8", target=target, said=said)


def main() -> None:
    """Write all images."""
    with tempfile.TemporaryDirectory() as scratch:
        for name in IMAGES:
            command = ["fatbinary", "-64", f"--create={PLACE / name}.fatbin", "--compress-mode=size"]
            command += [_part(part, Path(scratch)) for part in name.split("-")]
            subprocess.run(command, check=True)


def _part(part: str, scratch: Path) -> str:
    """What `fatbinary` receives for a part, such as `elf90of80`, whose file is made."""
    kind, (arch, _, source) = part[:3], part[3:].partition("of")
    path = scratch / f"{part}.{kind}"
    made_of = path.with_suffix(".ptx")
    made_of.write_text(text(source or arch, 1 + (kind == "elf")))
    if kind == "elf":
        subprocess.run(["ptxas", f"-arch=sm_{arch}", "-o", str(path), str(made_of)], check=True)
    return f"--image3=kind={kind},sm={arch},file={path}"


if __name__ == "__main__":
    main()
