"""Which files a client of `ptxloom mcp` may name: launch files name others, and links and colons lead elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ptxloom.tool_server.folder import Folder, OutOfFolder

if TYPE_CHECKING:
    from pathlib import Path

KEYS = {
    "ptx": "ptx = '{}'",
    "npy": "args = [{{ npy = '{}' }}]",
    "save": "args = [{{ save = '{}' }}]",
    "equals": "compare = [{{ equals = '{}' }}]",
}
CUBIN = b"\x7fELF" + bytes(300)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with files that may be named; what may not is beside it."""
    (tmp_path / "home").mkdir()
    for name in ("data.npy", "k.ptx"):
        (tmp_path / "home" / name).write_text("a secret")
    made = tmp_path / "kernels"
    (made / "a:").mkdir(parents=True)
    (made / "k.ptx").write_text(".version 8.0")
    (made / "k.cubin").write_bytes(CUBIN)
    return made


def launched(root: Path, key: str, name: str) -> str:
    (root / "l.toml").write_text(KEYS[key].format(name))
    return Folder(root).launch("l.toml")


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "name",
    [
        *("../home/data.npy", "../home/none.npy", "a:/../../home/data.npy", "a:/../../home/none.npy", "/etc/passwd"),
        *("l:k.npy", "l:k.npy:1.sm_80.ptx", "o:d/data.npy", "o:d/none.npy", "pipe", "p:ipe", "/dev/stdin", "loop"),
    ],
)
def test_no_launch_file_names_what_is_elsewhere_or_no_file(root: Path, key: str, name: str) -> None:
    (root / "l:k.npy").symlink_to("../home/data.npy")
    (root / "o:d").symlink_to("../home")
    (root / "loop").symlink_to("loop")
    for pipe in ("pipe", "p:ipe"):
        os.mkfifo(root / pipe)
    with pytest.raises(OutOfFolder, match=r"leads out of the folder|there is no such file"):
        launched(root, key, name)


@pytest.mark.parametrize(("key", "name"), [("ptx", "k.cubin:1.sm_80.ptx"), ("ptx", "k.cubin"), ("npy", "new:x.npy")])
def test_what_is_below_the_folder_may_be_named(root: Path, key: str, name: str) -> None:
    assert launched(root, key, name) == "l.toml"


@pytest.mark.parametrize("name", ["d.cubin", "sub/d.cubin", "d.cubin:1.sm_80.ptx"])
def test_the_ptx_beside_a_cubin_is_below_the_folder_too(root: Path, name: str) -> None:
    (root / "sub").mkdir()
    for folder in (root, root / "sub"):
        (folder / "d.ptx").symlink_to(root.parent / "home" / "k.ptx")
    (root / "sub" / "d.cubin").write_bytes(CUBIN)
    (root / "d.cubin").symlink_to("k.cubin")
    with pytest.raises(OutOfFolder, match=r"d\.ptx, which may be read for it, leads out of the folder"):
        launched(root, "ptx", name)
    if ":" not in name:
        with pytest.raises(OutOfFolder, match=r"d\.ptx, which may be read for it, leads out of the folder"):
            Folder(root).file(name)


@pytest.mark.parametrize(("link", "target"), [("k.cu", "k.txt"), ("k.txt", "k.cu")])
def test_cuda_is_compiled_for_whom_the_folder_is_trusted_whatever_a_link_calls_it(
    root: Path, link: str, target: str
) -> None:
    (root / target).write_text("__global__ void k() {}")
    (root / link).symlink_to(target)
    with pytest.raises(OutOfFolder, match="would be compiled"):
        launched(root, "ptx", link)
    assert Folder(root, trusted=True).file(link) == target
