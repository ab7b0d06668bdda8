"""Programs on the driver: what they compute, what is reported of them, threads, forks, a server that dies."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from driver.running import PROGRAMS, Running, needs_compiler
from driver.sanitizers import surroundings
from ptxloom.cuda_driver.report import Report
from ptxloom.descriptors import encode_tiled

pytestmark = needs_compiler


@pytest.fixture
def running() -> Iterator[Running]:
    made = Running()
    yield made
    made.server.close()


def test_kernels_run_and_modules_have_variables_of_their_own(running: Running) -> None:
    done = running.run("kernels.py")
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        str([*range(100, 110)]),
        str([*range(5, 15)]),
        str([100, 101, 102, 7, 7]),
        str([100, 101, 102, 7, 7]),
        str([100, 101, 1, 1, 1]),
        str([100, 101, 1]),
        "('cuMemcpyDtoH_v2', 1)",
    ]
    assert running.report.launches == 4
    assert running.report.summary() == ""


def test_a_hazard_names_the_array_by_the_line_that_made_it(running: Running) -> None:
    done = running.run("hazards.py")
    assert done.stdout.splitlines() == ["cuCtxSynchronize 700", "cuMemcpyDtoH_v2 700"]
    told = running.report.summary()
    lines = (PROGRAMS / "driver_calls.py").read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if text.endswith("# reports name this line"))
    assert "ptxloom: kernel fill:" in told
    assert f"memcheck.out-of-bounds: write of 4 bytes at alloc[0] of {PROGRAMS / 'driver_calls.py'}:{line}+0x28" in told
    assert "\nptxloom: lines are those of the PTX; " in told
    assert told.endswith("ptxloom: 1 of 1 launches had hazards")


NO_TOOL, TOO = "ptxloom: no tool looked for races", "looks for them, too"


@pytest.mark.parametrize(
    ("checks", "said"),
    [
        (("memcheck", "synccheck"), f"{NO_TOOL}; `--checks all` {TOO}"),
        (("racecheck",), f"{NO_TOOL} in global memory; `--checks all,racecheck:global` {TOO}"),
        (("racecheck:global",), f"{NO_TOOL} in shared memory; `--checks all,racecheck:global` {TOO}"),
        (("racecheck", "racecheck:global"), ""),
        (None, ""),
    ],
)
def test_the_summary_says_which_races_no_tool_looked_for(checks: tuple[str, ...] | None, said: str) -> None:
    for on_hazard in ("report", "end", "stop", "ignore"):
        report = Report(on_hazard, checks=checks)
        assert report.summary() == ""  # nothing was launched
        report.launched()
        assert report.summary() == ("" if on_hazard == "ignore" else said)


WHOLE_TILE, ILLEGAL = "0 0 0", "0 715 715"


@pytest.mark.parametrize(
    ("copy", "returned"),
    [
        ("load 4 4", WHOLE_TILE),
        ("load -4 -100", WHOLE_TILE),
        ("load 2 0", ILLEGAL),
        ("store 4 4", WHOLE_TILE),
        ("store 0 -2", ILLEGAL),
        ("other-rank 0 0", ILLEGAL),
        ("no-map 0 0", ILLEGAL),
    ],
)
def test_a_tensor_copy_that_hardware_takes_for_an_illegal_instruction(copy: str, returned: str) -> None:
    """Recorded on an H200 as CUDA_ERROR_ILLEGAL_INSTRUCTION (`recorded/tensor_maps`); the context is lost with it."""
    running = Running("sm_90")
    try:
        done = running.run("tensor_copies.py", *copy.split())
    finally:
        running.server.close()
    assert done.stdout.split("\n")[0] == returned, done.stderr


@pytest.mark.parametrize(
    ("walk", "pixels"),
    [("0 0 2 0 0", 32), ("-1 -1 -2 0 0", 32), ("-2 -1 0 1 3", 35), ("-2 -4 3 0 0", 32)],
    ids=["whole-rows", "begins-before-the-box", "offset-and-halo", "beyond-the-images"],
)
def test_a_program_copies_along_the_width_as_a_loop_on_the_host(walk: str, pixels: int) -> None:
    """By the manual (PTX ISA 5.5.5): no silicon that has `.im2col::w` was asked."""
    running = Running("sm_100")
    try:
        done = running.run("width_copies.py", *walk.split())
    finally:
        running.server.close()
    assert done.stderr == ""
    assert done.stdout.split() == ["0", "0", str(32 * pixels), "0"]
    assert running.report.summary() == ""


@pytest.mark.parametrize("on_hazard", ["report", "end"])
def test_a_report_is_told_once_and_of_a_kernel_not_too_many(on_hazard: str, capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(on_hazard)
    for launch in range(1000):
        for kernel, what in (("again", "the same"), ("other", f"alloc[{launch}]")):
            report.launched()
            report.found(kernel, what)
    told = capsys.readouterr().err + report.summary()
    assert told.count("kernel again") == 1
    assert told.count("kernel other") == 10
    assert told.endswith("ptxloom: 2,000 of 2,000 launches had hazards; 1,989 reports were left out")


def test_the_log_tells_of_missing_functions_and_of_kernels_that_were_ended(running: Running) -> None:
    done = running.run("logs.py")
    assert done.stderr == ""
    missing = "a function is missing: cuGraphicsUnregisterResource"
    ended = "a kernel was ended: CUDA_ERROR_ILLEGAL_ADDRESS"
    assert done.stdout.splitlines() == [f"heard 0 {missing}", f"heard 0 {ended}", missing, ended, missing]


def test_memory_of_a_graph_is_there_from_its_launch_until_it_is_freed(running: Running) -> None:
    done = running.run("graph_memory.py")
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["[5, 6, 7, 8] 1", "[5, 6, 7, 8] 1", "the next call 700"]
    told = running.report.summary()
    assert "memcheck.use-after-free: write of 4 bytes at alloc[1] of " in told
    assert "ptxloom: 1 of 3 launches had hazards" in told


def test_pools_lie_on_the_device_on_the_host_or_move(running: Running) -> None:
    done = running.run("pools.py")
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "[5, 6, 7] 2 0 True 0 40",  # memory type, managed, its pool, what the host may, bytes taken
        "1 0 0",  # not the host's to free; none is taken, the pool goes
        "[5, 6, 7] 1 0 True 3 40",
        "1 0 0",
        "[5, 6, 7] 2 1 True 3 40",
        "1 0 0",
        "[5, 6, 7] 2 1 True 3 40",
        "1 0 0",
        "1 1",  # the default one stays, and is not the device's
        "True 1",
        "1",
        "0 0",  # nothing
        "1 True 3",  # only that of a host's node goes to other processes, and stays the host's
    ]


def test_a_hazard_can_end_the_program() -> None:
    running = Running(on_hazard="stop")
    done = running.run("hazards.py")
    running.server.close()
    assert (done.returncode, done.stdout) == (86, "")


def test_a_kernel_that_ends_can_leave_the_context_alone() -> None:
    running = Running(destroys="kernel")
    done = running.run("failing_once.py")
    running.server.close()
    assert done.stdout.splitlines() == ["cuLaunchKernel 700", "[5, 6]"]


def test_a_cta_that_can_be_launched_has_room(running: Running) -> None:
    assert running.run("occupancy.py").stdout == "True 1\n"


def test_threads_share_a_device(running: Running) -> None:
    assert running.run("threads.py").stdout == "152 True\n"


def test_waits_are_over_when_the_value_is_there(running: Running) -> None:
    hows = ("at least", "equal", "any bit", "any bit in neither")
    assert running.run("waits.py").stdout.splitlines() == [f"{bits} {how} is over" for bits in (32, 64) for how in hows]


def test_a_child_has_a_device_only_if_its_parent_had_none(running: Running) -> None:
    done = running.run("forks.py")
    assert done.stdout.splitlines() == ["[5, 6]", "cuInit 3", "[5, 6]"]


@pytest.mark.parametrize(
    ("program", "begins", "answers"),
    [
        (("server_dies.py",), "ready\n", ["cuLaunchKernel 46"] * 2),
        (("under_way.py", "server", str(1 << 40)), "begun\n", ["46 46"]),
    ],
)
def test_a_server_that_dies_leaves_errors_and_nobody_waiting(
    program: tuple[str, ...], begins: str, answers: list[str]
) -> None:
    command = [sys.executable, "-m", "driver.sanitizers", "sm_80", "memcheck", str(1 << 28), "report"]
    pipe, paths = subprocess.PIPE, os.pathsep.join([str(PROGRAMS.parents[1]), *sys.path])
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, text=True, env={**os.environ, "PYTHONPATH": paths}
    ) as server:
        assert server.stdout is not None
        socket = Path(server.stdout.readline().strip())
        variables = surroundings(str(socket))
        run = [sys.executable, str(PROGRAMS / program[0]), *program[1:]]
        with subprocess.Popen(
            run, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as client:
            assert client.stdout is not None
            assert client.stdout.readline() == begins
            server.kill()
            server.wait()
            said, complained = client.communicate("\n", timeout=300)
    shutil.rmtree(socket.parent)  # as the server could not
    assert said.splitlines() == answers
    assert complained == "ptxloom: the process in which kernels run has ended\n"


def test_a_program_that_ends_under_a_kernel_leaves_the_server_as_it_was(running: Running) -> None:
    before = {*threading.enumerate()}
    assert running.run("under_way.py", "program", "3000000").returncode == 0
    for thread in {*threading.enumerate()} - before:  # an exception in one of them fails this test
        thread.join(300)
    done = running.run("under_way.py", "nobody", "1000")
    assert (sorted(done.stdout.splitlines()), done.stderr) == (["0 0", "begun"], "")


@pytest.mark.parametrize(("folders", "least"), [(("libcuda",), 5000), (("libcuda", "libcudart"), 4000)])
def test_whatever_a_program_passes_is_answered(running: Running, folders: tuple[str, ...], least: int) -> None:
    sources = PROGRAMS.parents[2] / "src/ptxloom/cuda_driver"
    done = running.run("hostile.py", *(str(sources / one) for one in folders))
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["done"]), done.stderr
    assert len(done.stdout.splitlines()) > least


def test_processes_share_memory(running: Running) -> None:
    done = running.run("sharing.py")
    assert done.stdout.splitlines() == [
        "cuIpcOpenMemHandle_v2 201", "[1, 2, 3, 4]", "[5, 6, 3, 9]", "1", "[5, 6, 3, 9]"
    ], done.stderr  # fmt: skip


def test_tensor_maps_host_memory_links_and_user_objects(running: Running) -> None:
    done = running.run("corners.py")
    wanted = encode_tiled("FLOAT16", 0x10000, (60, 30), (128,), (64, 8), swizzle="128B").to_bytes().hex()
    assert done.stdout.splitlines() == [
        wanted, "1",
        "712", "[8, 9, 5, 6, 7, 13, 14, 15]", "713",
        "0 1 1 1",
        "[5, 6, 7, 8]",
        "[42] True",
        "218 ptxloom: module:4:31: error: `%r1` names no",
        "cuLaunchKernel 1",
        "[]", "[7]",
        "0 0 400 1 1",  # uploaded as it is made; not without its stream, nor by flags alone
    ], done.stderr  # fmt: skip


def test_the_ctas_of_a_grid_meet(running: Running) -> None:
    done = running.run("whole_grid.py")
    assert done.stdout.splitlines() == [str([3 * 64] * 8 + [3 * 64] * 8), "720"], done.stderr


def test_memory_is_mapped_where_the_program_wants_it(running: Running) -> None:
    done = running.run("mapped.py")
    assert done.stdout.splitlines() == ["[5, 6, 7, 8]", "[41, 42]", "[42, 43]", "1", "2 7", "700"], done.stderr
    told = running.report.summary()
    assert "write of 4 bytes" in told
    assert "memory[1] of " in told


def test_graphs_decide_by_what_kernels_say_and_batches_are_done_whole(running: Running) -> None:
    done = running.run("deciding.py")
    assert done.stdout.splitlines() == [
        "[0, 0, 0, 12]", "[0, 0, 0, 12]", "[9, 10, 7, 8]", "[5, 10]", "0 0 900 901 1 [6]",
    ], done.stderr  # fmt: skip
    assert running.report.launches == 6


@pytest.mark.parametrize(
    ("how", "answer", "told"),
    [
        ("written", "0 [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]", ""),
        ("unwritten", "0 [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]", "initcheck.uninitialised"),
        ("destroyed", "700 [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]", "memcheck.use-after-free"),
    ],
)
def test_what_a_texture_reads_is_told_as_of_other_memory(how: str, answer: str, told: str) -> None:
    running = Running(checks=("memcheck", "initcheck:global"))
    done = running.run("arrays.py", how)
    running.server.close()
    assert done.stdout.strip() == answer, done.stderr
    summary = running.report.summary()
    assert (told in summary, f"alloc[0] of {PROGRAMS / 'driver_calls.py'}" in summary) == (True, bool(told))


def test_the_runtime_has_batches_of_copies_too(running: Running) -> None:
    assert running.run("runtime_batches.py").stdout.splitlines() == ["0", "[9, 10, 7, 8]", "1", "True"]
