"""What is in a cubin: an ELF file whose sections hold machine code."""

from __future__ import annotations

import re
import struct
import subprocess
import tempfile
from pathlib import Path

from oracle.ptxas import find_ptxas

_NO_BITS = 8


def machine_code(text: str, target: str, optimisation: str = "-O1") -> dict[str, bytes]:
    """The code that ptxas makes of PTX, without what names lines and files.

    Raises:
        ValueError: ptxas refused it.
        FileNotFoundError: ptxas is not installed.
    """
    path = find_ptxas()
    if path is None:
        raise FileNotFoundError("ptxas is not installed")
    text = re.sub(r"(?m)^[ \t]*\.(loc|file)\s[^\n]*$", "", text)
    text = re.sub(r"\.section\s+\S+\s*\{[^}]*\}", "", text)
    text = re.sub(r"(?m)^(\.target [^\n]*), debug", r"\1", text)
    with tempfile.TemporaryDirectory() as name:
        source, cubin = Path(name) / "in.ptx", Path(name) / "out.cubin"
        source.write_text(text, encoding="utf-8")
        command = [path, f"-arch={target}", optimisation, "-c", "-o", str(cubin), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ValueError(done.stdout + done.stderr)
        return code_sections(cubin.read_bytes())


def code_sections(cubin: bytes) -> dict[str, bytes]:
    """The sections of a cubin that hold code, constants and initialised data, by name."""
    (table,) = struct.unpack_from("<Q", cubin, 40)
    count, names = struct.unpack_from("<HH", cubin, 60)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + 64 * index) for index in range(count)]
    found: dict[str, bytes] = {}
    for name, kind, _, _, start, size in headers:
        first = headers[names][4] + name
        title = cubin[first : cubin.index(0, first)].decode()
        if title.startswith((".text", ".nv.constant", ".nv.global")) and kind != _NO_BITS:
            found[title] = cubin[start : start + size]
    return found
