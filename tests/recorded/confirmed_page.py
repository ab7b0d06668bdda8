"""The parts of docs/confirmed.md that are made: what GPUs were asked, each instruction, each matrix move.

What silicon left comes from the recordings (`confirmed.txt` is made from them), what ptxas takes from its verdicts.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from ptxloom.conformance.evidence import EvidenceRow, asked_of, standing
from ptxloom.isa import opcodes
from ptxloom.isa.matrix import variants
from recorded import confirmed_forms
from recorded.conformance import conformance_cases
from recorded.matrix.matrix_cases import TRANSPOSE
from recorded.ptxas.ptxas_verdicts import Recording

PAGE: Final = Path(__file__).parents[2] / "docs" / "confirmed.md"
FORMS: Final = Path(__file__).parent / "ptxas" / "isa_forms.json"
GPUS: Final = ("h200",)
"""Reports of all the forms of a GPU."""

_LEAD: Final = "- [`ptxloom conform`](conform.md) on an "
_UNSPOKEN: Final = {"sync", "aligned", "shared", "shared::cta"}

_CLASSES: Final = """
The forms of each instruction, or an even sample if there are very many, by what their results rest on: recorded by
themselves on an H200; in whole kernels on an H200; words published for a B200; documents alone. The last two columns
say how many instructions made from the data ptxas {ptxas} was asked to assemble, legal and illegal, and on how many
its verdict differs from ptxloom's.

| instruction | forms | H200, alone | H200, kernels | B200, words | documents | ptxas: asked | other verdict |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""
_MOVES: Final = """
No words of these were published. The last column names those of {count} targets for which ptxas {ptxas} assembles the
variant.

| variant | results | ptxas takes it for |
| --- | --- | --- |
"""


def asked() -> tuple[EvidenceRow, ...]:
    """What GPUs were asked."""
    return tuple(asked_of(conformance_cases.recorded(name)) for name in GPUS)


def asked_data() -> str:
    """The page in the package's form."""
    return json.dumps([asdict(one) for one in asked()], indent=1) + "\n"


def classes() -> str:
    """The table of instructions."""
    made = json.loads(FORMS.read_text(encoding="utf-8"))
    rows = [f"{standing(opcode).row} {_verdicts(made['opcodes'].get(opcode))} |\n" for opcode in opcodes()]
    return _CLASSES.format(ptxas=made["ptxas"]) + "".join(rows)


def _verdicts(row: dict[str, Any] | None) -> str:
    return "see below | " if row is None else f"{row['asked']:,} | {len(row['disagreements']) or ''}"


def variant(spelled: str) -> str:
    """What a matrix move is, wherever its address leads."""
    opcode, *words = spelled.split(".")
    return ".".join((opcode, *(word for word in words if word not in _UNSPOKEN)))


def moves() -> str:
    """The table of matrix moves."""
    recording = Recording.load()
    targets = sorted({platform.split()[1] for platform in recording.qualifiers}, key=_age)
    ran = set(map(variant, confirmed_forms.by_themselves()))
    takes = _takers(recording)
    head = _MOVES.format(count=len(targets), ptxas=recording.ptxas)
    spelled = [*(move.spelling for move in variants()), TRANSPOSE]
    return head + "".join(
        f"| `{name}` | {'recorded on an H200' if name in ran else 'documents'} | {_named(targets, takes[name])} |\n"
        for name in map(variant, spelled)
    )


def _takers(recording: Recording) -> dict[str, set[str]]:
    """By variant, the targets for which ptxas takes it in any version of PTX."""
    found: dict[str, set[str]] = defaultdict(set)
    for platform, number in recording.qualifiers.items():
        for line in recording.sets[number] if number >= 0 else ():
            found[variant(line.partition(" ")[0])].add(platform.split()[1])
    return found


def _age(target: str) -> tuple[int, str]:
    """Where a target stands among others, such as sm_90a behind sm_90 and before sm_100."""
    number = target.removeprefix("sm_").rstrip("af")
    return int(number), target


def _named(targets: list[str], some: set[str]) -> str:
    """Targets in words: from which one on, or each."""
    chosen = [one for one in targets if one in some]
    newer = targets[targets.index(chosen[0]) :]
    if chosen == newer:
        return f"{chosen[0]} and all newer"
    if chosen == [one for one in newer if not one[-1].isdecimal()]:
        return f"{chosen[0]} and all newer that end in a or f"
    return ", ".join(chosen)


def with_parts(page: str) -> str:
    """A page with what is made in its places: behind the headings, and the sentences of reports."""
    for heading, text in (("## By instruction", classes()), ("## Matrix moves", moves())):
        before, _, rest = page.partition(f"\n{heading}\n")
        _, _, after = rest.partition("\n## ")
        page = f"{before}\n{heading}\n{text}\n## {after}"
    said = "".join(f"{_LEAD}{one.sentence}.\n" for one in asked())
    lines = page.splitlines(keepends=True)
    places = [at for at, line in enumerate(lines) if line.startswith(_LEAD)]
    return "".join((*lines[: places[0]], said, *lines[places[-1] + 1 :]))
