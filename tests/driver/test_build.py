"""The driver's library: compiled without a warning, every name of CUDA's exported, errors where there is no server."""

import ctypes
import fnmatch
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import pytest

from driver.running import without_warnings, written
from ptxloom import disk_cache
from ptxloom.cuda_driver import build
from ptxloom.cuda_driver.names import names
from ptxloom.cuda_driver.runtime_names import major, runtime_names
from ptxloom.diagnostics import DistrustWarning

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no C compiler for Linux here"
)


@pytest.fixture(scope="module")
def folder() -> Path:
    return without_warnings()


def test_every_name_is_exported_and_found_by_version(folder: Path) -> None:
    library = ctypes.CDLL(str(folder / "libcuda.so.1"))
    known = names()
    found, status = ctypes.c_void_p(), ctypes.c_int(9)
    for symbol in [s for versions in known.functions.values() for _, s in versions] + [*known.aliases]:
        assert hasattr(library, symbol), symbol
    for name, versions in known.functions.items():
        for version, symbol in versions:
            asked = (name.encode(), ctypes.byref(found), version, ctypes.c_uint64(0), ctypes.byref(status))
            assert library.cuGetProcAddress_v2(*asked) == 0
            address = ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
            assert (found.value, status.value) == (address, 0), symbol
    older = (b"cuMemAlloc", ctypes.byref(found), 1000, ctypes.c_uint64(0), ctypes.byref(status))
    assert (library.cuGetProcAddress_v2(*older), status.value, found.value) == (0, 2, None)


def test_errors_have_names_and_words(folder: Path) -> None:
    library = ctypes.CDLL(str(folder / "libcuda.so.1"))
    text = ctypes.c_char_p()
    for number, name in names().errors.items():
        assert library.cuGetErrorName(number, ctypes.byref(text)) == 0
        assert text.value == name.encode()
        assert library.cuGetErrorString(number, ctypes.byref(text)) == 0
        assert text.value
    assert library.cuGetErrorName(12345, ctypes.byref(text)) == 1


def test_without_a_server_there_is_no_device(folder: Path) -> None:
    calls = "d.cuInit(0), d.cuDeviceGetCount(None), d.cuArrayCreate()"
    code = f"import ctypes, sys; d = ctypes.CDLL(sys.argv[1]); print({calls})"
    plain = {name: value for name, value in os.environ.items() if name != "PTXLOOM_DRIVER"}
    for socket, said in ((None, "start the program by `ptxloom exec`"), ("/nowhere", "cannot be reached")):
        environment = plain if socket is None else {**plain, "PTXLOOM_DRIVER": socket}
        command = [sys.executable, "-c", code, str(folder / "libcuda.so.1")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.stdout.split() == ["100", "3", "801"]
        assert done.stderr.count("\n") == 1
        assert said in done.stderr


def test_a_compiler_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(build.NoDriver, match="there is no C compiler: install gcc or clang"):
        build.build(tmp_path)
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\necho 'x.c:1: error: no such thing' >&2; exit 1\n")
    failing.chmod(0o755)
    monkeypatch.setenv("CC", str(failing))
    with pytest.raises(build.NoDriver, match=r"could not compile libcuda.so.1: x.c:1: error: no such thing"):
        build.build(tmp_path)


def test_libraries_are_compiled_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PTXLOOM_CACHE", str(tmp_path))
    compiler = tmp_path / "compiler"  # it writes what it is asked for, and nothing into it
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done; : > "$2"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    build.folder.cache_clear()
    made = build.folder()
    assert made == tmp_path / "driver" / build.key()
    monkeypatch.setenv("CC", "no-such-compiler")
    build.folder.cache_clear()
    assert build.folder() == made
    build.folder.cache_clear()


def test_of_processes_that_want_the_libraries_at_once_one_compiles(tmp_path: Path) -> None:
    compiler = tmp_path / "compiler"
    count = tmp_path / "count"
    compiler.write_text(f'#!/bin/sh\necho >> {count}; while [ "$1" != -o ]; do shift; done; sleep 0.01; : > "$2"\n')
    compiler.chmod(0o755)
    environment = {**os.environ, "CC": str(compiler), "PTXLOOM_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-c", "from ptxloom.cuda_driver import build; print(build.folder())"]
    started = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    told = {child.communicate()[0] for child in started}
    assert [child.returncode for child in started] == [0, 0, 0]
    assert told == {f"{tmp_path / 'cache' / 'driver' / build.key()}\n"}
    sources = [file for one in build.LIBRARIES for file in (Path(build.__file__).parent / one.folder).rglob("*.c")]
    made = sum(name.endswith(".c") for one in build.LIBRARIES for name in one.generated)
    assert count.read_text().count("\n") == len(sources) + made + len(build.LIBRARIES)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache, and a compiler that writes what it is asked for, and two words into it."""
    monkeypatch.setenv("PTXLOOM_CACHE", str(tmp_path / "cache"))
    compiler = tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done; echo "a library" > "$2"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    return tmp_path / "cache"


def found() -> Path:
    build.folder.cache_clear()
    try:
        return build.folder()
    finally:
        build.folder.cache_clear()


def test_what_is_gone_or_changed_in_the_cache_is_made_again(quick: Path) -> None:
    made = found()
    assert made == quick / "driver" / build.key()
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    library = made / "libcuda.so.1"
    whole = library.read_bytes()
    for spoil in (
        library.unlink,
        lambda: library.write_text("something else"),
        lambda: library.write_bytes(whole[:-1]),
        (made / "libcuda.so").unlink,
        (made / "key").unlink,
        lambda: (made / "key").write_text(build.key()),
        lambda: shutil.rmtree(made),
    ):
        spoil()
        assert not build.is_there()
        assert found() == made
        assert build.is_there()
        assert library.read_bytes() == whole == (made / "libcuda.so").read_bytes()
    assert [path.name for path in made.parent.iterdir()] == [made.name]


@pytest.mark.parametrize("loose", ["driver/*", "driver/*/libcuda.so.1"])
def test_libraries_that_others_could_write_are_made_again(quick: Path, loose: str) -> None:
    made = found()
    (path,) = quick.glob(loose)
    path.chmod(0o777)
    assert not build.is_there()
    assert found() == made
    assert not path.stat().st_mode & stat.S_IWOTH


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("given", ["driver/*", "driver/*/libcuda.so.1"])
def test_libraries_of_another_user_are_made_again(quick: Path, given: str) -> None:
    made = found()
    (path,) = quick.glob(given)
    os.chown(path, 65534, 65534)
    assert not build.is_there()
    assert found() == made
    assert path.stat().st_uid == 0


@pytest.mark.parametrize("loose", ["", "driver"])
def test_libraries_that_others_can_write_are_not_used(quick: Path, loose: str) -> None:
    found()
    (path,) = quick.glob(loose) if loose else [quick]
    path.chmod(0o777)
    disk_cache._believed.cache_clear()
    with pytest.warns(DistrustWarning, match=re.escape(f"{path} can be written by others")):
        made = found()
    assert quick not in made.parents
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert all((made / library.soname).is_file() for library in build.LIBRARIES)
    disk_cache._believed.cache_clear()


def test_what_a_wheel_lacks_is_compiled(quick: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    built = tmp_path / "built"
    built.mkdir()
    build.build(built)
    (built / "libcuda.so.1").unlink()
    monkeypatch.setattr(build, "BUILT", built)
    assert (found() / "libcuda.so.1").read_text() == "a library\n"


def test_what_a_wheel_brings_needs_no_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PTXLOOM_CACHE", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setattr(build, "BUILT", folder)
    build.folder.cache_clear()
    found = build.folder()
    build.folder.cache_clear()
    assert found.parent == tmp_path / "driver"
    for library in build.LIBRARIES:
        assert (found / library.soname).read_bytes() == (folder / library.soname).read_bytes()
        assert all((found / name).samefile(found / library.soname) for name in library.names)


def _guide() -> str:
    """What the driver's guide says is missing."""
    guide = (Path(__file__).parents[2] / "docs/driver.md").read_text(encoding="utf-8")
    return guide.split("## What is missing")[1].split("\n## ")[0]


def _named(pattern: str, functions: Collection[str]) -> set[str]:
    """The functions that the guide lists, by patterns of names."""
    listed = [one for one in re.findall(r"`([\w*]+)`", _guide()) if re.match(pattern, one)]
    for one in listed:
        assert fnmatch.filter(functions, one), one
    return {name for one in listed for name in fnmatch.filter(functions, one)}


def test_the_guide_lists_the_functions_that_are_missing() -> None:
    functions = names().functions
    there = written()
    missing = {name for name, versions in functions.items() if not any(symbol in there for _, symbol in versions)}
    assert _named("cu[A-Z]", functions) == missing
    assert f"({len(missing)} of {len(functions)};" in _guide()


def test_the_guide_lists_the_functions_that_the_runtime_lacks() -> None:
    functions = runtime_names().functions
    missing = {*functions} - written(f"libcudart.so.{major()}")
    assert _named("cuda[A-Z]", functions) == missing
    assert f"({len(missing)} of {len(functions)})" in _guide()
