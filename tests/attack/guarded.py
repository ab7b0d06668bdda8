"""Launches that mean harm, in a process of their own, with guard zones around all memory in reach.

Every array, every variable of a module and every piece of the machine's own state lies between pages that no code may
touch, against the one behind it; what is left of its pages holds canaries. `attack` runs launches in a child process
and says of each how it ended: a crash costs that one launch, another child starts with the next.

Arrays lie at addresses known beforehand (`room`), so that a launch can be aimed at them.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import itertools
import json
import os
import pickle
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from attack.tiers import prepare
from attack.zones import Zone, Zones, guard

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


ROOM_BYTES: Final = 256  # of an array, unless said
_AREA: Final = 1 << 44  # where nothing is mapped otherwise
_APART: Final = 1 << 24
_FILL: Final = 0x11  # what an array holds before
_SECONDS: Final = 1800  # of all launches of a test: hundreds, the kernels compiled first, on a machine that may be busy


def room(number: int, size: int = ROOM_BYTES) -> int:
    """The address of the `number`th array of a launch if it has `size` bytes: it ends where a guard page begins."""
    return _AREA + (number + 1) * _APART - size


@dataclass(frozen=True, slots=True)
class Room:
    """An argument: an array of `size` bytes, which the kernel may (or may only read)."""

    size: int = ROOM_BYTES
    writable: bool = True


@dataclass(frozen=True, slots=True)
class Attack:
    """One launch: PTX, and everything `Kernel.launch` takes."""

    ptx: str
    args: tuple[int | Room, ...] = ()
    grid: int = 1
    block: int = 32
    cluster: int | None = None
    shared_bytes: int = 0
    checks: tuple[str, ...] = ("memcheck", "synccheck")
    profile: bool = False
    trace: tuple[str, ...] = ()
    provenance: bool = False
    threads: int = 1
    timeout: float | None = 300.0
    name: str = "k"
    label: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a launch ended.

    Attributes:
        kind: `done`; `fault` (the kernel was ended by a report); `refused` (nothing ran); `traceback` (another
            exception: a bug of ours); `crash` (the process died); `hung`.
        hazards: Tool and kind of each hazard, such as `memcheck.out-of-bounds`.
        words: The message.
        broken: Guard zones whose canaries have changed.
        written: By array, the bytes that have changed: [first, end).
    """

    kind: str
    hazards: tuple[str, ...] = ()
    words: str = ""
    broken: tuple[str, ...] = ()
    written: tuple[tuple[int, int], ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the machine held: no crash, no bug, no byte outside what the launch was given."""
        return self.kind in {"done", "fault", "refused"} and not self.broken


def attack(launches: Sequence[Attack]) -> tuple[Outcome, ...]:
    """Run launches in child processes, one after the other; how each ended."""
    outcomes: list[Outcome] = []
    while len(outcomes) < len(launches):
        found, ended = _child(launches[len(outcomes) :])
        outcomes += found
        if len(outcomes) < len(launches):
            outcomes.append(ended)
    return tuple(outcomes)


def failures(launches: Sequence[Attack]) -> list[str]:
    """The launches that did not run, or that the machine did not hold against, in words."""
    ends = zip(launches, attack(launches), strict=True)
    return [f"{one.label or one.ptx}: {end}" for one, end in ends if not end.holds or end.kind == "refused"]


def _child(launches: Sequence[Attack]) -> tuple[list[Outcome], Outcome]:
    """The outcomes that a child gave, and what became of it if it gave fewer than there are launches."""
    child = _SERVING.pop() if _SERVING else _Child()
    found = child.run(launches)
    if len(found) == len(launches):
        _SERVING.append(child)
        return found, Outcome("done")
    return found, child.end()


class _Child:
    """A process that runs launches until it dies: to start one takes a second."""

    def __init__(self) -> None:
        tests = Path(__file__).parents[1]
        path = os.pathsep.join([str(tests), *sys.path])
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._is_late = False
        self._process = subprocess.Popen(
            (sys.executable, "-X", "faulthandler", "-m", "attack.guarded"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env={**os.environ, "PYTHONPATH": path},
        )

    def run(self, launches: Sequence[Attack]) -> list[Outcome]:
        """The outcomes of launches, as many as it lives to tell."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        watch = threading.Timer(_SECONDS, self._stop)
        watch.start()
        try:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(pickle.dumps(tuple(launches)))
                self._process.stdin.flush()
            return [_read(line) for line in itertools.islice(self._process.stdout, len(launches))]
        finally:
            watch.cancel()

    def _stop(self) -> None:
        self._is_late = True
        self._process.kill()

    def end(self) -> Outcome:
        """What became of it; it goes."""
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate()  # which closes what it reads from: it ends, if it has not
        self._words.seek(0)
        said = self._words.read().decode(errors="replace")
        self._words.close()
        return (
            Outcome("hung")
            if self._is_late
            else Outcome("crash", words=f"exit {self._process.returncode}\n{said[-600:]}")
        )


_SERVING: Final[list[_Child]] = []


@atexit.register
def _end() -> None:
    while _SERVING:
        _SERVING.pop().end()


def _read(line: bytes) -> Outcome:
    kind, hazards, words, broken, written = json.loads(line)
    ranges = tuple((int(first), int(end)) for first, end in written)
    return Outcome(kind, tuple(hazards), words, tuple(broken), ranges)


# ---------------------------------------------------------------------------------------------------------- the child


def _run(one: Attack, zones: Zones, rooms: dict[tuple[int, int], Zone]) -> list[object]:
    """Launch; how it ended, as JSON."""
    import ptxloom as pl  # noqa: PLC0415 - of the child alone

    given: list[Zone] = []
    args: list[object] = []
    for argument in one.args:
        if isinstance(argument, int):
            args.append(argument)
            continue
        key = (len(given), argument.size)
        if key not in rooms:
            for old in [k for k in rooms if k[0] == key[0]]:
                rooms.pop(old).release()
            rooms[key] = Zone(argument.size, 1, f"array {len(given)}", room(*key))
        given.append(rooms[key])
        content = rooms[key].content
        content[:] = _FILL
        content.flags.writeable = argument.writable
        args.append(content)
    hazards: Iterable[Any] = ()
    kind, words = "done", ""
    try:
        made = _kernel(one, zones)
        if not (one.profile or one.trace or one.provenance):
            prepare(made, one.checks)
        result = made.launch(
            one.grid,
            one.block,
            args,
            one.shared_bytes,
            cluster=one.cluster,
            checks=one.checks,
            profile=one.profile,
            trace=one.trace,
            provenance=pl.Provenance(budget=1 << 20) if one.provenance else False,
            threads=one.threads,
            timeout=one.timeout,
        )
        hazards = result.hazards
    except pl.LaunchError as error:
        kind, words, hazards = "fault", str(error), error.hazards
    except pl.PtxloomError as error:
        kind, words = "refused", str(error)
    except Exception as error:  # noqa: BLE001 - it is reported
        kind, words = "traceback", repr(error)
    broken = [zone.name for zone in given if zone.is_broken()] + zones.check()
    written: list[tuple[int, int]] = []
    for zone in given:
        changed = np.flatnonzero(zone.content != _FILL)
        written.append((int(changed[0]), int(changed[-1]) + 1) if len(changed) else (0, 0))
    return [kind, [f"{h.tool}.{h.kind}" for h in hazards], words[:600], broken, written]


_KERNELS: Final[dict[tuple[str, str], object]] = {}


def _kernel(one: Attack, zones: Zones) -> Any:
    """The kernel of a launch; the last one is kept, as neighbours share it, and what others took is given back."""
    import ptxloom as pl  # noqa: PLC0415 - of the child alone

    key = (one.ptx, one.name)
    if key not in _KERNELS:
        _KERNELS.clear()
        gc.collect()  # a process has 65,530 maps, a zone takes three, and launches may hold themselves
        zones.check()
        zones.release_kept()
        _KERNELS[key] = pl.kernel(pl.parse(one.ptx), one.name)
    return _KERNELS[key]


def _serve() -> None:
    zones, rooms = Zones(), dict[tuple[int, int], Zone]()
    guard(zones)
    with contextlib.suppress(EOFError):
        while True:
            launches = cast("tuple[Attack, ...]", pickle.load(sys.stdin.buffer))  # noqa: S301 - from our own parent
            for one in launches:
                sys.stdout.write(json.dumps(_run(one, zones, rooms)) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    sys.modules["attack.guarded"] = sys.modules["__main__"]
    _serve()
