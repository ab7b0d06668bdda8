"""Record what a GPU does with instructions that reach into a cluster, in launches with clusters and without.

Run from the repository root on a machine with an NVIDIA GPU of sm_90, CuPy and ptxas:
`python3 tools/record/clusters.py OUT` writes OUT/clusters.json, which belongs into tests/recorded/clusters.
Each kernel runs in a process of its own, for an illegal instruction ends it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from recorded.clusters.cluster_cases import BODIES, HEADS, ILLEGAL, THREADS, kernel


def run(body: str, head: str) -> None:
    """Run one kernel and print the words that it stored."""
    import cupy  # noqa: PLC0415 - only where there is a GPU

    gpu: Any = cupy
    with tempfile.TemporaryDirectory() as scratch:
        source, cubin = Path(scratch) / "case.ptx", Path(scratch) / "case.cubin"
        source.write_text(kernel(body, head))
        subprocess.run(["ptxas", "-arch=sm_90a", "-o", str(cubin), str(source)], check=True)
        out = gpu.full(THREADS, 77, gpu.uint32)
        gpu.RawModule(path=str(cubin)).get_function("k")((1,), (THREADS,), (out,))
        print(json.dumps(gpu.asnumpy(out).tolist()))


def outcome(case: tuple[str, str]) -> list[int] | str:
    """What a kernel stored, or that it ended at an illegal instruction."""
    body, head = case
    command = [sys.executable, __file__, "run", str(list(BODIES).index(body)), head]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout)
    if "cudaErrorIllegalInstruction" in done.stderr:
        return ILLEGAL
    raise SystemExit(done.stderr)


def main(out: Path) -> None:
    """Record every kernel."""
    import cupy  # noqa: PLC0415 - only where there is a GPU

    gpu: Any = cupy
    cases = list(product(BODIES, HEADS))
    with ThreadPoolExecutor(8) as workers:
        found = list(workers.map(outcome, cases))
    version = subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    recording = {
        "gpu": gpu.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        "driver": gpu.cuda.runtime.driverGetVersion(),
        "ptxas": version,
        "outcomes": [[body, head, what] for (body, head), what in zip(cases, found, strict=True)],
    }
    lines = json.dumps(recording, indent=1).replace("\n    ", " ").replace("\n   ]", "]").replace("\n  ]", "]")
    (out / "clusters.json").write_text(lines + "\n")
    print(f"{len(found)} kernels, {found.count(ILLEGAL)} illegal")


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(list(BODIES)[int(sys.argv[2])], sys.argv[3])
    else:
        main(Path(sys.argv[1]))
