"""Files that were not named are written through no link that leads out of their folder: a checkout may hold any."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptxloom.snapshots import FOLDER, held_against

Run = Callable[..., Any]

UNTIDY = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k()  {  ret ; }\n"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from anybody, in which the command runs, beside a home that holds a file."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "mine").write_text(UNTIDY)
    made = tmp_path / "checkout"
    made.mkdir()
    monkeypatch.chdir(made)
    return made


def home(checkout: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in (checkout.parent / "home").iterdir()}


@pytest.mark.parametrize("verb", [("fmt", "-w"), ("check", "--fix", "--unsafe-fixes")])
@pytest.mark.parametrize("folder", [".", "sub", "../checkout"])
def test_rewriting_a_folder_follows_no_link_out_of_it(
    run: Run, checkout: Path, verb: tuple[str, ...], folder: str
) -> None:
    text = UNTIDY if verb[0] == "fmt" else MISSING
    outside = checkout.parent / "home" / "mine"
    outside.write_text(text)
    (checkout / "sub").mkdir()
    (checkout / "sub" / "k.ptx").write_text(text)
    (checkout / "sub" / "out.ptx").symlink_to(outside)
    ran = run(*verb, folder)
    assert outside.read_text() == text
    assert "out.ptx: this is a link that leads out of the folder" in ran.err
    assert ran.code != 0
    assert (checkout / "sub" / "k.ptx").read_text() != text
    run(*verb, "sub/out.ptx")  # it is named
    assert outside.read_text() != text
    assert (checkout / "sub" / "out.ptx").is_symlink()


MISSING = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k() {
.reg .b32 a; .reg .b64 b;
ldmatrix.sync.m8n8.x1.shared.b16 {a}, [b];
ret;
}
"""


def test_a_link_within_the_folder_is_followed(run: Run, checkout: Path) -> None:
    (checkout / "k.ptx").write_text(UNTIDY)
    (checkout / "same.ptx").symlink_to("k.ptx")
    assert run("fmt", "-w", ".").code == 0
    assert (checkout / "same.ptx").is_symlink()
    assert (checkout / "k.ptx").read_text() != UNTIDY


@pytest.mark.parametrize("there", ["mine", "not yet"])
def test_the_explorer_replaces_a_link_that_nobody_has_named(run: Run, checkout: Path, there: str) -> None:
    (checkout / "explorer.html").symlink_to(checkout.parent / "home" / there)
    before = home(checkout)
    assert run("web").code == 0
    assert home(checkout) == before
    assert not (checkout / "explorer.html").is_symlink()
    run("web", "-o", str(checkout.parent / "home" / "explorer.html"))
    assert home(checkout).keys() - before == {"explorer.html"}


def test_the_examples_stay_in_their_folder(run: Run, checkout: Path) -> None:
    before = home(checkout)
    (checkout / "examples").mkdir()
    (checkout / "examples" / "hgemm.ptx").symlink_to(checkout.parent / "home" / "not yet")
    assert run("examples").code == 0
    assert home(checkout) == before
    (checkout / "examples" / "broken").rename(checkout / "broken")
    (checkout / "examples" / "broken").symlink_to(checkout.parent / "home")
    ran = run("examples")
    assert ran.code == 2
    assert "leads out of examples" in ran.err
    assert home(checkout) == before


def test_a_snapshot_stays_beside_its_test(checkout: Path) -> None:
    import ptxloom as pl  # noqa: PLC0415 - only this runs a kernel

    profile = pl.kernel(pl.parse(UNTIDY)).launch(1, 1, [], profile=True)
    below = checkout / FOLDER / "test_k"
    below.mkdir(parents=True)
    (below / "test.json").symlink_to(checkout.parent / "home" / "mine")
    assert not held_against(profile, str(checkout / "test_k.py"), "test", update=True)
    assert home(checkout) == {"mine": UNTIDY}
    assert not held_against(profile, str(checkout / "test_k.py"), "test", update=False)
    (below / "test.json").unlink()
    below.rmdir()
    below.symlink_to(checkout.parent / "home")
    assert "leads out of" in held_against(profile, str(checkout / "test_k.py"), "test", update=True)
    assert home(checkout) == {"mine": UNTIDY}
