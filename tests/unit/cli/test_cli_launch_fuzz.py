"""Every key of a launch file with every kind of wrong value, and every wrong kind of array: a sentence, or it runs."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import ml_dtypes
import numpy as np
import pytest

from ptxloom.cli.arguments.launch_keys import FILLS

if TYPE_CHECKING:
    from pathlib import Path

Run = Callable[..., Any]

PTX: Final = """.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 out, .param .u64 in, .param .u32 n)
{
\t.reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .pred %p;
\tmov.u32 %r1, %tid.x; ld.param.u32 %r2, [n]; setp.ge.u32 %p, %r1, %r2; @%p bra END;
\tmul.wide.u32 %rd1, %r1, 4;
\tld.param.u64 %rd2, [in]; add.u64 %rd3, %rd2, %rd1; ld.global.u32 %r3, [%rd3];
\tld.param.u64 %rd4, [out]; add.u64 %rd5, %rd4, %rd1; st.global.u32 [%rd5], %r3;
END:
\tret;
}
"""
TABLE: Final = {
    "ptx": '"copy.ptx"',
    "kernel": '"copy"',
    "grid": "1",
    "block": "32",
    "cluster": "1",
    "shared_bytes": "0",
    "target": '"sm_80"',
    "contract": '"fused"',
}
OUT: Final = {"name": '"C"', "zeros": '{ shape = [4, 4], dtype = "float32" }', "save": '"c.npy"'}
IN: Final = {"name": '"A"', "npy": '"in.npy"'}
COUNT: Final = {"value": "16"}
COMPARED: Final = {"array": '"C"', "equals": '"in.npy"', "rtol": "0"}
PRODUCT: Final = {"expect": '"C = A @ A"', "rtol": "0", "atol": "1e300"}
MADE: Final = {"shape": "[4, 4]", "dtype": '"float32"', "seed": "1"}

WRONG: Final = (
    *("true", "false", "-1", "0", "1", "7", "16", "99999999", "9" * 18, "9" * 25, str(1 << 62), str(1 << 70)),
    *(
        "1.5",
        "-0.0",
        "1e300",
        "nan",
        "inf",
        "-inf",
        '""',
        '" "',
        '"x"',
        '"../x"',
        '"\\u0000"',
        '"\\n"',
        f'"{"x" * 300}"',
    ),
    *('"."', '"fifo"', '"folder"', '"/dev/null"', '"/dev/zero"', '"/dev/full"', '"copy.ptx"', '"link"', '"broken"'),
    *('"in.npy"', '"many.npz"', '"text.npy"', '"strings.npy"', '"objects.npy"', '"empty"', '"cut.npy"', '"huge.npy"'),
    *('"structs.npy"', '"dates.npy"', '"bytes.npy"', '"half.npy"', '"swapped.npy"', '"zero.npy"', '"complex.npy"'),
    *("[]", "[[]]", "[0]", "[1, 2, 3, 4]", "[-1]", '["x"]', "[1.5]", "[true]", '["C", "A"]', '["C"]', '["", ""]'),
    *("[0, 1180591620717411303424]", f"[{', '.join(['1'] * 70)}]", "[4, 4]", "[16, 1, 1]", "[[1], [2]]"),
    *("[0, 4294967296, 4294967296]", "[131072, 131072]", "[1, 2, 3]", f"[{1 << 63}]", "[2, 8]", "[4, 4, 1]"),
    *("{}", "{ shape = [4] }", '{ shape = [4, 4], dtype = "int32" }', "[{}]", "{ what = 1 }", "{ shape = {} }"),
    *("2020-01-01", "12:00:00", "2020-01-01T00:00:00Z", '["A", 1]', '"A"', '"C"', '"copy"', '"sm_9"', '"sm_90"'),
    *('"__builtins__"', '"dtype"', '"object"', '"O"', '"bfloat16"', '"int4"', '"float4_e2m1fn"', '"str"', '"S8"'),
    *('"V4"', '"datetime64"', '"f4,f4"', '"finfo"', '"complex64"', '"bool"', '">f4"', '"float32 "', '"longdouble"'),
    *('"(2,)f4"', "\"{'names': 1}\"", '"void"', '"uint8"', '"float16"', '"generic"', '"__doc__"', '"float"', '"int"'),
)


def written(table: dict[str, str], entries: list[dict[str, str]], compared: list[dict[str, str]]) -> str:
    """A launch file."""
    lines = [f"{key} = {value}" for key, value in table.items()]
    for head, group in (("args", entries), ("compare", compared)):
        for entry in group:
            lines += [f"[[{head}]]", *(f"{key} = {value}" for key, value in entry.items())]
    return "\n".join(lines) + "\n"


def launches() -> Iterator[str]:
    """The launch file, one value of it changed."""
    for value in WRONG:
        for key in (*TABLE, "what"):
            yield written({**TABLE, key: value}, [OUT, IN, COUNT], [COMPARED])
        for key in ("args", "compare"):
            yield written({**TABLE, key: value}, [] if key == "args" else [OUT, IN, COUNT], [])
        for number, entry in enumerate((OUT, IN, COUNT)):
            for key in entry:
                entries = [OUT, IN, COUNT]
                entries[number] = {**entry, key: value}
                yield written(TABLE, entries, [COMPARED])
        for compared in (COMPARED, PRODUCT):
            for key in compared:
                yield written(TABLE, [OUT, IN, COUNT], [{**compared, key: value}])
        for source, keys in FILLS.items():
            for key in (known.name for known in keys):
                inside = ", ".join(f"{k} = {v}" for k, v in {**MADE, key: value}.items() if k != "seed" or key == k)
                made = {"name": '"A"', source: f"{{ {inside} }}"}
                yield written(TABLE, [OUT, made, COUNT], [PRODUCT])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    values = np.arange(16, dtype=np.float32).reshape(4, 4)
    others: dict[str, Any] = {
        "in": values,
        "strings": np.full((4, 4), "text"),
        "objects": np.full((4, 4), None),
        "structs": np.zeros((4, 4), [("a", "f4"), ("b", "i4")]),
        "dates": np.zeros((4, 4), "datetime64[s]"),
        "bytes": values.view("V4"),
        "half": values.astype(np.float16),
        "swapped": values.astype(">f4"),
        "zero": np.float32(1),
        "complex": values.astype(np.complex64),
    }
    for name, array in others.items():
        np.save(tmp_path / f"{name}.npy", array, allow_pickle=name == "objects")
    np.savez(tmp_path / "many.npz", values)
    whole = (tmp_path / "in.npy").read_bytes()
    (tmp_path / "cut.npy").write_bytes(whole[:-5])
    (tmp_path / "huge.npy").write_bytes(whole.replace(b"(4, 4)", b"(4, 99999999999999)").replace(b"14f  ", b""))
    (tmp_path / "text.npy").write_text("no array")
    (tmp_path / "empty").write_text("")
    (tmp_path / "copy.ptx").write_text(PTX)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("in.npy")
    (tmp_path / "broken").symlink_to("nothing")
    os.mkfifo(tmp_path / "fifo")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def says_why(talk: str) -> bool:
    """Whether it is one line of ours that holds no exception of Python's."""
    said = [line for line in talk.splitlines() if re.match(r"ptxloom: .", line)]
    return bool(said) and not re.search(r"Traceback|Errno|object at 0x|[a-z]Error\b", talk)


def ran_well(run: Run, text: str, path: Path) -> bool:
    """Run it; whether it ran."""
    path.write_text(text, encoding="utf-8")
    ran = run("run", str(path), "--timeout", "20", "--threads", "1")
    assert ran.code in {0, 1, 2}, text
    assert ran.code != 2 or says_why(ran.err), (text, ran.err)
    return bool(ran.code != 2)


def test_the_launch_file_itself_runs(run: Run, folder: Path) -> None:
    assert run("run", "missing.toml").code == 2
    for compared in (COMPARED, PRODUCT):
        assert ran_well(run, written(TABLE, [OUT, IN, COUNT], [compared]), folder / "l.toml")


PARTS: Final = 48  # of all wrong values: one is tried in every run


@pytest.mark.sample(every=48)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_wrong_value_ends_in_a_traceback(run: Run, folder: Path, part: int) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    texts = [text for number, text in enumerate(dict.fromkeys(launches())) if number % PARTS == part]
    assert len(texts) > 80
    ran = 0
    for text in texts:
        ran += ran_well(run, text, folder / "l.toml")
        for path, data in before.items():
            if not path.is_file() or path.read_bytes() != data:  # saved there
                path.unlink(missing_ok=True)
                path.write_bytes(data)
    assert 0 < ran < len(texts) / 2


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("fifo", "is not a file"),
        ("folder", "is not a file"),
        ("/dev/zero", "is not a file"),
        ("many.npz", "archive"),
        ("strings.npy", "not numbers"),
        ("objects.npy", "not numbers"),
        ("dates.npy", "no plain array of numbers"),
        ("cut.npy", "fewer bytes"),
        ("huge.npy", "bytes than its header says"),
        ("broken", "no such file"),
    ],
)
def test_what_is_no_array_is_said(run: Run, folder: Path, name: str, says: str) -> None:
    for entries, compared in (
        ([OUT, {**IN, "npy": f'"{name}"'}, COUNT], COMPARED),
        ([OUT, IN, COUNT], {**COMPARED, "equals": f'"{name}"'}),
    ):
        (folder / "l.toml").write_text(written(TABLE, entries, [compared]))
        ran = run("run", "l.toml")
        assert ran.code == 2
        assert says in ran.err


def spoiled_headers() -> Iterator[bytes]:
    """Headers of .npy files that say something else, of the same length."""
    good = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 4), }"
    for old, new in (
        (b"'<f4'", b"'<q4'"),
        (b"'<f4'", b"[1,2]"),
        (b"'<f4'", b"1e999"),
        (b"'<f4'", b"'|O' "),
        (b"(4, 4)", b"(-4,4)"),
        (b"(4, 4)", b"'4, 4'"),
        (b"(4, 4)", b"(4.,4)"),
        (b"(4, 4)", b"99999 "),
        (b"False", b"None "),
        (b"{", b"["),
        (b"}", b"("),
        (b"'shape'", b"'Shape'"),
        (b"'descr'", b"((((((("),
        (good, b"[" * len(good)),
        (good, b"-" * len(good)),
        (good, b"\0" * len(good)),
    ):
        yield good.replace(old, new)


def test_no_header_ends_in_a_traceback(run: Run, folder: Path) -> None:
    whole = (folder / "in.npy").read_bytes()
    good = b"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 4), }"
    assert good in whole
    spoiled = [whole.replace(good, header) for header in spoiled_headers()]
    spoiled += [whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :] for at in range(128)]
    spoiled += [whole[:size] for size in range(0, 192, 7)]
    text = written(TABLE, [OUT, {**IN, "npy": '"spoiled.npy"'}, COUNT], [])
    for data in spoiled:
        (folder / "spoiled.npy").write_bytes(data)
        ran_well(run, text, folder / "l.toml")


@pytest.mark.parametrize("kind", [ml_dtypes.bfloat16, np.int16, np.complex64, np.bool_, ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize("rtol", ["0", "1e-3"])
def test_numbers_of_every_kind_are_compared(run: Run, folder: Path, kind: Any, rtol: str) -> None:
    words = 64 // np.dtype(kind).itemsize
    values = np.ones(words, kind)
    np.save(folder / "in.npy", values.view(f"V{values.itemsize}") if values.dtype.kind == "V" else values)
    made = {"name": '"C"', "zeros": f'{{ shape = [{words}], dtype = "{np.dtype(kind).name}" }}'}
    source = {"name": '"A"', "npy": '"in.npy"'}
    text = written(TABLE, [made, source, COUNT], [{"array": '"C"', "equals": '"in.npy"', "rtol": rtol}])
    (folder / "l.toml").write_text(text)
    ran = run("run", "l.toml")
    if values.dtype.kind == "V":  # NumPy's files do not say which
        assert f"the type of in.npy is 'void{8 * values.itemsize}'" in ran.err
    else:
        assert ran.code == 0, ran


def saved(folder: Path, name: str) -> str:
    (folder / "l.toml").write_text(written(TABLE, [{**OUT, "save": f'"{name}"'}, IN, COUNT], []))
    return str(folder / "l.toml")


OLD = b"\x93NUMPY of before"


def test_an_array_is_saved_under_exactly_its_name(run: Run, folder: Path) -> None:
    assert run("run", saved(folder, "c.npy"), "--save", f"C={folder / 'result'}").code == 0
    assert np.array_equal(np.load(folder / "result"), np.load(folder / "in.npy"))
    assert not (folder / "result.npy").exists()


def test_a_link_is_replaced_and_what_it_leads_to_stays(run: Run, folder: Path) -> None:
    (folder / "old.npy").write_bytes(b"old")
    (folder / "result.npy").symlink_to("old.npy")
    assert run("run", saved(folder, "result.npy")).code == 0
    assert (folder / "old.npy").read_bytes() == b"old"
    assert not (folder / "result.npy").is_symlink()


def test_only_an_array_is_replaced(run: Run, folder: Path) -> None:
    (folder / "thesis.txt").write_text("years of work")
    ran = run("run", saved(folder, "c.npy"), "--save", f"C={folder / 'thesis.txt'}")
    assert ran.code == 2
    assert "no hazards" in ran.out
    assert "thesis.txt: what is there is not a NumPy file" in ran.err
    assert (folder / "thesis.txt").read_text() == "years of work"
    (folder / "c.npy").write_bytes(OLD)
    (folder / "new.npy").touch()
    for name in ("c.npy", "new.npy"):
        assert run("run", saved(folder, name)).code == 0
        assert np.array_equal(np.load(folder / name), np.load(folder / "in.npy"))


@pytest.mark.parametrize("limit", [0, 64, 130, 191])
def test_a_full_disk_keeps_the_old_array_and_tells_the_result(run: Run, folder: Path, limit: int) -> None:
    (folder / "c.npy").write_bytes(OLD)
    name = saved(folder, "c.npy")
    assert run("run", str(name)).code == 0  # so that all code is compiled
    (folder / "c.npy").write_bytes(OLD)
    before = sorted(path.name for path in folder.iterdir())
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        ran = run("run", name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert ran.code == 2
    assert "no hazards" in ran.out
    assert "cannot write" in ran.err
    assert (folder / "c.npy").read_bytes() == OLD
    assert sorted(path.name for path in folder.iterdir()) == before
