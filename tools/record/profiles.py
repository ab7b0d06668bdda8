"""Record what ncu counts for memory accesses, branches and whole kernels on an sm_90 GPU.

Run from the repository root: `PYTHONPATH=src:tests OUT=folder python3 tools/record/profiles.py [PART]`, where a part is
patterns, atomics or kernels. Needs the driver, ncu, ptxas and NumPy. Writes, under `$OUT`:

- `patterns.npz`: `counts` (cases, counters), `counters`: each case of `recorded/profile/profile_cases.py`, one warp;
- `kernels.npz`: `counts` (launches, counters), `counters`, `names`: each real kernel of `tests/kernels` and the
  examples, assembled without optimisation (`O0`: instructions stay what the PTX says) and with (`O3`);
- `atomics.npz`: as `patterns.npz`, of more atomic operations;
- `profile.json`: the GPU and the tools.

A count that ncu does not give is -1. Cases run in chunks, one ncu each; what is left at the time limit stays -1.
"""

from __future__ import annotations

import csv
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from kernel_cases import Driver, parameter_types, to_bytes

ROOT = Path(__file__).resolve().parents[2]
for folder in ("tests", "src"):
    sys.path.insert(0, str(ROOT / folder))

from kernels.catalog import cases  # noqa: E402 - the folder is put on the path above
from recorded.profile.profile_cases import GLOBAL_BYTES, atomic_cases, profile_cases  # noqa: E402 - likewise
from recorded.profile.profile_examples import Example, examples  # noqa: E402 - likewise
from recorded.profile.profile_kernels import HEAD, kernel_of  # noqa: E402 - likewise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kernels.case import KernelCase

CHUNK: Final = 250
SECONDS: Final = 270.0  # for each of the two parts
_LSU: Final = "pipe_lsu"
COUNTERS: Final = (
    *(
        f"smsp__sass_l1tex_data_{what}_mem_shared{op}.sum"
        for what in (f"{_LSU}_wavefronts", f"bank_conflicts_{_LSU}")
        for op in ("", "_op_ld", "_op_st", "_op_ldsm", "_op_stsm", "_op_atom", "_op_ldgsts")
    ),
    *(
        f"l1tex__data_{what}_mem_shared{op}.sum"
        for what in (f"{_LSU}_wavefronts", f"bank_conflicts_{_LSU}")
        for op in ("", "_op_ld", "_op_st", "_op_atom")
    ),
    *(
        f"l1tex__t_{what}_{_LSU}_mem_global_op_{op}.sum"
        for what in ("sectors", "requests")
        for op in ("ld", "st", "atom", "red", "ldgsts", "ldgsts_cache_access", "ldgsts_cache_bypass")
    ),
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
    "memory_l1_tag_requests_global",
    "memory_l2_theoretical_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal",
    "smsp__sass_branch_targets.sum",
    "smsp__sass_branch_targets_threads_uniform.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
)
PARTS = {"patterns": profile_cases, "atomics": atomic_cases}


def assemble(folder: Path, name: str, text: str, level: int) -> bytes:
    """Machine code by the ptxas of this machine."""
    source, target = folder / f"{name}.ptx", folder / f"{name}.cubin"
    source.write_text(re.sub(r"(?m)^\.version.*$", ".version 9.0", text))
    architecture = "sm_90a" if ".target sm_90a" in text else "sm_90"
    options = ["-arch", architecture, f"-O{level}", "-fmad=false"]
    command = [os.environ.get("PTXAS", "ptxas"), *options, str(source), "-o", str(target)]
    subprocess.run(command, check=True)
    return target.read_bytes()


def real_kernels() -> list[tuple[KernelCase | Example, int]]:
    """Every real kernel for sm_90, as the PTX says and optimised."""
    found = [*examples(), *(case for case in cases() if "sm_90" in case.architectures)]
    return [(case, level) for level in (0, 3) for case in found]


class Launcher:
    """Launches by the driver, modules loaded once."""

    def __init__(self, folder: Path) -> None:
        self.driver = Driver()
        self.folder = folder
        self.modules: dict[str, ctypes.c_void_p] = {}

    def function(self, image: str, name: str) -> ctypes.c_void_p:
        """A kernel of a cubin in the folder."""
        if image not in self.modules:
            self.modules[image] = ctypes.c_void_p()
            self.driver.call(
                "cuModuleLoadData", ctypes.byref(self.modules[image]), (self.folder / f"{image}.cubin").read_bytes()
            )
        found = ctypes.c_void_p()
        self.driver.call("cuModuleGetFunction", ctypes.byref(found), self.modules[image], name.encode())
        return found

    def launch(self, function: ctypes.c_void_p, sizes: Sequence[int], held: list[Any], *, together: bool) -> None:
        """One launch, and wait for it."""
        pointers = (ctypes.c_void_p * len(held))(*(ctypes.addressof(item) for item in held))
        entry = "cuLaunchCooperativeKernel" if together else "cuLaunchKernel"
        self.driver.call(entry, function, *map(ctypes.c_uint, sizes), None, pointers, *([] if together else [None]))
        self.driver.call("cuCtxSynchronize")


def launch_patterns(folder: Path, part: str, start: int, stop: int) -> None:
    """Launch some cases in order; ncu watches."""
    launcher = Launcher(folder)
    memory, out = (launcher.driver.upload(np.zeros(size, np.uint8)) for size in (2 * GLOBAL_BYTES, 512))
    for case in list(PARTS[part]())[start:stop]:
        second = case.first if case.second is None else case.second
        held = [ctypes.create_string_buffer(words.tobytes(), 128) for words in (case.first, second)]
        function = launcher.function(part, case.kernel)
        launcher.launch(
            function, (1, 1, 1, 32, 1, 1, 0), [*held, ctypes.c_uint32(case.active), memory, out], together=False
        )


def launch_kernels(folder: Path, start: int, stop: int) -> None:
    """Launch some real kernels in order; ncu watches."""
    launcher = Launcher(folder)
    for case, level in real_kernels()[start:stop]:
        held: list[Any] = []
        for value, kind in zip(case.arguments(), parameter_types(case.ptx("sm_90"), case.kernel), strict=True):
            plain = isinstance(value, np.void | int | float)
            held.append(ctypes.create_string_buffer(to_bytes(value, kind)) if plain else launcher.driver.upload(value))
        sizes = [*case.grid, 1, 1][:3] + [*case.block, 1, 1][:3] + [case.shared_bytes]
        image = f"{case.source}-O{level}"
        launcher.launch(launcher.function(image, case.kernel), sizes, held, together=case.cooperative)


def counted(folder: Path, part: str, number: int) -> np.ndarray:
    """(launches, counters) int64, by ncu, chunk by chunk."""
    counts = np.full((number, len(COUNTERS)), -1, np.int64)
    names = known_counters()
    began = time.monotonic()
    for start in range(0, number, CHUNK):
        if time.monotonic() - began > SECONDS:
            print(f"{part}: out of time at {start} of {number}")
            break
        stop = min(start + CHUNK, number)
        log = folder / f"{part}-{start}.csv"
        done = _watched(log, names, part, start, stop)
        if done.returncode and any(name.startswith("memory_") for name in names):
            names = [name for name in names if not name.startswith("memory_")]
            done = _watched(log, names, part, start, stop)
        if done.returncode:
            print(f"{part} {start}: ncu ended with {done.returncode}:", (done.stdout + done.stderr)[-600:])
        _read(log, counts, start)
        print(f"{part} {start} to {stop}: {time.monotonic() - began:.0f} s", flush=True)
    return counts


def _watched(log: Path, names: Sequence[str], part: str, start: int, stop: int) -> subprocess.CompletedProcess[str]:
    """Some launches under ncu."""
    command = ["ncu", "--clock-control", "none", "--csv", "--print-units", "base", "--log-file", str(log)]
    command += ["--metrics", ",".join(names), sys.executable, __file__]
    command += ["--launch", part, str(log.parent), str(start), str(stop)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def known_counters() -> list[str]:
    """Those counters that ncu has for this GPU."""
    listing = subprocess.run(["ncu", "--query-metrics"], check=False, capture_output=True, text=True).stdout
    if "smsp__sass_l1tex" not in listing:
        return list(COUNTERS)
    listed = set(re.findall(r"(?m)^(\w+)", listing))
    unknown = [name for name in COUNTERS if name.endswith(".sum") and name[:-4] not in listed]
    print("ncu does not have:", *unknown)
    return [name for name in COUNTERS if name not in unknown]


def _read(log: Path, counts: np.ndarray, start: int) -> None:
    lines = log.read_text().splitlines() if log.exists() else []
    first = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), None)
    if first is None:
        print("no table:", lines[-5:])
        return
    order: dict[str, int] = {}
    for row in csv.DictReader(lines[first:]):
        case = start + order.setdefault(row["ID"], len(order))
        value = (row["Metric Value"] or "").replace(",", "")
        if row["Metric Name"] in COUNTERS and value[:1].isdigit():
            counts[case, COUNTERS.index(row["Metric Name"])] = int(float(value))


def record_patterns(folder: Path, out: Path, part: str) -> None:
    """Every pattern of a part."""
    known = list(PARTS[part]())
    texts = {case.kernel: kernel_of(case) for case in known}
    assemble(folder, part, HEAD + "\n".join(texts.values()), 3)
    counts = counted(folder, part, len(known))
    np.savez_compressed(out / f"{part}.npz", counts=counts, counters=np.array(COUNTERS))
    _summary(part, counts)


def record_kernels(folder: Path, out: Path) -> None:
    """Every real kernel."""
    launches = real_kernels()
    for source, level, text in {(c.source, level, c.ptx("sm_90")) for c, level in launches}:
        assemble(folder, f"{source}-O{level}", text, level)
    counts = counted(folder, "kernels", len(launches))
    names = np.array([f"{case.name} O{level}" for case, level in launches])
    np.savez_compressed(out / "kernels.npz", counts=counts, counters=np.array(COUNTERS), names=names)
    _summary("kernels", counts)


def _summary(part: str, counts: np.ndarray) -> None:
    print(f"{part}: {len(counts)} launches, {int((counts < 0).all(axis=1).sum())} without any count; sums:")
    for number, name in enumerate(COUNTERS):
        column = counts[:, number]
        print(f"  {name}: {int(column[column >= 0].sum())}, {int((column < 0).sum())} not given")


def main() -> None:
    """Record everything, or the part that an argument names."""
    match sys.argv[1:]:
        case ["--launch", "kernels", folder, start, stop]:
            launch_kernels(Path(folder), int(start), int(stop))
            return
        case ["--launch", part, folder, start, stop]:
            launch_patterns(Path(folder), part, int(start), int(stop))
            return
        case ["--check"]:
            with tempfile.TemporaryDirectory() as name:
                texts = {case.kernel: kernel_of(case) for case in profile_cases()}
                assemble(Path(name), "patterns", HEAD + "\n".join(texts.values()), 3)
                for source, level, text in {(c.source, level, c.ptx("sm_90")) for c, level in real_kernels()}:
                    assemble(Path(name), f"{source}-O{level}", text, level)
            return
        case parts:
            pass
    out = Path(os.environ["OUT"])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        for part in PARTS:
            if not parts or part in parts:
                record_patterns(Path(name), out, part)
        if not parts or "kernels" in parts:
            record_kernels(Path(name), out)
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    tools = {"gpu": query, "ncu": ["ncu", "--version"], "ptxas": ["ptxas", "--version"]}
    said = {k: subprocess.run(c, capture_output=True, text=True, check=False).stdout for k, c in tools.items()}
    facts = {name: text.strip().splitlines()[-1] for name, text in said.items() if text.strip()}
    (out / "profile.json").write_text(json.dumps(facts, indent=1) + "\n")
    print(facts)


if __name__ == "__main__":
    main()
