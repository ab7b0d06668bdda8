"""The layers of the C driver: files include and call what is below them, and no two call each other in a circle."""

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from functools import partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from kept import kept
from ptxloom.cuda_driver import build

HERE = Path(build.__file__).parent
LAYERS = ("base", "streams", "memory", "arrays", "copies", "code", "graphs", "")
"""The folders of `libcuda`, each above the ones before it; last the files in no folder."""

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("gcc") or not shutil.which("nm"), reason="no gcc and nm for Linux here"
)


def sources(library: str, ending: str = "*.[ch]") -> list[Path]:
    return sorted((HERE / library).rglob(ending))


def layer(path: Path) -> int:
    inside = path.relative_to(HERE / "libcuda").parts
    return LAYERS.index(inside[0] if len(inside) > 1 else "")


def symbols(library: str) -> tuple[dict[str, Path], dict[Path, set[str]]]:
    """Where each symbol of a library is defined, and those that each file asks for."""
    files = sources(library, "*.c")
    listed = kept(f"objects-{library}", build.key(), partial(list_symbols, library, files))
    defined: dict[str, Path] = {}
    wanted: dict[Path, set[str]] = defaultdict(set)
    for number, path in enumerate(files):
        for line in (listed / f"{number}.nm").read_text().splitlines():
            *_, kind, name = line.split()
            if kind == "U":
                wanted[path].add(name)
            elif kind.isupper():
                defined[name] = path
    return defined, wanted


def list_symbols(library: str, files: list[Path], folder: Path) -> None:
    """Compile each file and write what `nm` says of it."""
    flags = ("-std=gnu11", "-O0", "-fPIC", f"-I{HERE / library}")
    for number, path in enumerate(files):
        made = folder / f"{number}.o"
        subprocess.run(["gcc", "-c", *flags, str(path), "-o", str(made)], check=True)
        said = subprocess.run(["nm", str(made)], check=True, capture_output=True, text=True).stdout
        (folder / f"{number}.nm").write_text(said)
        made.unlink()


def calls(library: str) -> dict[Path, set[Path]]:
    """The files of a library whose functions and variables each file uses."""
    defined, wanted = symbols(library)
    return {path: {defined[name] for name in names & defined.keys()} - {path} for path, names in wanted.items()}


def included(path: Path, library: str) -> set[Path]:
    """The files that one includes, generated ones left out."""
    names = re.findall(r'#include "(.*?)"', path.read_text())
    return {one.resolve() for name in names for one in (HERE / library / name, path.parent / name) if one.exists()}


def test_every_folder_has_its_layer() -> None:
    folders = {path.parent.name for path in sources("libcuda") if path.parent != HERE / "libcuda"}
    assert folders == set(LAYERS) - {""}


def test_files_include_what_is_below_them() -> None:
    for path in sources("libcuda"):
        for name in re.findall(r'#include "(.*?)"', path.read_text()):
            assert layer(HERE / "libcuda" / name) <= layer(path) or name == "names.h", f"{path.name} includes {name}"


def test_files_call_what_is_below_them() -> None:
    for path, below in calls("libcuda").items():
        above = [other.name for other in below if layer(other) > layer(path)]
        assert not above, f"{path.name} calls functions of {above}"


@pytest.mark.parametrize("library", sorted({one.folder for one in build.LIBRARIES}))
def test_no_two_files_call_each_other_in_a_circle(library: str) -> None:
    try:
        TopologicalSorter(calls(library)).prepare()
    except CycleError as circle:
        pytest.fail(" calls ".join(path.name for path in circle.args[1]))


@pytest.mark.parametrize("library", sorted({one.folder for one in build.LIBRARIES}))
def test_no_two_files_include_each_other_in_a_circle(library: str) -> None:
    try:
        TopologicalSorter({path.resolve(): included(path, library) for path in sources(library)}).prepare()
    except CycleError as circle:
        pytest.fail(" includes ".join(path.name for path in circle.args[1]))


def test_libraries_include_and_are_linked_with_what_is_made_before_them() -> None:
    order = [one.folder for one in build.LIBRARIES]
    folders = {one.soname: one.folder for one in build.LIBRARIES}
    for library in build.LIBRARIES:
        files = {file for path in sources(library.folder) for file in included(path, library.folder)}
        below = {file.relative_to(HERE.resolve()).parts[0] for file in files} | {folders[n] for n in library.neighbours}
        assert below <= set(order[: order.index(library.folder) + 1]), library.folder
