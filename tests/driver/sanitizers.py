"""The driver's libraries compiled with a sanitizer, where `PTXLOOM_SANITIZER` names one, and programs that run on them.

Programs are not compiled with it: the sanitizer's run-time is loaded before all else. What it reports goes into files,
and fails the test that ran the program (`make sanitizers` runs all tests that have one). `python -m driver.sanitizers`
is the server for such programs.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.cuda_driver import build, regions, server
from ptxloom.cuda_driver.environment import environment

if TYPE_CHECKING:
    from collections.abc import Mapping

_NO_RANDOM_ADDRESSES: Final = 0x0040000  # of `personality`


@dataclass(frozen=True, slots=True)
class Sanitizer:
    """One that gcc has.

    Attributes:
        flags: For the compiler.
        runtime: What has to be loaded first.
        settings: Variables of a program, in which `{reports}` stands for where reports go.
    """

    flags: tuple[str, ...]
    runtime: str
    settings: Mapping[str, str]


SANITIZERS: Final = {
    "address": Sanitizer(
        ("-fsanitize=address",),
        "libasan.so",
        {
            "ASAN_OPTIONS": "log_path={reports}:detect_leaks=0:detect_stack_use_after_return=1",  # Python leaks, too
            "PYTHONMALLOC": "malloc",  # whose blocks are guarded: what a program hands to the driver ends where it ends
        },
    ),
    "undefined": Sanitizer(
        ("-fsanitize=undefined", "-fno-sanitize-recover=undefined"),
        "libubsan.so",
        {"UBSAN_OPTIONS": "log_path={reports}:print_stacktrace=1"},
    ),
    "thread": Sanitizer(("-fsanitize=thread",), "libtsan.so", {"TSAN_OPTIONS": "log_path={reports}"}),
}
CHOSEN: Final = SANITIZERS.get(os.environ.get("PTXLOOM_SANITIZER", ""))
_FLAGS: Final = ("-g", "-fno-omit-frame-pointer")

if CHOSEN is SANITIZERS["thread"]:  # which lets memory lie at few addresses, and none of them at random ones
    for name_, count_ in {"_FIRST": 64, "_SPACE": 440, "_STEP": 273, "_MOST": 8, "_USUAL": 8}.items():
        setattr(regions, name_, count_ << 30)
    ctypes.CDLL(None).personality(_NO_RANDOM_ADDRESSES)


def surroundings(socket: str) -> dict[str, str]:
    """The environment of a program that shall run on a server: on libraries as they are, or as this run wants them."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    if CHOSEN is None:
        return environment(build.folder(), socket, plain)
    folder = _folder()
    made = environment(folder, socket, plain)
    made |= {name: value.format(reports=folder / "report") for name, value in CHOSEN.settings.items()}
    return made | {"LD_PRELOAD": f"{_runtime(CHOSEN.runtime)}:{made['LD_PRELOAD']}"}


def reports() -> str:
    """What was reported since this was asked last."""
    found = sorted(_folder().glob("report.*")) if CHOSEN is not None and _folder.cache_info().currsize else []
    told = "\n".join(one.read_text(errors="replace") for one in found)
    for one in found:
        one.unlink()
    return told


def compile_(source: str, place: Path) -> None:
    """Compile a library as those of the driver are."""
    assert CHOSEN is not None
    command = ["gcc", *build.FLAGS, *CHOSEN.flags, *_FLAGS, "-x", "c", "-", "-o", str(place)]
    subprocess.run(command, input=source, text=True, check=True)


@cache
def _folder() -> Path:
    """Where the libraries lie, and reports."""
    assert CHOSEN is not None
    made = Path(tempfile.mkdtemp(prefix="ptxloom-sanitized-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    build.build(made, (*CHOSEN.flags, *_FLAGS))
    return made


@cache
def _runtime(name: str) -> str:
    found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


if __name__ == "__main__":
    server.main(sys.argv[1:])
    os._exit(0)
