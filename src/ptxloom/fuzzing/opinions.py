"""Opinions on programs: each judge's final frames of their threads.

`machine` is ptxloom by default. Other ways to run it on this machine must agree: `threads`, `order`, `tools`, `cache`,
`alone`, `hot` and `interpreter`. `gpu:N` is the GPU, its driver's compiler at level N; `ptxas:N` the GPU, code from a
ptxas at level N.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.conformance.gpu import Driver, GpuError
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.fuzzing.banks import BLOCK, FRAME_BYTES
from ptxloom.fuzzing.engines import TEXTURE, texture
from ptxloom.fuzzing.interpreted import interpreted
from ptxloom.fuzzing.nodes import CLUSTER
from ptxloom.fuzzing.writer import KERNEL, module_text, names_of
from ptxloom.isa.target import Target
from ptxloom.isa.version import PtxVersion
from ptxloom.machine import kernel
from ptxloom.machine import texture as pictured
from ptxloom.machine.port.prepare import compiled
from ptxloom.meaning.form import Unreadable
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from ptxloom.conformance.scenes.things import TextureObject
    from ptxloom.fuzzing.frames import Frames
    from ptxloom.fuzzing.nodes import Program

MACHINE: Final = "machine"
OWN: Final = ("threads", "order", "tools", "cache", "alone", "hot", "interpreter")
"""Opinions that need nothing but this machine."""
LEVELS: Final = 4
"""Levels of NVIDIA's compilers: 0 to 3."""
_SECONDS: Final = 600
_TOOLS: Final = ("memcheck", "synccheck", "racecheck", "racecheck:global", "initcheck")
_WATCHED: Final[dict[str, dict[str, Any]]] = {
    "threads": {"threads": 2},
    "order": {"schedule_seed": 7},
    "tools": {"checks": _TOOLS, "profile": True, "provenance": True},
}


@dataclass(frozen=True, slots=True)
class Jury:
    """The judges, and the target.

    Attributes:
        target: The target of programs.
        version: The version of PTX.
        opinions: The opinions besides the machine's own.
        ptxas: The file of the ptxas that `ptxas:N` uses.
    """

    target: str
    version: str
    opinions: tuple[str, ...] = ("threads", "order", "tools")
    ptxas: str = ""

    def text(self, programs: Sequence[Program], beside: Sequence[Program] = ()) -> str:
        """The module of programs; banks and cells of the programs in `beside` are stored as well."""
        return module_text(programs, Target.parse(self.target), PtxVersion.parse(self.version), beside)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a judge has no results.

    Attributes:
        why: The reason in words.
        unread: Whether it does not support such programs, which is not a finding.
    """

    why: str
    unread: bool = False


def frames_of(
    opinion: str, jury: Jury, programs: Sequence[Program], given: Frames, beside: Sequence[Program] = ()
) -> Frames | Refused:
    """The results of one kernel's programs: `(programs, threads, FRAME_BYTES)`.

    Args:
        opinion: The judge.
        jury: The jury, with the target.
        programs: The programs.
        given: The initial frames of their threads.
        beside: Other programs, whose registers are stored as well.
    """
    count = CLUSTER if programs[0].clustered else 1
    out = np.zeros((len(programs), count * BLOCK, FRAME_BYTES), np.uint8)
    kind, _, level = opinion.partition(":")
    text = jury.text(programs, beside)
    judges: dict[str, Callable[[], Frames | Refused]] = {
        "alone": lambda: _alone(jury, programs, out, given),
        "hot": lambda: _hot(jury, programs, out, given),
        "interpreter": lambda: _interpreted([*programs, *beside], len(programs), given, out),
        "gpu": lambda: _on_gpu(int(level), text.encode(), out, given, _thing(text)),
        "ptxas": lambda: _by_ptxas(jury, int(level), text, out, given),
        "cache": lambda: _kept(text, out, given),
    }
    try:
        return judges.get(kind, lambda: _here(text, out, given, **_WATCHED.get(kind, {})))()
    except PtxloomError as error:
        return Refused(f"{opinion}: {str(error).partition(chr(10))[0]}")


def _kept(text: str, out: Frames, given: Frames) -> Frames | Refused:
    """Run twice: the second time with machine code from the disk."""
    with _cache_of_its_own():
        _here(text, np.zeros_like(out), given)
        return _here(text, out, given)


def _here(text: str, out: Frames, given: Frames, *, prepare: bool = False, **how: Any) -> Frames | Refused:
    """Run programs in this process; with `prepare`, compile their code before their time starts."""
    blocks = out.shape[0] * out.shape[1] // BLOCK
    how = {"threads": 1, "timeout": _SECONDS} | how
    made, thing = kernel(parse(text), KERNEL), _thing(text)
    more = [pictured(thing.levels, thing.geometry, **thing.sampling)] if thing is not None else []
    if prepare:
        compiled(made)
    result = made.launch(blocks, BLOCK, [out.reshape(-1), given.reshape(-1), *more], **how)
    if result.hazards:
        return Refused(f"hazard: {str(result.hazards[0]).partition(chr(10))[0]}")
    return out


def _thing(text: str) -> TextureObject | None:
    """The texture, if a module's kernel takes one."""
    return texture() if f".param .u64 {TEXTURE}" in text else None


def _alone(
    jury: Jury, programs: Sequence[Program], out: Frames, given: Frames, *, prepare: bool = False
) -> Frames | Refused:
    """Each program in a kernel of its own."""
    for at, program in enumerate(programs):
        left = _here(jury.text([program], programs), out[at : at + 1], given, prepare=prepare)
        if isinstance(left, Refused):
            return left
    return out


def _hot(jury: Jury, programs: Sequence[Program], out: Frames, given: Frames) -> Frames | Refused:
    """Each program in a kernel of its own, in the hot tier, for which a kernel of all would be too long."""
    with _variable("PTXLOOM_TIER", "hot"):
        return _alone(jury, programs, out, given, prepare=True)


def _interpreted(programs: Sequence[Program], asked: int, given: Frames, out: Frames) -> Frames | Refused:
    """The results of the first programs."""
    used = {name for one in programs for name in names_of(one)}
    try:
        for at, program in enumerate(programs[:asked]):
            out[at] = interpreted(program, used, given)
    except (Unreadable, KeyError, ValueError) as reason:
        return Refused(f"not read: {reason}", unread=True)
    return out


@contextmanager
def _cache_of_its_own() -> Generator[None]:
    """Use a new folder as the cache in this context."""
    with tempfile.TemporaryDirectory() as folder, _variable("PTXLOOM_CACHE", folder):
        yield


@contextmanager
def _variable(name: str, value: str) -> Generator[None]:
    """Set an environment variable in this context."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@cache
def _driver(level: int) -> Driver:
    return Driver(level)


def _on_gpu(
    level: int, image: bytes, out: Frames, given: Frames, thing: TextureObject | None = None
) -> Frames | Refused:
    blocks = out.shape[0] * out.shape[1] // BLOCK
    driver = _driver(level)
    try:
        why = driver.run_image(image, KERNEL, (blocks, BLOCK), (out, given), thing)
    except GpuError as error:
        driver.reset()
        _driver.cache_clear()
        return Refused(f"the GPU: {error}")
    return Refused(why.partition("\n")[0]) if why else out


def _by_ptxas(jury: Jury, level: int, text: str, out: Frames, given: Frames) -> Frames | Refused:
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder) / "k.ptx", Path(folder) / "k.cubin"
        source.write_text(text, encoding="utf-8")
        command = [jury.ptxas, f"-arch={jury.target}", f"-O{level}", "-o", str(cubin), str(source)]
        run = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if run.returncode:
            said = (run.stderr + run.stdout).replace(str(source), "k.ptx").splitlines()
            return Refused(next((line for line in said if "error" in line or "fatal" in line), "ptxas failed"))
        return _on_gpu(level, cubin.read_bytes(), out, given, _thing(text))
