"""Records what ptxas says about mutated instructions: more than 20,000, of every instruction, on several platforms.

Run it from the root of the repository, with `nvidia-cuda-nvcc` installed: `python tools/record/mutations.py`. It writes
`tests/recorded/ptxas/mutations.tsv.xz` and the page `mutations.md` beside it, in a few minutes. With opcodes as
arguments it asks about these alone again and keeps the other answers; `--page` asks nothing and writes the page;
`--sample NAME` asks about other mutants than the recorded ones, writes nothing, and prints where we differ.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from oracle.mutations import asked, questions  # noqa: E402 - the paths above come first
from oracle.ptxas import release  # noqa: E402
from ptxloom.isa import judged, opcodes  # noqa: E402
from recorded.ptxas.mutation_page import PAGE, page  # noqa: E402
from recorded.ptxas.mutations import Case, Recording, verdicts  # noqa: E402


def ask(names: list[str], sample: str) -> tuple[Case, ...]:
    """What ptxas says about the questions of some opcodes."""

    def one(name: str) -> tuple[Case, ...]:
        return asked(questions(name, sample))

    with ThreadPoolExecutor(2) as pool:
        return tuple(case for some in pool.map(one, names) for case in some)


def main() -> None:
    """Ask about every opcode, or about some."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("opcodes", nargs="*")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--sample", default="")
    wishes = parser.parse_args()
    names = wishes.opcodes or [name for name in opcodes() if judged(name)]
    if wishes.page:
        recording = Recording.load()
    else:
        cases = ask(names, wishes.sample)
        kept: tuple[Case, ...] = () if wishes.sample or not wishes.opcodes else Recording.load().cases
        others = [case for case in kept if case.opcode not in names]
        recording = Recording(release(), tuple(sorted((*others, *cases), key=lambda case: case.opcode)))
    ours = verdicts(recording.cases)
    if wishes.sample:
        for one in ours:
            if one.differs:
                print(one)
    elif not wishes.page:
        recording.save()
    if not wishes.sample:
        PAGE.write_text(page(recording, ours), encoding="utf-8")
    print(f"ptxas {recording.ptxas}: {len(ours)} cases, {sum(one.differs for one in ours)} differences")


if __name__ == "__main__":
    main()
