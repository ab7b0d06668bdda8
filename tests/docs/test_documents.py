"""What the documents show is what the program prints: every console block is run and compared.

`pytest tests/docs --update` rewrites the blocks; a human reads the diff.
"""

import re
import shlex
from pathlib import Path

import pytest

from ptxloom.cli import main

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "docs/continuous-integration.md",
    "docs/descriptors.md",
    "docs/device.md",
    "docs/internals.md",
    "docs/launch-file.md",
    "docs/textures.md",
)
BLOCK = re.compile(r"(?<=```console\n)(.*?)(?=```)", re.DOTALL)


def blocks(name: str) -> list[str]:
    return [b for b in BLOCK.findall((ROOT / name).read_text(encoding="utf-8")) if b.startswith("$ ptxloom ")]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_console_block_shows_what_the_command_prints(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(ROOT)
    for block in blocks(name):
        shown = "".join(_transcript(part, capsys) for part in re.split(r"(?m)^(?=\$ ptxloom )", block) if part)
        if request.config.getoption("--update"):
            path = ROOT / name
            path.write_text(path.read_text(encoding="utf-8").replace(block, shown), encoding="utf-8")
        else:
            assert block == shown


def _transcript(part: str, capsys: pytest.CaptureFixture[str]) -> str:
    """One command with the output it has now, cut where the document cuts it."""
    line = part.partition("\n")[0]
    command, _, cut = line.removeprefix("$ ptxloom ").partition(" | head -")
    main(shlex.split(command))
    printed = capsys.readouterr().out.splitlines(keepends=True)
    if cut:
        printed = printed[: int(cut)]
    return f"{line}\n{''.join(printed)}"


def test_the_readme_has_a_tour() -> None:
    assert len(blocks("README.md")) >= 4
