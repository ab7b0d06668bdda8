"""Records what ptxas says about the matrix moves: every combination of qualifiers on every version and target.

Run it from the root of the repository, with `nvidia-cuda-nvcc` installed: `python tools/record/ptxas_verdicts.py`.
It writes `tests/recorded/ptxas/verdicts.json.gz` and takes a few minutes.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from oracle.ptxas import assemble, release  # noqa: E402 - the paths above come first
from recorded.ptxas import ptxas_cases as cases  # noqa: E402
from recorded.ptxas.ptxas_verdicts import Recording  # noqa: E402

ORDER_PLATFORMS = ("6.5 sm_75", "7.8 sm_90", "8.6 sm_100a", "9.3 sm_120f", "9.4 sm_90a", "9.5 sm_100a", "9.5 sm_121")
MUTANT_PLATFORMS = ("9.5 sm_100a",)
OPERAND_PLATFORMS = ("6.5 sm_75", "7.8 sm_90", "9.5 sm_100a")


def accepted_of(platform: str, lines: tuple[str, ...]) -> list[str] | None:
    """The lines that ptxas accepts in one module, proved by a second module that holds them alone; None: no module."""
    version, target = platform.split()
    if not assemble(cases.module_text(version, target, ()), target).accepted:
        return None
    verdict = assemble(cases.module_text(version, target, lines), target)
    if verdict.fatal:
        raise RuntimeError(f"{platform}: a case ends the module: {verdict.output[-300:]}")
    good = tuple(line for place, line in enumerate(lines, cases.FIRST_LINE) if place not in verdict.errors)
    if not assemble(cases.module_text(version, target, good), target).accepted:
        raise RuntimeError(f"{platform}: the accepted lines do not assemble alone")
    return list(good)


def alone(platform: str, lines: tuple[str, ...]) -> list[str]:
    """The lines that ptxas accepts, each in a module of its own."""
    version, target = platform.split()
    with ThreadPoolExecutor(2) as pool:
        verdicts = pool.map(lambda line: assemble(cases.module_text(version, target, (line,)), target), lines)
        return [line for line, verdict in zip(lines, verdicts, strict=True) if verdict.accepted]


def main() -> None:
    """Ask everything and write the recording."""
    sets: list[list[str]] = []

    def number(accepted: list[str] | None) -> int:
        if accepted is None:
            return -1
        if accepted not in sets:
            sets.append(accepted)
        return sets.index(accepted)

    platforms = [f"{version} {target}" for version in cases.VERSIONS for target in cases.TARGETS]
    questions = cases.qualifier_cases()
    with ThreadPoolExecutor(2) as pool:
        answers = pool.map(lambda platform: accepted_of(platform, questions), platforms)
        qualifiers = {platform: number(answer) for platform, answer in zip(platforms, answers, strict=True)}
    orders = {platform: number(accepted_of(platform, cases.order_cases())) for platform in ORDER_PLATFORMS}
    operands = {platform: number(alone(platform, cases.operand_cases())) for platform in OPERAND_PLATFORMS}
    mutants = {platform: number(alone(platform, cases.mutant_cases())) for platform in MUTANT_PLATFORMS}
    Recording(release(), sets, qualifiers, orders, operands, mutants).save()
    print(
        f"ptxas {release()}: {len(questions)} combinations on {len(platforms)} platforms, {len(sets)} distinct answers"
    )


if __name__ == "__main__":
    main()
