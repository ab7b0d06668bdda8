"""Launches that are sent before the earlier ones have been answered: nobody sees it, but in what they cost."""

import os
import subprocess
import sys

import pytest

from driver.running import PROGRAMS, Running, needs_compiler
from ptxloom.cuda_driver import build
from ptxloom.cuda_driver.environment import environment

pytestmark = needs_compiler

_FAILED = "1 of 3 launches had hazards"


@pytest.mark.parametrize(
    ("case", "said", "launches"),
    [
        ("many", ["{0} 0 201", "{0} [20201, 0]"], 221),
        ("polled", ["seen"], 2),
        ("forking", ["3 3", "0 200002"], 3),
        ("threads", ["160 True"], 1608),
        ("ordered", ["[6] [7, 0] [101, 0]"], 9),
        ("together", ["[(0, 1001), (0, 2001), (0, 3001)]"], 4),
    ],
)
def test_everybody_sees_what_launches_before_have_done(case: str, said: list[str], launches: int) -> None:
    running = Running()
    done = running.run("ahead.py", case)
    running.server.close()
    assert (done.stdout.splitlines(), done.stderr, done.returncode) == (said, "", 0)
    assert running.report.launches == launches
    assert running.report.summary() == ""


def test_later_calls_answer_the_error_of_a_launch_and_nothing_behind_it_runs() -> None:
    running = Running()
    done = running.run("ahead.py", "failing")
    running.server.close()
    assert done.stdout.splitlines() == ["0 0 0", "700 7 700"], done.stderr
    told = running.report.summary()
    assert told.startswith("ptxloom: kernel bump:\n")
    assert told.endswith(_FAILED)


def test_launches_answer_their_own_errors_where_that_is_wanted() -> None:
    running = Running(destroys="kernel")
    done = running.run("ahead.py", "failing")
    running.server.close()
    assert done.stdout.splitlines() == ["700 0 0", "0 8 0"], done.stderr
    running = Running(on_hazard="stop")
    done = running.run("ahead.py", "failing")
    running.server.close()
    assert (done.returncode, done.stdout) == (86, "")


def test_a_program_that_ends_has_told_what_its_launches_did() -> None:
    running = Running()
    done = running.run("ahead.py", "ending")
    assert (done.returncode, done.stdout, done.stderr) == (5, "", "")
    assert running.report.summary().endswith(_FAILED)
    running.server.close()


def test_a_server_that_dies_under_launches_leaves_an_error() -> None:
    command = [sys.executable, "-m", "ptxloom.cuda_driver.server", "sm_80", "memcheck", str(1 << 28), "report"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        variables = environment(build.folder(), server.stdout.readline().strip())
        program = [sys.executable, str(PROGRAMS / "ahead.py"), "dying"]
        with subprocess.Popen(
            program, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as client:
            assert client.stdout is not None
            assert client.stdout.readline() == "0\n"
            server.kill()
            server.wait()
            said, complained = client.communicate("\n", timeout=300)
    assert said.splitlines() == ["46 46"]
    assert complained == "ptxloom: the process in which kernels run has ended\n"


def test_a_block_that_is_left_has_told_what_its_launches_did() -> None:
    code = (
        "import ptxloom as pl\n"
        "with pl.driver('sm_90', on_hazard='end'):\n"
        "    import ahead, driver_calls as c\n"
        "    c.begin()\n"
        "    kernel = c.function(c.module(ahead.PTX), b'bump')\n"
        "    ahead.launch(kernel, ahead.counter(kernel), 200_000)\n"
        "    ahead.launch(kernel, c.c_uint64(64))\n"
    )
    plain = {name: value for name, value in os.environ.items() if name != "PTXLOOM_DRIVER"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=PROGRAMS, env=plain)
    assert done.stderr.endswith(_FAILED + "\n")
