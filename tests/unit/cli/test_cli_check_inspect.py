"""`check`, `inspect` and `explain` on real kernels and on broken ones, in every format."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sarif_pydantic import Sarif

from ptxloom.checker import rules
from ptxloom.isa import opcodes
from ptxloom.isa.pages.words import directives, special_names
from ptxloom.syntax import instructions, load
from sweeps import part_and_whole

Run = Callable[..., Any]

ROOT = Path(__file__).parents[3]
HGEMM = str(ROOT / "examples" / "hgemm.ptx")
TRITON = str(ROOT / "examples" / "triton_matmul.ptx")
BROKEN = str(ROOT / "examples" / "broken" / "missing_trans.ptx")


def test_a_clean_file(run: Run) -> None:
    ran = run("check", HGEMM, TRITON)
    assert (ran.code, ran.out, ran.err) == (0, "", "no findings in 2 files\n")


def test_a_broken_file_in_every_format(run: Run) -> None:
    full = run("check", BROKEN)
    assert full.code == 1
    assert full.out.startswith("error[missing-trans]: ")
    assert "help: " in full.out
    assert full.err == "1 error in 1 file\n"
    concise = run("check", BROKEN, "--output-format", "concise")
    assert re.fullmatch(r".*missing_trans\.ptx:12:\d+: error: .* \[missing-trans\]\n", concise.out)
    (found,) = json.loads(run("check", BROKEN, "--output-format", "json").out)
    assert (found["rule"], found["line"]) == ("missing-trans", 12)
    assert found["fix"]
    log = Sarif.model_validate_json(run("check", BROKEN, "--output-format", "sarif").out)
    assert [r.rule_id for r in log.runs[0].results or []] == ["missing-trans"]
    described = json.loads(run("check", BROKEN, "--output-format", "sarif").out)["runs"][0]["tool"]["driver"]["rules"]
    assert "## Why" in described[0]["help"]["markdown"]
    assert run("check", BROKEN, "--output-format", "github").out.startswith(
        "::error title=ptxloom (missing-trans),file="
    )


def test_the_fix_repairs_the_file(run: Run, tmp_path: Path) -> None:
    fix: dict[str, Any] = json.loads(run("check", BROKEN, "--output-format", "json").out)[0]["fix"]
    lines = Path(BROKEN).read_text(encoding="utf-8").splitlines(keepends=True)
    at = int(fix["line"]) - 1
    line = lines[at]
    lines[at] = line[: fix["column"] - 1] + fix["replacement"] + line[fix["end_column"] - 1 :]
    repaired = tmp_path / "repaired.ptx"
    repaired.write_text("".join(lines), encoding="utf-8")
    assert run("check", str(repaired)).code == 0


def test_a_folder_and_a_missing_file(run: Run) -> None:
    assert "1 error in 5 files" in run("check", str(Path(BROKEN).parent)).err
    ran = run("check", BROKEN, "no_such.ptx")
    assert ran.code == 2
    assert "missing-trans" in ran.out


def test_a_folder_is_read_in_order_and_once(run: Run, tmp_path: Path) -> None:
    for name in ("c.ptx", "a.ptx", "b/d.ptx", "b/a.ptx", "note.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(Path(BROKEN).read_text(encoding="utf-8"), encoding="utf-8")
    out = run("check", str(tmp_path), str(tmp_path / "c.ptx"), "--output-format", "concise").out
    names = [line.split(":")[0].removeprefix(f"{tmp_path}/") for line in out.splitlines()]
    assert names == ["a.ptx", "b/a.ptx", "b/d.ptx", "c.ptx"]


def test_a_warning_is_a_finding(run: Run, tmp_path: Path) -> None:
    kernel = tmp_path / "k.ptx"
    repaired = Path(BROKEN).read_text(encoding="utf-8").replace(".m16n8.x4.b8", ".x4.m16n8.trans.b8")
    kernel.write_text(repaired, encoding="utf-8")
    ran = run("check", str(kernel))
    assert (ran.code, ran.err) == (1, "1 warning in 1 file\n")
    assert run("inspect", str(kernel), "--output-format", "concise").out.splitlines()[0].split(": ")[1] == "warning"


def test_another_target_and_version(run: Run) -> None:
    assert run("check", HGEMM, "--target", "sm_70").code == 1
    assert run("check", HGEMM, "--target", "sm_90a").code == 0
    assert run("check", BROKEN, "--ptx-version", "8.0").code == 1
    for option, value in (("--target", "sm90"), ("--ptx-version", "nine")):
        ran = run("check", HGEMM, option, value)
        assert ran.code == 2
        assert value in ran.err
        assert "Traceback" not in ran.err


@pytest.mark.parametrize("path", [HGEMM, TRITON])
def test_inspect_lists_every_matrix_move(run: Run, path: str) -> None:
    module = load(path)
    wanted = [
        (i.span.line, ".".join((i.opcode, *i.qualifiers)))
        for i in instructions(module)
        if i.opcode in ("ldmatrix", "stmatrix", "movmatrix", "mma")
    ]
    assert len(wanted) >= 24
    out = run("inspect", path).out
    assert [(int(n), i) for n, i in re.findall(r"(?m)^  \S.*[^ ] +(\d+)  (\w+\.sync\S+)", out)] == wanted
    document = json.loads(run("inspect", path, "--output-format", "json").out)
    moves = [m for f in document[0]["functions"] for m in f["matrix_moves"]]
    assert [(m["ptx"]["line"], m["instruction"]) for m in moves] == wanted
    assert {m["verdict"] for m in moves} <= {"legal", "known form"}
    assert all(m["source"] and m["fragments"] for m in moves)
    concise = run("inspect", path, "--output-format", "concise").out
    assert concise.count("\n") == len(wanted)


def test_inspect_says_what_a_kernel_uses(run: Run) -> None:
    (document,) = json.loads(run("inspect", HGEMM, "--output-format", "json").out)
    (kernel,) = document["functions"]
    assert (document["ptx_version"], document["target"], document["address_size"]) == ("9.5", ["sm_80"], 64)
    assert (kernel["name"], kernel["kind"], kernel["shared_bytes"]) == ("hgemm", "entry", 16384)
    assert kernel["limits"] == [".maxntid 128, 1, 1"]
    assert len(kernel["parameters"]) == 6
    assert "shared memory whose size the launch decides" in run("inspect", TRITON).out


def test_inspect_describes_what_is_sparse(run: Run, tmp_path: Path) -> None:
    kernel = tmp_path / "sparse.ptx"
    sparse = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32"
    kernel.write_text(
        ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry f()\n{ .reg .b32 a,b,c,d,e,f,g,h;\n"
        f"\t{sparse} {{a,b,c,d}}, {{e,f,g,h}}, {{e,f,g,h}}, {{a,b,c,d}}, e, 0;\n}}\n",
        encoding="utf-8",
    )
    ran = run("inspect", str(kernel), "--output-format", "concise")
    told = "a, b, c and d 16x8 in 4, e 2 selectors 16x8 in 1 register"
    assert (ran.code, ran.out) == (0, f"{kernel}:6:2: legal: {sparse}: {told}\n")


def test_inspect_describes_what_warpgroups_hold(run: Run, tmp_path: Path) -> None:
    kernel = tmp_path / "warpgroup.ptx"
    product = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
    kernel.write_text(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry f()\n"
        "{ .reg .f32 d<4>; .reg .b32 a<4>; .reg .b64 l, r; .reg .pred p;\n"
        "wgmma.fence.sync.aligned;\n"
        f"{product} {{d0,d1,d2,d3}}, l, r, p, 1, 1, 0, 0;\n"
        f"{product} {{d0,d1,d2,d3}}, {{a0,a1,a2,a3}}, r, p, 1, 1, 0;\n}}\n",
        encoding="utf-8",
    )
    ran = run("inspect", str(kernel), "--output-format", "concise")
    told = ("d 64x8 in 4 registers", "a 64x16 in 4, d 64x8 in 4 registers")
    lines = [f"{kernel}:{line}:1: legal: {product}: {one}\n" for line, one in zip((7, 8), told, strict=True)]
    assert (ran.code, ran.out) == (0, "".join(lines))


def test_inspect_shows_findings_and_marks_the_move(run: Run) -> None:
    ran = run("inspect", BROKEN)
    assert ran.code == 1
    assert re.search(r"12  stmatrix\.sync\.aligned\.m16n8\.x4\.b8 +error +no such form", ran.out)
    assert "error[missing-trans]" in ran.out
    assert run("inspect", HGEMM, "--target", "sm_70", "--output-format", "sarif").code == 1


@pytest.mark.parametrize("every", part_and_whole(5, 1))
def test_every_rule_and_opcode_has_a_page(run: Run, every: int) -> None:
    listed = run("explain").out
    assert max(map(len, listed.splitlines())) <= 170
    for name in (*rules(), *opcodes())[::every]:
        assert f"  {name} " in listed
        page = run("explain", name)
        assert page.code == 0
        assert page.out.startswith("# ")
    for name in (*special_names(), *(f".{name}" for name in directives()))[::every]:
        assert f"  {name} " in listed
        page = run("explain", name)
        assert (page.code, "PTX ISA" in page.out) == (0, True)
    assert run("explain", "%tid.x").out == run("explain", "tid").out == run("explain", "%tid").out
    assert run("explain", ".REQNTID").out == run("explain", "reqntid").out
    assert "only this architecture" in run("explain", "sm_90a").out
    assert run("explain", "[missing-trans]").out == run("explain", "missing-trans").out
    found_by = run("explain", "missing-trans").out.partition("## Found by")[2]
    assert "- `ptxloom.checker.instruction.qualifiers._missing`" in found_by.splitlines()
    assert run("explain", "ldmatrix.sync.aligned").out == run("explain", "ldmatrix").out


def test_an_unknown_page_names_the_nearest(run: Run) -> None:
    ran = run("explain", "missing-tran")
    assert (ran.code, ran.out) == (2, "")
    assert "did you mean `missing-trans`?" in ran.err
