"""Compares the ISA data with ptxas: forms, and forms with one qualifier changed, on several versions and targets.

Run it from the root of the repository, with `nvidia-cuda-nvcc` installed: `tools/record/isa_forms.py [OPCODE...]`.
It prints every disagreement and writes `tests/recorded/ptxas/isa_forms.json`; with arguments only their part of it.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from oracle.isa_forms import disagrees, said  # noqa: E402
from oracle.ptxas import release  # noqa: E402 - the paths above come first
from ptxloom.isa import judged, opcodes  # noqa: E402
from ptxloom.isa.matrix import MOVES  # noqa: E402
from recorded.ptxas import isa_cases as cases  # noqa: E402

NEWEST = "9.5 sm_100a"
PLATFORMS = (
    "9.5 sm_100a",
    "9.5 sm_120a",
    "9.5 sm_90a",
    "9.5 sm_107a",
    "9.0 sm_103f",
    "8.6 sm_100",
    "8.0 sm_90",
    "7.0 sm_80",
    "6.3 sm_75",
)
BATCH = 1500
ABOUT_MODULES = ("32-bit", "32-Bit", "32 bits", "ptxas info")  # addresses' size; too many registers
LEGAL, MUTANTS = 60, 12  # forms a syntax line


def compare(opcode: str) -> tuple[int, int, list[str]]:
    """How many questions about an opcode were put, how many of them are accepted, and the disagreements."""
    asked = taken = 0
    disagreements: list[str] = []
    good, odd = list(cases.legal(opcode, LEGAL)), list(cases.mutants(opcode, MUTANTS))
    for platform in PLATFORMS:
        some = dict.fromkeys([*good, *odd] if platform == NEWEST else good)
        by_text = {case.text: case for case in some}
        texts = list(by_text)
        complaints: dict[str, str] = {}
        for start in range(0, len(texts), BATCH):
            complaints |= said(platform, texts[start : start + BATCH])
        for text, case in by_text.items():
            if any(sign in complaints.get(text, "") for sign in ABOUT_MODULES):
                continue
            ours = cases.expected(case, *platform.split())
            asked += 1
            taken += text not in complaints
            if disagrees(platform, text, ours, complaints):
                disagreements.append(f"{platform}: {text} // ptxas: {complaints.get(text, 'accepted')}")
    return asked, taken, disagreements


def main() -> None:
    """Ask about every opcode."""
    names = sys.argv[1:] or [
        each for each in opcodes() if judged(each) and each not in MOVES
    ]  # those have a recording of their own
    with ThreadPoolExecutor(2) as pool:
        answers = dict(zip(names, pool.map(compare, names), strict=True))
    for name, (asked, taken, differ) in answers.items():
        for each in differ:
            print(each)
        print(f"== {name}: {asked} asked, {taken} accepted by ptxas, {len(differ)} disagreements")
    total, differ = sum(asked for asked, _, _ in answers.values()), sum(len(d) for _, _, d in answers.values())
    print(f"== all: {total} asked, {differ} disagreements ({100 - 100 * differ / total:.2f} % agree)")
    path = ROOT / "tests" / "recorded" / "ptxas" / "isa_forms.json"
    table: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))["opcodes"] if sys.argv[1:] else {}
    table |= {name: {"asked": a, "accepted": t, "disagreements": d} for name, (a, t, d) in answers.items()}
    rows = dict(sorted(table.items()))
    path.write_text(json.dumps({"ptxas": release(), "opcodes": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
