"""Record what a GPU's texture units give, and what it leaves in surfaces.

Run from the repository root on a machine with an NVIDIA GPU of sm_90, NumPy and ptxas:
`python3 tools/record/textures.py OUT` writes OUT/textures.npz and OUT/borders.npz, which belong into
tests/recorded/textures.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from cuda_driver import Driver

from recorded.textures.texture_cases import BORDERS_RECORDING, RECORDING, Case, border_cases, cases

if TYPE_CHECKING:
    from numpy.typing import NDArray

_THREADS = 128  # of a CTA, as the kernels count


def outcome(driver: Driver, case: Case) -> NDArray[np.uint32]:
    """What a case's threads got; of stores and reductions, what lies in the surface afterwards."""
    if case.sampling is not None:
        return driver.run(case.ptx, driver.texture(case.levels, case.geometry, case.sampling), case.words, _THREADS)
    array = driver.array(case.levels[0], case.geometry)
    results = driver.run(case.ptx, driver.surface(array), case.words, _THREADS)
    if case.body.startswith(("suld", "suq")):
        return results
    return np.frombuffer(driver.read(array, case.levels[0], case.geometry).tobytes(), np.uint32)


def main(out: Path) -> None:
    """Record every case."""
    driver = Driver()
    version = subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    for recording, chosen in ((RECORDING, cases()), (BORDERS_RECORDING, border_cases())):
        found: dict[str, NDArray[np.generic]] = {"recorded with": np.array(f"{driver.about}, ptxas {version}")}
        for case in chosen:
            try:
                found[case.name] = outcome(driver, case)
            except RuntimeError as error:
                print(f"{case.name}: {error}")
        np.savez_compressed(out / recording.name, **found)
        print(f"{recording.name}: {len(found) - 1} cases")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
