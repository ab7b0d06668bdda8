"""Record what a CUDA driver answers: right and wrong calls of every family, in right and wrong order.

Run from the repository root on a machine with an NVIDIA GPU of sm_90 and its driver:
`PYTHONPATH=src:tests python3 tools/record/driver_answers.py OUT answers|values [FORMER.json.gz]` writes
OUT/driver_answers.json.gz, or OUT/driver_values.json.gz, which belongs into tests/recorded/driver. What is in a former
recording of the same GPU and driver is kept as it is, and the scenarios that it lacks are recorded. It takes Python
alone.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from recorded.driver.calls import ENDED
from recorded.driver.scenarios import RECORDINGS, STOPPED, file_of, rows_of

_WORKERS = 8
_ABOUT = """
import ctypes
cuda, name, version = ctypes.CDLL("libcuda.so.1"), ctypes.create_string_buffer(100), ctypes.c_int()
assert not any((cuda.cuInit(0), cuda.cuDeviceGetName(name, 100, 0), cuda.cuDriverGetVersion(ctypes.byref(version))))
print(version.value, name.value.decode())
"""


def main(out: Path, kind: str, former: Path | None = None) -> None:
    """Record every scenario of a kind that a former recording does not hold."""
    scenarios = RECORDINGS[kind]
    out.mkdir(parents=True, exist_ok=True)
    about = subprocess.run([sys.executable, "-c", _ABOUT], capture_output=True, text=True, check=True).stdout
    version, _, gpu = about.strip().partition(" ")
    release = Path("/proc/driver/nvidia/version")
    found_release = re.search(r"\d+\.\d+\.\d+", release.read_text()) if release.exists() else None
    recording: dict[str, Any] = {
        "gpu": gpu,
        "driver": found_release[0] if found_release else "",
        "version": int(version),
    }
    kept: dict[str, Any] = (
        json.loads(gzip.decompress(former.read_bytes())) if former else {**recording, "scenarios": {}}
    )
    about = f"{gpu}, driver {recording['driver']} ({version})"
    if recording != {name: kept[name] for name in recording}:
        sys.exit(f"the former recording is of {kept['gpu']}, driver {kept['driver']}; this is {about}")
    fresh = [name for name in scenarios if name not in kept["scenarios"]]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "recorded.driver.scenarios", folder, str(_WORKERS), "--only", *fresh]
        subprocess.run(command, check=True)
        new = {name: rows_of(file_of(name, Path(folder))) for name in fresh}
    found = {name: new.get(name) or kept["scenarios"][name] for name in scenarios}
    recording["scenarios"] = found
    with gzip.GzipFile(out / f"driver_{kind}.json.gz", "wb", mtime=0) as file:
        file.write(json.dumps(recording).encode())
    rows = [row for name in fresh for row in found[name]]
    ended = [row[0] for row in rows if row[1] == ENDED]
    print(f"{about}: {len(rows)} rows of {len(fresh)} scenarios, {len(ended)} ended the process")
    for name, one in found.items():
        for row in one:
            if row[0] == STOPPED:
                print(name, row[1])


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], *map(Path, sys.argv[3:4]))
