"""Record what a CUDA driver answers about arrays, textures and surfaces.

`python3 tools/record/arrays | xz -9e > answers.jsonl.xz` on a machine with an NVIDIA GPU asks all and writes a line of
JSON for each question, for tests/recorded/arrays. With the name of a group only that one is asked: what the replay does
on a driver of ours. `--whole` shows all words of long results. Each group, and each of the risks, is a process of
its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import calls
import copying
import lookups
import objects
import references
import risks
import shapes

GROUPS = {
    "shapes": shapes.ask_all,
    "copies in two dimensions": copying.boxes_2d,
    "copies in three dimensions": copying.boxes_3d,
    "copies between arrays": copying.between,
    "copies of bytes": copying.rows_of_bytes,
    "copies as nodes": copying.nodes,
    "textures": objects.textures,
    "modes": objects.modes,
    "memory": objects.memory,
    "views": objects.views,
    "surfaces": objects.surfaces,
    "wrong objects": objects.wrong,
    "formats": lookups.formats,
    "lines": lookups.lines,
    "sRGB": lookups.srgb,
    "normalised formats": lookups.normalised_formats,
    "geometries": lookups.geometries,
    "look-ups of views": lookups.views,
    "surfaces in kernels": lookups.surfaces,
    "references": references.ask_all,
}


_ALONE = "arrays until none is left"  # no other process has memory meanwhile


def _recorded(name: str) -> str:
    command = [sys.executable, sys.argv[0], *sys.argv[1:], name]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    if done.returncode:
        sys.stderr.write(f"{name}: {done.returncode} {done.stderr[-500:]}\n")
        return done.stdout + json.dumps(["ended", name, done.returncode]) + "\n"
    return done.stdout


def main() -> None:
    """Ask one group, or all."""
    names = [one for one in sys.argv[1:] if one != "--whole"]
    if names:
        calls.tell("group", names[0], calls.begin())
        if names[0] in GROUPS:
            GROUPS[names[0]]()
        else:
            risks.ask_one(names[0])
        calls.tell("end", names[0])
        return
    together = [*GROUPS, *(name for name in risks.RISKS if name != _ALONE)]
    with ThreadPoolExecutor(8) as pool:
        texts = [*pool.map(_recorded, together), _recorded(_ALONE)]
    sys.stdout.write("".join(texts))


if __name__ == "__main__":
    main()
