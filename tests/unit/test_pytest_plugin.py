"""The plugin in sessions of its own: what it watches, what it says, and what leaves tests alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import numpy as np  # sessions in this process forget what they imported, which NumPy does not bear
import pytest

import ptxloom.machine
from ptxloom.files.toolkits import find_nvcc, find_nvrtc

pytest_plugins = ["pytester"]

PLUGINS: Final = ("-p", "ptxloom.pytest_plugin", "-p", "no:randomly", "-p", "no:asyncio", "-p", "no:pytest-lsp")
EXAMPLES: Final = Path(__file__).parents[2] / "examples"
IMPORTED: Final = (np, ptxloom.machine)

KERNELS: Final = '''
import numpy as np
import pytest
import ptxloom as pl

HEAD = ".version 8.0 .target sm_80 .address_size 64 "
RACE = HEAD + """
.entry race(.param .u64 out) {
    .reg .u32 %t, %v; .reg .u64 %a; .shared .b32 tile[64];
    mov.u32 %t, %tid.x; shl.b32 %t, %t, 2; mov.u32 %v, tile; add.u32 %v, %v, %t;
    st.shared.u32 [%v], %t;
    xor.b32 %v, %v, 128;
    ld.shared.u32 %t, [%v];
    ld.param.u64 %a, [out]; st.global.u32 [%a], 1; ret;
}
"""
BEYOND = HEAD + ".entry beyond(.param .u64 out) { .reg .u64 %a; ld.param.u64 %a, [out]; st.global.u32 [%a+4], 1; ret; }"
STRIDE = HEAD + """
.entry stride(.param .u32 shift) {
    .reg .u32 %t, %s; .shared .b32 tile[1024];
    ld.param.u32 %s, [shift]; mov.u32 %t, %tid.x; shl.b32 %t, %t, %s; st.shared.u32 [%t], %t; ret;
}
"""
WIDE = [np.zeros(4, np.uint32)]
'''


def session(pytester: pytest.Pytester, body: str, *arguments: str) -> pytest.RunResult:
    """Run tests in a process of their own folder; every launch in them is one of this machine."""
    pytester.makepyfile(KERNELS + body)
    return pytester.runpytest_inprocess(*PLUGINS, *arguments)


RACES: Final = """
def test_race():
    kernel = pl.kernel(pl.parse(RACE), "race")
    kernel.launch(1, 64, WIDE)
"""


FIXTURES: Final = """
@pytest.fixture
def before():
    pl.kernel(pl.parse(RACE), "race").launch(1, 64, WIDE)

@pytest.fixture
def behind():
    yield
    pl.kernel(pl.parse(RACE), "race").launch(1, 64, WIDE)

def test_before(before):
    pass

def test_behind(behind):
    pass

def test_taken(before, ptxloom):
    assert len(ptxloom.take_hazards()) == 1
"""


def test_the_launches_of_fixtures_are_watched_too(pytester: pytest.Pytester) -> None:
    session(pytester, FIXTURES, "-k", "not taken").assert_outcomes(passed=2, deselected=1)
    ran = session(pytester, FIXTURES, "--ptxloom")
    ran.assert_outcomes(passed=2, failed=1, errors=1)
    ran.stdout.fnmatch_lines(["*ERROR at teardown of test_behind*", "*racecheck*", "*test_before*", "*racecheck*"])


def test_a_session_that_does_not_ask_is_left_alone(pytester: pytest.Pytester) -> None:
    session(pytester, RACES).assert_outcomes(passed=1)


def test_the_device_is_there_before_a_conftest_asks_for_it(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("import os\nfound = os.environ.get('PTXLOOM_TORCH_CUDA'), os.environ.get('PTXLOOM_DEVICE')")
    pytester.makepyfile("from conftest import found\n\ndef test_it():\n    assert found == ('1', 'sm_90')")
    done = pytester.runpytest_subprocess(*PLUGINS, "--ptxloom", "--ptxloom-device", "sm_90")
    done.assert_outcomes(passed=1)


def test_a_hazard_fails_the_test_that_made_it_with_its_caret(pytester: pytest.Pytester) -> None:
    done = session(pytester, RACES, "--ptxloom")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*racecheck.*", "*|*ld.shared.u32 %t, [[]%v];", "*|*^^^*"])
    session(pytester, RACES, "--ptxloom", "--ptxloom-checks=memcheck").assert_outcomes(passed=1)


def test_what_ends_a_kernel_is_shown_with_its_caret(pytester: pytest.Pytester) -> None:
    body = "def test_end():\n    pl.kernel(pl.parse(BEYOND), 'beyond').launch(1, 1, [WIDE[0][:1]])\n"
    for options in ((), ("--ptxloom",)):
        done = session(pytester, body, *options)
        done.assert_outcomes(failed=1)
        done.stdout.fnmatch_lines(["*- ptxloom -*", "error[[]memcheck.out-of-bounds[]]*"])
    assert "grid.py" not in done.stdout.str()  # how it was found is no part of the story


def test_the_fixture_watches_the_tests_that_use_it(pytester: pytest.Pytester) -> None:
    body = """
def test_told_at_the_end(ptxloom):
    ptxloom.kernel(RACE).launch(1, 64, WIDE)

def test_told_when_asked(ptxloom):
    ptxloom.kernel(RACE, "race").launch(1, 64, WIDE)
    with pytest.raises(pytest.fail.Exception, match="racecheck"):
        ptxloom.assert_no_hazards()
    ptxloom.assert_no_hazards()

def test_told_of_one_result(ptxloom):
    result = ptxloom.kernel(pl.parse(RACE)).launch(1, 64, WIDE)
    with pytest.raises(pytest.fail.Exception):
        ptxloom.assert_no_hazards(result)

def test_taken(ptxloom):
    ptxloom.kernel(RACE).launch(1, 64, WIDE)
    assert {hazard.tool for hazard in ptxloom.take_hazards()} == {"racecheck"}

def test_right(ptxloom):
    ptxloom.kernel(STRIDE).launch(1, 32, [2])
    ptxloom.assert_no_hazards()
"""
    done = session(pytester, body)
    done.assert_outcomes(passed=4, failed=1)
    done.stdout.fnmatch_lines(["FAILED *test_told_at_the_end*"])


def test_a_failure_of_another_kind_shows_the_hazards_too(pytester: pytest.Pytester) -> None:
    done = session(
        pytester, "def test_it(ptxloom):\n    ptxloom.kernel(RACE).launch(1, 64, WIDE)\n    assert WIDE[0][1]\n"
    )
    done.stdout.fnmatch_lines(["E*assert*", "*- ptxloom -*", "*racecheck.*"])


def test_the_marker_chooses_tools_and_device(pytester: pytest.Pytester) -> None:
    body = """
@pytest.mark.ptxloom
def test_watched():
    pl.kernel(pl.parse(RACE), "race").launch(1, 64, WIDE)

@pytest.mark.ptxloom(checks="memcheck")
def test_by_one():
    pl.kernel(pl.parse(RACE), "race").launch(1, 64, WIDE)

@pytest.mark.ptxloom(device="sm_90")
class TestThere:
    @pytest.mark.ptxloom(checks=["memcheck", "initcheck"])
    def test_both(self, ptxloom):
        assert ptxloom.checks == ("memcheck", "initcheck")
        assert str(ptxloom.kernel(RACE).program.target) == "sm_90"
"""
    session(pytester, body, "--strict-markers").assert_outcomes(passed=2, failed=1)


@pytest.mark.parametrize(
    ("mark", "arguments", "says"),
    [
        ("", ("--ptxloom", "--ptxloom-checks=racechek"), "ptxloom: --checks is 'racechek'; it must be a list of "),
        ("@pytest.mark.ptxloom(tools='all')", (), "the marker ptxloom has no tools; it has checks and device"),
        ("@pytest.mark.ptxloom('racecheck')", (), "the marker ptxloom takes checks and device by name"),
        ("@pytest.mark.ptxloom(checks=5)", (), "checks is 5; it must be a list of tools"),
        ("@pytest.mark.ptxloom(checks=[5])", (), "checks is '5'"),
    ],
)
def test_wishes_that_mean_nothing_are_said(
    pytester: pytest.Pytester, mark: str, arguments: tuple[str, ...], says: str
) -> None:
    done = session(pytester, f"{mark}\ndef test_it():\n    pass\n", *arguments)
    assert done.ret
    assert (
        any(says.strip("*") in line for line in (*done.errlines, *done.outlines))
        or done.stdout.fnmatch_lines([says]) is None
    )


SNAPSHOT: Final = """
def test_cost(ptxloom):
    ptxloom.snapshot(ptxloom.kernel(STRIDE).launch(1, 32, [{shift}], profile=True))
    ptxloom.snapshot(ptxloom.kernel(STRIDE).launch(1, 32, [2], profile=True).profile, "plain")
"""


def test_a_profile_must_not_grow(pytester: pytest.Pytester) -> None:
    first = session(pytester, SNAPSHOT.format(shift=3))
    first.assert_outcomes(failed=1)
    first.stdout.fnmatch_lines(["*there is no such snapshot yet; `pytest --ptxloom-update` writes it*"])
    session(pytester, SNAPSHOT.format(shift=3), "--ptxloom-update").assert_outcomes(passed=1)
    written = sorted(pytester.path.glob("__ptxloom__/*/*.json"))
    assert [path.name for path in written] == ["test_cost.json", "test_cost.plain.json"]
    assert json.loads(written[0].read_text())["wavefronts"] == 2
    session(pytester, SNAPSHOT.format(shift=3)).assert_outcomes(passed=1)
    session(pytester, SNAPSHOT.format(shift=2)).assert_outcomes(passed=1)
    worse = session(pytester, SNAPSHOT.format(shift=4))
    worse.assert_outcomes(failed=1)
    worse.stdout.fnmatch_lines(["stride: wavefronts grew from 2 to 4, conflicts grew from 1 to 3 (test_cost.json)"])
    written[0].write_text("not JSON", encoding="utf-8")
    session(pytester, SNAPSHOT.format(shift=3)).stdout.fnmatch_lines(["*this is no snapshot*"])
    body = "def test_it(ptxloom):\n    ptxloom.snapshot(ptxloom.kernel(STRIDE).launch(1, 32, [2]))\n"
    session(pytester, body).stdout.fnmatch_lines(["*it must be that of a launch with `profile=True`"])


def test_without_what_runs_kernels_a_sentence_says_so(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("import sys\nsys.modules['llvmlite'] = None\n")
    pytester.makepyfile("def test_it():\n    pass\n")
    done = pytester.runpytest_subprocess(*PLUGINS, "--ptxloom")
    assert any("pip install 'ptxloom[run]'" in line for line in (*done.errlines, *done.outlines))
    assert not any("Traceback" in line for line in done.errlines)


CUDA: Final = """
def test_flags(ptxloom):
    out = np.zeros(2, np.int32)
    ptxloom.kernel("fill.cu", "fill<3>", options=["-DBY=10"]).launch(1, 1, [out])
    assert out.tolist() == [30, 7]
"""


def test_a_cu_is_compiled_as_settings_and_options_say(pytester: pytest.Pytester) -> None:
    pytest.importorskip("pydemumble")
    if find_nvcc() is None and find_nvrtc() is None:
        pytest.skip("no compiler of CUDA C++ is installed")
    pytester.path.joinpath("ptxloom.toml").write_text('[cuda]\ndefines = ["LAST=7", "BY=1"]\n')
    pytester.path.joinpath("fill.cu").write_text(
        "template <int N> __global__ void fill(int *out) { out[0] = N * BY; out[1] = LAST; }\n"
        "template __global__ void fill<3>(int *);\ntemplate __global__ void fill<4>(int *);\n"
    )
    session(pytester, CUDA).assert_outcomes(passed=1)


PRODUCTS: Final = """
from pathlib import Path

@pytest.mark.parametrize("form", ["m8n8.x4", "m8n8.x4.trans"])
def test_product(form):
    lines = Path("product.ptx").read_text().splitlines()
    lines[121] = lines[121].replace("m8n8.x4", form)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((16, 48), (48, 32)))
    c = np.zeros((16, 32), np.float32)
    pl.kernel(pl.parse(chr(10).join(lines)), "product").launch((2, 1), 32, [a, b, c, 32, 48])
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()
"""


def test_why_adds_the_cause_and_the_line_to_a_test_that_fails(pytester: pytest.Pytester) -> None:
    (pytester.path / "product.ptx").write_text((EXAMPLES / "broken" / "fragment.ptx").read_text())
    done = session(pytester, PRODUCTS, "--ptxloom-why")
    done.assert_outcomes(passed=1, failed=1)
    said = done.stdout.str()
    assert said.count("- ptxloom why: product -") == 1
    assert "trans-missing: operand b (from " in said
    assert "line 122 (fragment.cu:11, inlined at fragment.cu:37)" in said
    assert "ptxloom why" not in session(pytester, PRODUCTS).stdout.str()
