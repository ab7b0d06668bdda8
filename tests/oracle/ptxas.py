"""ptxas as a judge: where it is, and what it says about each line of a module."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_ERROR = re.compile(r"^ptxas (?!<builtin>)[^,\n]*, line (\d+); (error|fatal)\s*: (.*)$", re.MULTILINE)
_NARROW = re.compile(r"Program uses 32-bit address on line '(\d+)'")
_PATIENCE = 60  # seconds; some illegal statements keep ptxas busy without end
_MOST_MEMORY = 4 << 30
_RENAMED = {"sm_101": "sm_110", "sm_101a": "sm_110a", "sm_101f": "sm_110f"}


@cache
def find_ptxas() -> str | None:
    """The path of ptxas: `$PTXAS`, the package `nvidia-cuda-nvcc`, or the search path."""
    named = os.environ.get("PTXAS")
    package = find_spec("nvidia")
    folders = [Path(place) for place in (package.submodule_search_locations or ())] if package else []
    inside = [str(path) for folder in folders for path in sorted(folder.glob("cu*/bin/ptxas"))]
    return named or next(iter(inside), None) or shutil.which("ptxas")


def release() -> str:
    """Which ptxas it is: "13.5.37"; empty if there is none."""
    path = find_ptxas()
    if path is None:
        return ""
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"V(\d+\.\d+\.\d+)", said)
    return found[1] if found else ""


class Verdict:
    """What ptxas says about a module: whether it takes the whole, and the errors of each line."""

    def __init__(self, accepted: bool, errors: dict[int, tuple[str, ...]], fatal: bool, output: str) -> None:
        self.accepted = accepted
        self.errors = errors
        self.fatal = fatal
        self.output = output


def _bounded() -> None:
    """Some illegal statements make ptxas take all memory."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))


def assemble(text: str, target: str) -> Verdict:
    """ptxas's verdict on a module, assembled for its own target."""
    path = find_ptxas()
    if path is None:
        raise FileNotFoundError("ptxas is not installed")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "case.ptx"
        source.write_text(text, encoding="utf-8")
        arch = _RENAMED.get(target, target)
        command = [path, "-arch", arch, "-O0", str(source), "-o", os.devnull]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_PATIENCE, preexec_fn=_bounded
            )
        except subprocess.TimeoutExpired:
            return Verdict(False, {}, True, "ptxas does not end")
    output = done.stdout + done.stderr
    errors: dict[int, list[str]] = {}
    fatal = False
    if "32-Bit ABI" in output or "32-bit compilation" in output.lower():
        for line in _NARROW.findall(output):
            errors.setdefault(int(line), []).append("an address of 32 bits")
    for match in _ERROR.finditer(output):
        errors.setdefault(int(match[1]), []).append(match[3])
        fatal = fatal or match[2] == "fatal"
    return Verdict(done.returncode == 0, {line: tuple(said) for line, said in errors.items()}, fatal, output)
