"""Attack after attack in processes of their own: a crash, a hang, a leak or a traceback is a case that failed.

`python -m attack.siege --seconds 3600` runs until the time is up and prints every case that failed with its number;
`python -m attack.siege --case 1234` prints a program and runs it.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from attack.forging import FORGED
from attack.guarded import room
from attack.hostile import Hostile, Pool, hostile, pool
from attack.objects import Objects, map_of
from attack.tiers import choose, prepare
from attack.zones import Zone, Zones, guard
from ptxloom import Provenance, kernel, parse
from ptxloom.diagnostics import PtxloomError

ARRAY_BYTES: Final = 8192
LATE: Final = "late"  # a program whose time was up, which may be the machine's doing
_A_PROCESS: Final = 300  # cases before a process is replaced
_A_CACHE: Final = 10  # processes that share the run-time's machine code
_STATEMENTS: Final = "statements.json"
_HANGS: Final = 300.0  # seconds without a word: the first cases compile the run-time, on a machine that may be busy
_LAUNCH_SECONDS: Final = 5.0  # what a case may take, its translation included
_LAUNCH_BYTES: Final = 1 << 30
_KEPT_BYTES: Final = 1 << 20  # by provenance
_PROCESS_BYTES: Final = 4 << 30
_WORDS: Final = (bytes.fromhex("d3c29eb79a5e71c3"), bytes.fromhex("b1a7f3e586d94c2b"))


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that failed, and how."""

    seed: int
    why: str


@dataclass(slots=True)
class Siege:
    """What a siege has come to: the next case, those that failed, and how often each outcome was met."""

    number: int
    failures: list[Failure] = field(default_factory=list[Failure])
    outcomes: dict[str, int] = field(default_factory=dict[str, int])


def run(case: Hostile, zones: Zones, word: bytes = _WORDS[0]) -> str:
    """Run a case in this process, whose memory `guard` has put between guard zones.

    Two secrets that no kernel was given lie in reach, one of them right behind an array that it was given; their
    addresses are among the kernel's arguments.

    Returns:
        `ran`, `LATE` if its time was up, or the class of the exception that ended it.

    Raises:
        AssertionError: Something outside of what the launch was given was read or written.
    """
    given = Zone(ARRAY_BYTES, 1, "array", room(0, ARRAY_BYTES))
    fixed = Zone(ARRAY_BYTES, 1, "array that may only be read", room(1, ARRAY_BYTES))
    secrets = [Zone(ARRAY_BYTES, 1, "secret", room(2, ARRAY_BYTES)), Zone(ARRAY_BYTES, 64, "secret")]
    chance = np.random.default_rng(case.seed)
    given.content[:] = chance.integers(0, 256, ARRAY_BYTES, np.uint8)
    pattern = np.frombuffer(word * (ARRAY_BYTES // len(word)), np.uint8)
    for secret in secrets:
        secret.content[:] = pattern
    readable = fixed.content
    readable.flags.writeable = False
    targets = [zone.address for zone in (*secrets, *secrets, *zones.live)]
    forged = chance.choice(np.array(targets, np.uint64), FORGED)
    objects = Objects(chance)
    outcome, output = "ran", ""
    try:
        choose(case.tier)
        made = kernel(parse(case.text), "k")
        if not (case.profile or case.trace or case.provenance):
            prepare(made, case.checks)
        result = made.launch(
            case.grid,
            case.block,
            [given.content, readable, forged.tobytes(), objects.handles, map_of(given.content, chance)],
            case.shared_bytes,
            cluster=case.cluster,
            checks=case.checks,
            profile=case.profile,
            trace=case.trace,
            provenance=Provenance(budget=_KEPT_BYTES) if case.provenance else False,
            stack_bytes=case.stack_bytes,
            schedule_seed=case.seed,
            textures=objects.all,
            heap_bytes=case.heap_bytes,
            threads=case.threads,
            timeout=_LAUNCH_SECONDS,
            memory_limit=_LAUNCH_BYTES,
        )
        output = result.output
    except PtxloomError as error:
        outcome = LATE if "time limit" in str(error) else type(error).__name__
    arrays = (given, fixed, *secrets, *objects.zones)
    broken = [*zones.check(), *(zone.name for zone in arrays if zone.is_broken())]
    broken += [zone.name for zone in secrets if bytes(zone.content) != bytes(pattern)]
    seen = given.content.tobytes() + output.encode(errors="surrogateescape")
    touched = bool(fixed.content.any())
    for zone in arrays:
        zone.release()
    zones.release_kept()
    assert not broken, f"written: {', '.join(broken)}"
    assert not touched, "memory that may only be read was written"
    if word[:4] in seen or word[4:] in seen:  # chance can make half a word, but not of two
        assert word == _WORDS[0], "a secret was read"
        return run(case, zones, _WORDS[1])
    return outcome


def siege(seconds: float, start: int = 0, limit: int = sys.maxsize, *, keep: bool = False) -> Siege:
    """Run cases from a number on, in processes of their own, until the time is up or `limit` have been run.

    Args:
        seconds: How long.
        start: The first case.
        limit: How many at most.
        keep: Whether their machine code may stay in the user's cache, where that of the run-time lies already.
    """
    ends = time.monotonic() + seconds
    found = Siege(start)
    statements = json.dumps(pool())
    while time.monotonic() < ends and found.number < start + limit:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / _STATEMENTS).write_text(statements)
            for _ in range(_A_CACHE):
                last = min(found.number + _A_PROCESS, start + limit)
                _besiege(found, last, ends, folder, {} if keep else {"PTXLOOM_CACHE": folder})
                if time.monotonic() > ends or found.number >= start + limit:
                    break
    return found


def _besiege(found: Siege, last: int, ends: float, folder: str, environment: dict[str, str]) -> None:
    """One process, until it is through, dies or the time is up."""
    command = [sys.executable, "-m", "attack.siege", "--serve", folder, str(found.number), str(last)]
    tests = Path(__file__).parents[1]
    path = os.pathsep.join([str(tests), *sys.path])
    last_words: list[str] = []
    with subprocess.Popen(
        command,
        env={**os.environ, **environment, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            word, _, rest = line.strip().partition(" ")
            if word not in {"DONE", "FAILED"}:
                last_words = [*last_words[-11:], line.strip()]
                continue
            if word == "DONE":
                found.outcomes[rest] = found.outcomes.get(rest, 0) + 1
            else:
                found.failures.append(Failure(found.number, rest))
            found.number += 1
            last_words = []
            if time.monotonic() > ends:
                child.kill()
                return
    if child.returncode and found.number < last:
        why = f"the process ended with {child.returncode}: {' | '.join(last_words)}"
        found.failures.append(Failure(found.number, why))
        found.number += 1


def _serve(folder: str, first: int, last: int) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (_PROCESS_BYTES, _PROCESS_BYTES))
    statements: Pool = json.loads((Path(folder) / _STATEMENTS).read_text())
    zones = Zones()
    guard(zones)
    for seed in range(first, last):
        faulthandler.dump_traceback_later(_HANGS, exit=True)
        try:
            said = f"DONE {run(hostile(seed, statements), zones)}"
        except BaseException:  # noqa: BLE001 - whatever it is, it is reported
            said = "FAILED " + " | ".join(traceback.format_exc().strip().splitlines()[-7:])
        sys.stdout.write(said + "\n")
        sys.stdout.flush()
        if said.startswith("FAILED"):
            return  # its zones may be left behind: the next case gets a process of its own


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--case", type=int)
    parser.add_argument("--serve", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        folder, first, last = options.serve
        _serve(folder, int(first), int(last))
        return 0
    if options.case is not None:
        case = hostile(options.case, pool())
        zones = Zones()
        guard(zones)
        sys.stdout.write(f"{case.text}\n{run(case, zones)}\n")
        return 0
    found = siege(options.seconds, options.start)
    for failure in found.failures:
        sys.stdout.write(f"case {failure.seed}: {failure.why}\n")
    sys.stdout.write(f"{found.number - options.start} cases, {len(found.failures)} failed; {found.outcomes}\n")
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main())
