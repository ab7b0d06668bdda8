"""No text makes a command crash: mutated kernels and random bytes give findings or a sentence, in every format."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ptxloom.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
HGEMM = (EXAMPLES / "hgemm.ptx").read_text(encoding="utf-8")
MOVES = HGEMM.index("ldmatrix")
WINDOW = HGEMM[:1500] + HGEMM[MOVES - 200 : MOVES + 1500] + "\n}\n"  # short, and it holds what is looked at closest

COMMANDS = [
    ["check"],
    ["check", "--output-format", "sarif"],
    ["inspect", "--target", "sm_120a"],
    ["inspect", "--output-format", "json"],
    ["parse", "--tree"],
    ["fmt"],
]
NOISE = st.sampled_from([
    "", ".", "::", "{", "}", "[", "]", ";", ",", "@", "!", "|", "\x00", "\t", "é", "\u202e", "/*", "//", '"', "0x",
    "1e9",    ".x4", ".trans", ".m16n8", ".b8", ".shared", "%r1", "-", "+", "<", ">", "ldmatrix", ".reg .b32 %q;", "\n",
])  # fmt: skip
WORDS = [
    "ldmatrix", "stmatrix", "movmatrix", "mma", "ld", "st", "shared", "sync", "aligned", "m8n8", "m16n16", "m16n8",
    "m8n16", "m16n8k16", "x1", "x2", "x4", "x8", "trans", "b16", "b8", "b8x16", "b4x16_p64", "s8", "s4", "row", "col",
    "f32", "f16", "e2m1", "kind::f8f6f4", "v4", "b32", ":", "{", "-",
]  # fmt: skip
QUIET = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@QUIET
@given(edits=st.lists(st.tuples(st.integers(0, len(WINDOW)), st.integers(0, 9), NOISE), min_size=1, max_size=6))
def test_a_mutated_kernel(
    command: list[str], edits: list[tuple[int, int, str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = WINDOW
    for at, removed, added in edits:
        text = text[:at] + added + text[at + removed :]
    kernel = tmp_path / "kernel.ptx"
    kernel.write_text(text, encoding="utf-8")
    assert main([*command, str(kernel)]) in (0, 1, 2)
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@QUIET
@given(data=st.binary(max_size=200))
def test_random_bytes(command: list[str], data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = tmp_path / "kernel.ptx"
    kernel.write_bytes(data)
    assert main([*command, str(kernel)]) in (0, 1, 2)
    capsys.readouterr()


@pytest.mark.parametrize("verb", [["map"], ["where", "--lane", "3"], ["banks", "--stride", "16"]], ids=lambda v: v[0])
@QUIET
@given(
    words=st.lists(
        st.sampled_from(WORDS),
        max_size=9,
    ),
    operand=st.sampled_from([None, "a", "d"]),
)
def test_any_spelling(
    verb: list[str], words: list[str], operand: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ["--operand", operand] if operand else []
    try:
        code = main([verb[0], *verb[1:], *wanted, "--", ".".join(words)])
    except SystemExit as refused:
        code = refused.code
    assert code in (0, 1, 2)
    assert "Traceback" not in capsys.readouterr().err
