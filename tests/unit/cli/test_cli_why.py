"""`ptxloom why`: the cause, the line and the repair of a kernel that a launch file runs."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from ptxloom.cli import main
from ptxloom.cli.arguments import machine_arguments
from ptxloom.cli.launch_files.launch_file import LaunchFile
from ptxloom.cli.usage.verb_parser import VerbParser
from ptxloom.diagnosis import CAUSES
from ptxloom.machine.results.outcome import LaunchError, NotReadyError

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"


def _broken(folder: Path) -> str:
    """The hgemm of the examples with `.trans` left out, and its launch file."""
    text = (EXAMPLES / "hgemm.ptx").read_text()
    (folder / "hgemm.ptx").write_text(text.replace("m8n8.x4.trans", "m8n8.x4"))
    launch = folder / "hgemm.toml"
    launch.write_text((EXAMPLES / "hgemm.toml").read_text())
    return str(launch)


def test_a_right_kernel_breaks_no_law(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(EXAMPLES / "hgemm.toml")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("no law is broken")
    assert "judged: 1,152 matrix products and 24,576 stored elements" in said


def test_the_cause_the_line_and_what_became_of_the_repair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", _broken(tmp_path), "--try"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("trans-missing: operand b, from B: ")
    assert "(PTX line 388): ldmatrix" in said
    assert "as it is | as it should be" in said
    assert said.rstrip().endswith("tried: with the repair no law is broken, and the result is right")


def test_the_same_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", _broken(tmp_path), "--try", "--output-format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    (one,) = found["diagnoses"]
    assert (one["cause"], one["array"], one["certain"], one["line"]) == ("trans-missing", "B", True, 388)
    assert all(".trans." in edit["new"] for edit in one["repair"])
    assert (found["verdict"], found["compared"], found["wrong"], found["unjudged"]) == ("broken", True, ["C"], [])
    assert found["judged"] == {"products": 1152, "terms": 0, "elements": 24576}
    tried = found["tried"]
    assert (tried["verdict"], tried["compared"]) == ("clean", True)
    assert (tried["downgraded"], tried["diagnoses"], tried["wrong"]) == ([], [], [])


def test_what_the_tools_find_is_spoken_of_before_any_law(capsys: pytest.CaptureFixture[str]) -> None:
    barrier = str(EXAMPLES / "broken" / "missing_barrier.toml")
    assert main(["why", barrier]) == 1
    said = capsys.readouterr().out
    assert said.startswith("error[racecheck.read-after-write]: ")
    assert said.endswith("racecheck: 1 hazard; initcheck: 1 hazard; memcheck, synccheck: nothing\n")
    assert main(["why", barrier, "--output-format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [one["rule"] for one in found["hazards"]] == ["racecheck.read-after-write", "initcheck.uninitialised"]
    assert (found["ended"], found["verdict"]) == ("", "unjudged")


def test_a_race_between_ctas_is_reported_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each CTA adds to one sum in global memory without an atomic."""
    ptx = tmp_path / "sum.ptx"
    ptx.write_text(
        """.version 8.0
        .target sm_80
        .address_size 64
        .visible .entry k(.param .u64 y)
        {
        .reg .b64 %d; .reg .f32 %f;
        ld.param.u64 %d, [y];
        ld.global.f32 %f, [%d];
        add.f32 %f, %f, 0f3f800000;
        st.global.f32 [%d], %f;
        ret;
        }"""
    )
    assert main(["why", str(ptx), "--grid", "4", "--block", "1", "--arg", "Y=zeros:f32:1"]) == 1
    assert capsys.readouterr().out.startswith("error[racecheck.")


def test_an_access_out_of_bounds_names_what_lets_it_and_where_its_index_is_computed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ptx = tmp_path / "edge.ptx"
    ptx.write_text(
        """.version 8.0
        .target sm_80
        .address_size 64
        .file 1 "edge.cu"
        .visible .entry k(.param .u64 x, .param .u32 n)
        {
        .reg .b64 %d<4>; .reg .b32 %r<4>; .reg .pred %p<4>;
        ld.param.u64 %d0, [x];
        ld.param.u32 %r0, [n];
        mov.u32 %r1, %tid.x;
        .loc 1 5 3
        sub.s32 %r2, %r1, 1;
        .loc 1 0 3
        setp.ge.s32 %p0, %r1, 40;
        .loc 1 6 3
        setp.ge.s32 %p1, %r2, %r0;
        .loc 1 7 3
        or.pred %p2, %p0, %p1;
        @%p2 bra DONE;
        mul.wide.s32 %d1, %r2, 4;
        add.s64 %d2, %d0, %d1;
        st.global.u32 [%d2], %r1;
        DONE: ret;
        }"""
    )
    words = ["why", str(ptx), "--grid", "1", "--block", "32", "--arg", "X=zeros:u32:32", "--arg", "32"]
    assert main(words) == 1
    told = "the index at edge.cu:7 is computed at edge.cu:5; the access is guarded at edge.cu:6"
    assert told in capsys.readouterr().out.splitlines()
    assert main([*words, "--output-format", "json"]) == 1
    (one,) = json.loads(capsys.readouterr().out)["behind"]
    assert one == {"place": "edge.cu:7", "guards": ["edge.cu:6"], "index": ["edge.cu:5"]}


def test_a_kernel_that_is_ended_is_not_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "beyond.ptx"
    path.write_text(
        ".version 9.0 .target sm_90 .address_size 64 .entry k(.param .u64 a) { .reg .b64 %a; ld.param.u64 %a, [a]; "
        "st.global.u32 [%a+64], 1; ret; }"
    )
    assert main(["why", str(path), "--grid=1", "--block=1", "--arg=A=zeros:f32:4"]) == 1
    said = capsys.readouterr().out
    assert "no law was checked" in said
    assert "error[memcheck." in said
    assert "no law is broken" not in said
    assert said.endswith("memcheck: 1 hazard; racecheck, initcheck, synccheck: nothing\n")


def test_a_kernel_that_waits_for_ever_is_ended_and_told_who_waits_for_what(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "waits.ptx"
    path.write_text(
        """.version 9.0 .target sm_90 .address_size 64 .entry k(.param .u32 parity) {
        .shared .b64 full; .reg .pred %p; .reg .b32 %s, %q; mov.u32 %s, full; ld.param.u32 %q, [parity];
        mbarrier.init.shared.b64 [%s], 1;
        W: mbarrier.try_wait.parity.shared.b64 %p, [%s], %q;
        @!%p bra W;
        ret; }"""
    )
    words = ["why", str(path), "--grid=1", "--block=1", "--arg"]
    assert main([*words, "1"]) == 2
    assert "no-progress" not in capsys.readouterr().out
    assert main([*words, "0", "--timeout=2"]) == 1
    said = capsys.readouterr().out
    assert "synccheck.no-progress" in said
    assert "waits.ptx:4" in said
    parser = VerbParser()
    machine_arguments.why(parser)
    assert parser.parse_args([str(path)]).timeout < 60


def test_laws_that_are_broken_beside_a_hazard_are_not_certain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    launch = _broken(tmp_path)
    ptx = tmp_path / "hgemm.ptx"
    text = ptx.read_text()
    at = text.index("bar.sync")
    ptx.write_text(text[:at] + "// " + text[at:])
    assert main(["why", launch, "--output-format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert "racecheck" in {one["rule"].partition(".")[0] for one in found["hazards"]}
    assert "trans-missing" in [one["cause"] for one in found["diagnoses"]]
    assert not any(one["certain"] for one in found["diagnoses"])


def test_a_wrong_run_says_what_to_type_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    launch = _broken(tmp_path)
    assert main(["run", launch, "--checks", "memcheck,initcheck", "--profile"]) == 1
    said = capsys.readouterr().out
    assert "no hazards: memcheck, initcheck watched; racecheck and synccheck were off\n" in said
    assert f"\nwhy: ptxloom why {launch}\n" in said
    assert main(["run", str(EXAMPLES / "hgemm.toml")]) == 0
    assert "ptxloom why" not in capsys.readouterr().out


SGEMM = (
    str(EXAMPLES / "sgemm.ptx"),
    "--grid=2,2",
    "--block=16,16",
    *(f"--arg={name}=integers:f32:32x32" for name in "AB"),
    "--arg=C=zeros:f32:32x32",
    *("--arg=32",) * 3,
)


ADD = (
    str(EXAMPLES / "vector_add.ptx"),
    "--grid=1",
    "--block=128",
    *(f"--arg={name}=integers:f32:128" for name in "AB"),
    "--arg=C=zeros:f32:128",
    "--arg=128",
)


def test_what_could_not_be_judged_is_told_apart_by_exit_code_and_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", *ADD, "--output-format", "json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["compared"], found["wrong"]) == ("unjudged", False, [])
    assert found["judged"] == {"products": 0, "terms": 0, "elements": 0}
    assert sum(one["count"] for one in found["unjudged"]) == 128
    assert main(["why", *ADD]) == 2
    said = capsys.readouterr().out
    assert said.startswith("could not judge")
    assert "judged: nothing\nnot judged:\n  examples/vector_add.cu:5 (PTX line " in said


def test_what_is_said_judges_where_elements_come_from_and_acquits_no_wrong_result(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["why", *ADD, "--expect", "C = A + B"]) == 0
    assert capsys.readouterr().out.startswith("no law is broken")
    assert main(["why", *ADD, "--expect", "C = A - B", "--output-format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    (one,) = found["diagnoses"]
    assert (found["verdict"], found["wrong"], one["cause"], one["certain"]) == (
        "broken",
        ["C"],
        "wrong-operation",
        False,
    )
    assert main(["why", *ADD, "--expect", "C = A * 3 + B / 7"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("unknown (not certain): C: ")
    assert (
        "C is wrong, and no law is broken: where elements come from was judged, what is computed with them was" in said
    )
    assert main(["why", *ADD, "--expect", "C = A * 3 + B / 7", "--output-format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["wrong"]) == ("unjudged", ["C"])
    assert {(one["cause"], one["certain"]) for one in found["diagnoses"]} == {("unknown", False)}


LATE: Final[Any] = SimpleNamespace(rule="synccheck.no-progress")


@pytest.mark.parametrize(
    ("error", "limits"),
    [
        (NotReadyError("the time limit came"), [20.0] * 3),
        (LaunchError("the kernel did not end within its time limit", (LATE,)), [20.0, 40.0, 80.0]),
    ],
    ids=["to make ready", "to run"],
)
def test_a_kernel_that_others_left_no_time_is_launched_again(
    error: Exception, limits: list[float], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    launched, real = list[object](), LaunchFile.launch

    def launch(self: LaunchFile, *arguments: Any, **options: Any) -> Any:
        launched.append(options["timeout"])
        if len(launched) < 3:
            raise error
        return real(self, *arguments, **options)

    monkeypatch.setattr(LaunchFile, "launch", launch)
    assert main(["why", *ADD, "--expect", "C = A + B"]) == 0
    assert launched == limits
    assert capsys.readouterr().out.startswith("no law is broken")


def test_a_product_without_tensor_cores_is_judged_term_by_term(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", *SGEMM, "--expect", "C = A @ B"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("no law is broken: every element")
    assert "judged: 32,768 products of two elements and 1,024 stored elements" in said
    assert main(["why", *SGEMM, "--expect", "C = A @ B.T", "--output-format", "json"]) == 1
    (one,) = json.loads(capsys.readouterr().out)["diagnoses"]
    assert (one["cause"], one["operand"], one["array"]) == ("order-exchanged", "b", "B")


def test_sums_that_are_coarser_than_the_result_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    ptx = ROOT / "tests" / "diagnosis" / "ptx" / "judging.ptx"
    launch = ["--kernel=downgraded", "--grid=4,1", "--block=32", "--arg=A=normal:f16:16x64", "--arg=B=normal:f16:32x64"]
    words = ["why", str(ptx), *launch, "--arg=C=zeros:f32:16x32", "--arg=32", "--arg=64", "--expect", "C = A @ B.T"]
    assert main(words) == 1
    said = capsys.readouterr().out
    assert said.startswith("C is wrong, and no law is broken\ndowngrade of C: its sums are in f16, not in f32")
    assert main([*words, "--accumulate", "f16"]) == 0


@pytest.mark.parametrize(("name", "command"), [("train.py", "python train.py"), ("prog", "./prog")])
def test_a_program_that_is_named_as_a_file_is_told_how_it_is_run(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(b"\x7fELF")
    (tmp_path / name).chmod(0o755)
    assert main(["why", name]) == 2
    assert f"`ptxloom why -- {command}` runs a program" in capsys.readouterr().err


def test_the_document_lists_every_cause() -> None:
    page = (ROOT / "docs" / "why.md").read_text()
    assert [cause for cause in CAUSES if f"| `{cause}` | {CAUSES[cause].about} |" not in page] == []
