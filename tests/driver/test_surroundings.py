"""Programs on the driver where something is missing, closed, full or forbidden, and where signals come."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import pytest

import ptxloom as pl
from driver.running import PROGRAMS, needs_compiler
from ptxloom.cuda_driver import build
from ptxloom.cuda_driver.report import Report
from ptxloom.cuda_driver.server import Server

pytestmark = needs_compiler

EXEC = [sys.executable, "-m", "ptxloom", "exec", "--memory-limit", "64MB", "--"]
PATH = os.pathsep.join([str(Path(pl.__file__).parents[1]), str(PROGRAMS)])
PLAIN = {name: value for name, value in os.environ.items() if name != "PTXLOOM_DRIVER"} | {"PYTHONPATH": PATH}
RUN = "import driver_calls as c; c.begin(); a = c.allocate(8); c.launch(c.function(c.module()), a, 2); x = c.read(a, 2)"
FILL = f"{RUN}; print(x)"
BEGIN = "import driver_calls as c; print(c.answer('cuInit', 0))"
PIECES = """
import ctypes, struct, driver_calls as c
c.begin()
properties, made = struct.pack("<IIiiQQ", 1, 1, 1, 0, 0, 0), ctypes.c_uint64()
asked = ctypes.byref(made), ctypes.c_size_t(1 << 21), properties, ctypes.c_uint64(0)
print({c.answer("cuMemCreate", *asked) for _ in range(30)})
"""
CROWD = """
import os, socket
made = []
for _ in range(3):
    if os.fork() == 0:
        for _ in range(40):
            made.append(socket.socket(socket.AF_UNIX))
            made[-1].connect(os.environ["PTXLOOM_DRIVER"])
        os._exit(0)
for _ in range(3):
    print(os.wait()[1])
"""
LISTENS = """
import signal, sys, time
def heard(number, frame):
    print(signal.Signals(number).name, flush=True)
    if number == signal.SIGTERM:
        sys.exit(5)
for name in sys.argv[1:]:
    signal.signal(signal.Signals[name], heard)
print("ready", flush=True)
time.sleep(100)
"""


UNWATCHED: Final = "ptxloom: no tool looked for races; `--checks all` looks for them, too\n"


def shell(line: str, program: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """A line of the shell, in which `"$@"` is the command that runs a program on the driver."""
    command = ["sh", "-c", line, "sh", *EXEC, sys.executable, "-c", program]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, env={**PLAIN, **settings}, cwd=PROGRAMS
    )


@pytest.mark.parametrize("line", ["ulimit -v 8000000; exec", "ulimit -f 200000; exec", "exec 0<&-; exec"])
def test_a_limit_that_leaves_enough_is_kept(line: str) -> None:
    done = shell(f'{line} "$@"', FILL)
    assert (done.stdout, done.stderr, done.returncode) == ("[5, 6]\n", UNWATCHED, 0)


@pytest.mark.parametrize(
    ("line", "program", "answers", "sentences"),
    [
        (
            'ulimit -f 1000; exec "$@"',
            BEGIN,
            "100",
            [
                "this machine refuses 67,108,864 bytes for the memory of a device: ask for less (`--memory-limit`,",
                "the process in which kernels run refuses this program a device",
            ],
        ),
        ('ulimit -n 20; exec "$@"', PIECES, "{0, 2}", []),
    ],
)
def test_a_limit_that_leaves_too_little_is_a_sentence(
    line: str, program: str, answers: str, sentences: list[str]
) -> None:
    done = shell(line, program)
    told = done.stderr.splitlines()
    assert (done.stdout.strip(), len(told)) == (answers, len(sentences)), done.stderr
    assert all(one.startswith(f"ptxloom: {said}") for one, said in zip(told, sentences, strict=True))


def test_more_processes_than_there_may_be_files_are_taken_one_after_the_other() -> None:
    done = shell('ulimit -n 60; exec "$@"', CROWD + FILL)
    assert (done.stdout, done.stderr, done.returncode) == ("0\n0\n0\n[5, 6]\n", UNWATCHED, 0)


def test_a_program_that_has_no_room_is_told_so() -> None:
    done = shell('exec "$@"', f"import resource as r; r.setrlimit(r.RLIMIT_AS, (200 << 20, 200 << 20))\n{BEGIN}")
    assert done.stdout == "100\n"
    assert done.stderr.startswith("ptxloom: this program has no room for the device's memory: ask for less by")


@pytest.mark.parametrize("closed", ["0<&- 1>&- 2>&-", "1>/dev/full"])
def test_closed_and_full_streams_are_the_programs_own_matter(closed: str, tmp_path: Path) -> None:
    kept = (
        f"{FILL.replace('print', 'text = str')}; open({str(tmp_path / 'said')!r}, 'w').write(text); raise SystemExit(7)"
    )
    done = shell(f'"$@" {closed}', kept)
    assert (done.stdout, done.stderr, done.returncode) == ("", "" if "2>" in closed else UNWATCHED, 7)
    assert (tmp_path / "said").read_text() == "[5, 6]"


def test_a_hazard_is_told_to_nobody_where_standard_error_is_closed() -> None:
    done = shell('exec 2>&-; "$@"', (PROGRAMS / "hazards.py").read_text())
    assert done.stdout.splitlines() == ["cuCtxSynchronize 700", "cuMemcpyDtoH_v2 700"]


def test_a_temporary_folder_may_have_a_long_name(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    done = shell('exec "$@"', FILL, TMPDIR=str(folder))
    assert (done.stdout, done.stderr) == ("[5, 6]\n", UNWATCHED)
    assert not list(folder.iterdir())


def test_no_temporary_folder_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/dev/null")
    with pytest.raises(build.NoDriver, match=r"no folder for temporary files \(not a directory\): name one in TMPDIR"):
        Server("sm_80", (), 1 << 20, Report())


@pytest.mark.parametrize("cache", ["", "/dev/null/nowhere"])
def test_libraries_that_cannot_be_kept_go_with_the_process(cache: str) -> None:
    code = (
        "from ptxloom.cuda_driver import build\n"
        "build.build = lambda place: (place / 'libcuda.so.1').touch()\n"
        "print(build.folder(), (build.folder() / 'libcuda.so.1').is_file(), build.is_there())\n"
    )
    environment = {**PLAIN, "PTXLOOM_CACHE": cache}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    folder, *told = done.stdout.split()
    assert (told, done.stderr) == (["True", "False"], "")
    assert not Path(folder).exists()


def test_signals_are_passed_on() -> None:
    names = ["SIGUSR1", "SIGUSR2", "SIGHUP", "SIGTERM"]
    command = [*EXEC, sys.executable, "-c", LISTENS, *names]
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:  # these tests run under nohup, which the program keeps
        names.remove("SIGHUP")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=PLAIN) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        for name in names:
            program.send_signal(signal.Signals[name])
            assert program.stdout.readline() == f"{name}\n"
        assert program.wait() == 5


def test_what_nohup_ignores_stays_ignored() -> None:
    code = "import os, signal as s; os.kill(os.getppid(), s.SIGHUP); print(s.getsignal(s.SIGHUP) == s.SIG_IGN)"
    done = shell("trap '' HUP; exec \"$@\"", code)
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)


def test_ctrl_c_is_for_the_program_and_not_for_its_server() -> None:
    code = "import ptxloom as pl, time\nwith pl.driver():\n    print('ready', flush=True)\n    time.sleep(100)\n"
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=PLAIN, start_new_session=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        os.killpg(program.pid, signal.SIGINT)  # as a terminal does
        _, told = program.communicate()
    assert told.count("Traceback") == told.count("KeyboardInterrupt") == 1


def test_a_server_that_cannot_start_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(build.NoDriver, match="could not be started"), pl.driver():
        pass


def test_a_wrong_device_is_called_by_its_option() -> None:
    command = [sys.executable, "-m", "ptxloom", "exec", "--device", "sm_12", "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=PLAIN)
    assert done.stderr.startswith("ptxloom: --device is 'sm_12'; it must be `sm_75`, ")
