"""Arrays, textures and surfaces of the driver answer what an H100 under NVIDIA's driver answered.

The questions are `tools/record/arrays`; each group of them is a program, run here on the driver of ours. Where it
differs stands here, with the reason.
"""

from __future__ import annotations

import json
import lzma
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from driver.running import Running, needs_compiler

pytestmark = needs_compiler

_QUESTIONS: Final = Path(__file__).parents[3] / "tools" / "record" / "arrays"

# Questions whose answers differ, by patterns, and why.
_LATER: Final = "memory that is mapped later is not there"
_FORMATS: Final = "compressed blocks and 10 bits a component are not read"
_SIZES: Final = r"\((16, 8, [04]|8, [48], (0|5|6|12)|1, 1, 1|16, 0, [04]|8, 0, 6)\)"
DIFFERENT: Final = {
    "shapes": {
        rf"array {_SIZES} flags 0x(40|41|80|81|82)": _LATER,
        r"mipmap 64 32 0 0x(40|80) of \d+": _LATER,
        r"(requirements|sparse|plane) (mipmap|\(.*\)) 0x(40|80)": _LATER,
        r"array \(\d+, 8, 0\) flags 0x80000000": "a flag that nobody has documented",
        r"format 0x(50|9[1-9a-e])|linear width 0x91 4": _FORMATS,
    },
    "textures": {r"texture cube flags 0x4[02] filter 1": "filters across the edges of a cube are not there"},
    "views": {r"view of pairs as 0x1[9cd]": _FORMATS},
    "copies in three dimensions": {
        r"3D lines (dst|src) 2 height larger": "a driver takes one line a slice of device memory, though told of more"
    },
}
_CRASH: Final = "a driver crashes"
_EXACT: Final = "the GPU gives zeros, or what is left there; we call it an error"
RISKS: Final = {
    "destroy a mipmap as an array": ([709], "a driver takes one for the other"),
    "destroy an array as a mipmap": ([709], _CRASH),
    "describe a wild array": ([709], _CRASH),
    "destroy a wild array": ([709], _CRASH),
    "texture of a wild array": ([1], _CRASH),
    "surface of what is destroyed": ([1], _CRASH),
    "array as a mipmap's texture": ([1], _CRASH),
    "copy to what is destroyed": ([1], _CRASH),
    "wild reference": ([400], _CRASH),
    "look-up of no texture": ([[700]], _EXACT),
    "look-up of a destroyed texture": ([[700]], _EXACT),
    "look-up of a destroyed array": ([[0, [700]]], _EXACT),
    "look-up of a surface": ([[700]], _EXACT),
    "one dimension of a flat array": ([[700]], _EXACT),
    "two dimensions of linear memory": ([[700]], _EXACT),
    "integers in an array's line": ([[700]], _EXACT),
    "floats in linear memory": ([[700]], _EXACT),
    "look-up beyond freed memory": ([[0, [700]]], _EXACT),
}


def _recorded() -> dict[str, dict[str, list[Any]]]:
    """By group, the answers by question."""
    found: dict[str, dict[str, list[Any]]] = {}
    group: dict[str, list[Any]] = {}
    with lzma.open(Path(__file__).with_name("answers.jsonl.xz"), "rt") as file:
        for line in file:
            question, *answer = json.loads(line)
            if question == "group":
                assert answer[1] == "NVIDIA H100 80GB HBM3, driver 13000"
                group = found[answer[0]] = {}
            elif question == "ended":
                group[answer[0]] = ["ended"]
            elif question != "end":
                group[question] = answer
    return found


RECORDED: Final = _recorded()
_GROUPS: Final = [name for name, answers in RECORDED.items() if [*answers] != [name]]
_RISKS: Final = [name for name, answers in RECORDED.items() if [*answers] == [name]]


def _answered(group: str) -> dict[str, list[Any]]:
    """What our driver answers to a group."""
    running = Running(arch="sm_90")
    command = [sys.executable, str(_QUESTIONS), group]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=running.environment, timeout=300, cwd="/"
    )
    running.server.close()
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[-1] == ["end", group]
    return {question: answer for question, *answer in lines[1:-1]}


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("group", _GROUPS)
def test_a_group_is_answered_as_on_the_gpu(group: str) -> None:
    answered, recorded = _answered(group), RECORDED[group]
    assert set(answered) <= set(recorded)
    excused = DIFFERENT.get(group, {})
    different = [question for question, answer in recorded.items() if answered.get(question) != answer]
    assert [one for one in different if not any(re.fullmatch(pattern, one) for pattern in excused)] == []
    assert [one for one in excused if not any(re.fullmatch(one, question) for question in different)] == []


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("risk", _RISKS)
def test_what_may_end_a_program_ends_none_of_ours(risk: str) -> None:
    answer, _ = RISKS.get(risk, (RECORDED[risk][risk], ""))
    assert _answered(risk)[risk] == answer
