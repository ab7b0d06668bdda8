"""Record what a CUDA driver answers: right and wrong calls of every family, in right and wrong order.

Run from the repository root on a machine with an NVIDIA GPU of sm_90 and its driver:
`PYTHONPATH=src:tests python3 tools/record/driver_answers.py OUT` writes OUT/driver_answers.json.gz, which belongs into
tests/recorded/driver.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from recorded.driver.calls import ENDED
from recorded.driver.scenarios import SCENARIOS, STOPPED, file_of, rows_of

_WORKERS = 8
_ABOUT = """
import ctypes
cuda, name, version = ctypes.CDLL("libcuda.so.1"), ctypes.create_string_buffer(100), ctypes.c_int()
assert not any((cuda.cuInit(0), cuda.cuDeviceGetName(name, 100, 0), cuda.cuDriverGetVersion(ctypes.byref(version))))
print(version.value, name.value.decode())
"""


def main(out: Path) -> None:
    """Record every scenario."""
    about = subprocess.run([sys.executable, "-c", _ABOUT], capture_output=True, text=True, check=True).stdout
    version, _, gpu = about.strip().partition(" ")
    release = Path("/proc/driver/nvidia/version")
    found_release = re.search(r"\d+\.\d+\.\d+", release.read_text()) if release.exists() else None
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "recorded.driver.scenarios", folder, str(_WORKERS)], check=True)
        found = {name: rows_of(file_of(name, Path(folder))) for name in SCENARIOS}
    recording = {
        "gpu": gpu,
        "driver": found_release[0] if found_release else "",
        "version": int(version),
        "scenarios": found,
    }
    with gzip.GzipFile(out / "driver_answers.json.gz", "wb", mtime=0) as file:
        file.write(json.dumps(recording).encode())
    rows = [row for one in found.values() for row in one]
    ended = [row[0] for row in rows if row[1] == ENDED]
    about = f"{gpu}, driver {recording['driver']} ({version})"
    print(f"{about}: {len(rows)} rows of {len(found)} scenarios, {len(ended)} ended the process")
    for name, one in found.items():
        for row in one:
            if row[0] == STOPPED:
                print(name, row[1])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
