"""Records what ptxas says about whole modules: names, declarations, limits, headers, labels, heads.

Run it from the root of the repository, with `nvidia-cuda-nvcc` installed: `python tools/record/module_rules.py`. It
writes `tests/recorded/ptxas/modules.json` and the page `modules.md` beside it, in a few minutes; `--page` asks nothing
and writes the page.
"""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from oracle.ptxas import assemble, release  # noqa: E402 - the paths above come first
from recorded.ptxas.module_cases import module_cases  # noqa: E402
from recorded.ptxas.module_verdicts import (  # noqa: E402
    ACCEPTED,
    ELSEWHERE,
    PAGE,
    REJECTED,
    judged,
    page,
    recording,
    save,
)

_TARGET = re.compile(r"\.target\s+(sm_\w+)")
_TOO_MUCH = "uses too much"


def ask(text: str) -> str:
    """The verdict of ptxas on a module."""
    target = _TARGET.search(text)
    verdict = assemble(text, target[1] if target else "sm_90")
    if verdict.accepted:
        return ACCEPTED
    return REJECTED if verdict.errors or _TOO_MUCH in verdict.output else ELSEWHERE


def main() -> None:
    """Ask about every case, or write the page only."""
    if "--page" not in sys.argv:
        with ThreadPoolExecutor(2) as pool:
            save(release(), "".join(pool.map(ask, [case.text for case in module_cases()])))
    found = judged()
    PAGE.write_text(page(recording()[0], found), encoding="utf-8")
    print(f"ptxas {recording()[0]}: {len(found)} modules, {sum(one.differs for one in found)} differences")


main()
