"""Record what ptxas fuses: `python tools/record/contraction.py` (needs `nvidia-cuda-nvcc`, `nvidia-cuda-nvdisasm`)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from oracle.ptxas import release
from oracle.sass import asked_forms, asked_programs
from recorded.ptxas.contraction_cases import MIXTURES, Recorded, keep

if __name__ == "__main__":
    stored = {name: asked_programs(mixture) for name, mixture in MIXTURES.items()}
    keep(Recorded(release(), stored, asked_forms()))
