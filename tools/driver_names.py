"""Write `cuda_driver/names.txt`: what the functions, errors and attributes of a driver are called and numbered.

    python tools/driver_names.py INCLUDE_FOLDER > src/ptxloom/cuda_driver/names.txt

The folder is a CUDA toolkit's (`cuda.h`, `cudaGL.h` and their like). Names, numbers and versions are taken, no text. It
takes a C compiler, which preprocesses the headers; what these include of graphics is left out.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = """\
# The driver's names, written by tools/driver_names.py: of functions with the versions that cuGetProcAddress knows and
# the symbol of each, of symbols that stand for another one, of errors and of device attributes."""


_GRAPHICS = ("cudaGL", "cudaEGL", "cudaVDPAU")
_OF_OTHERS = ("GL/gl.h", "EGL/egl.h", "EGL/eglext.h", "vdpau/vdpau.h")


def main(include: Path) -> None:
    """Print the file."""
    print(_HEAD)
    text = _preprocessed(include)
    typedefs = "".join((include / f"{name}Typedefs.h").read_text() for name in ("cuda", "cudaProfiler", *_GRAPHICS))
    version = re.search(r"#define CUDA_VERSION (\d+)", (include / "cuda.h").read_text())
    print(f"version {version[1] if version else 0}")
    for line in (*_functions(text, typedefs), *_errors(text), *_attributes(text)):
        print(line)


def _preprocessed(include: Path) -> str:
    """The declarations of all headers, with nothing in those of graphics libraries."""
    with tempfile.TemporaryDirectory() as folder:
        for name in _OF_OTHERS:
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).touch()
        headers = [f"-include{include / name}.h" for name in ("cuda", *_GRAPHICS)]
        command = ["cc", "-E", "-P", "-D__CUDA_API_VERSION_INTERNAL", f"-I{include}", f"-I{folder}", *headers]
        return subprocess.run([*command, "-xc", "/dev/null"], capture_output=True, text=True, check=True).stdout


def _functions(text: str, typedefs: str) -> Iterator[str]:
    symbols = {*re.findall(r"CUresult\s+(cu\w+)\s*\(", text)}
    versions: dict[str, set[int]] = defaultdict(set)
    for name, version, stream in re.findall(r"\*PFN_(cu\w+?)_v(\d+)(_ptds|_ptsz)?\)", typedefs):
        if not stream:
            versions[name].add(int(version))
    del versions["cuWGLGetDevice"]  # of another system
    for name, known in sorted(versions.items()):
        own = [s for s in symbols if re.fullmatch(rf"{name}(_v\d+)?", s)] or [name]
        own.sort(key=lambda s: (len(s), s))
        pairs = zip(sorted(known), own, strict=True)
        yield f"function {name} " + " ".join(f"{version} {symbol}" for version, symbol in pairs)
    for symbol in sorted(symbols):
        if symbol.endswith(("_ptds", "_ptsz")):
            yield f"alias {symbol} {symbol.rpartition('_')[0]}"


def _errors(text: str) -> Iterator[str]:
    for name, number in re.findall(r"(CUDA_(?:SUCCESS|ERROR_\w+))\s*=\s*(\d+)", text):
        yield f"error {number} {name}"


def _attributes(text: str) -> Iterator[str]:
    seen: set[int] = set()
    for name, number in re.findall(r"CU_DEVICE_ATTRIBUTE_(\w+)\s*=\s*(\d+)", text):
        if int(number) not in seen and name != "MAX":
            seen.add(int(number))
            yield f"attribute {number} {name}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
