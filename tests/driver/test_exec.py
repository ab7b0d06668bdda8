"""`ptxloom exec` and `pl.driver()`: programs find the driver, their exit status comes back."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ptxloom as pl
from driver.running import PROGRAMS, needs_compiler

pytestmark = needs_compiler


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ptxloom", "exec", *arguments]
    plain = {name: value for name, value in os.environ.items() if name != "PTXLOOM_DRIVER"}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=plain, cwd=PROGRAMS)


def test_a_program_and_what_it_starts_find_the_driver() -> None:
    shell = f"{sys.executable} -c 'import driver_calls as c; c.begin(); c.call(\"cuStubHere\")' 2>/dev/null; exit 7"
    done = run("--device", "sm_90", "--on-hazard", "end", "--", "sh", "-c", shell)
    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")
    missing = "cuGraphicsUnregisterResource"
    done = run("--", sys.executable, "-c", f"import driver_calls as c; c.begin(); c.answer('{missing}', None)")
    assert done.stderr == (
        f"ptxloom: functions of the driver that are missing, and how often they were called: {missing} (1)\n"
    )
    done = run("--", sys.executable, "hazards.py")
    assert done.stdout.splitlines() == ["cuCtxSynchronize 700", "cuMemcpyDtoH_v2 700"]
    assert done.stderr.startswith("ptxloom: kernel fill:\n")
    assert done.stderr.endswith("ptxloom: no tool looked for races; `--checks all` looks for them, too\n")


def test_what_a_program_compiles_while_it_runs_is_linked_with_the_driver(tmp_path: Path) -> None:
    source = "int cuInit(unsigned); int cudaFree(void *); int main(void) { return cuInit(0) || cudaFree(0) ? 3 : 9; }"
    made = tmp_path / "asks"
    shell = f"echo '{source}' | cc -x c - -o {made} -lcuda -lcudart && {made}"
    done = run("--", "sh", "-c", shell)
    assert done.returncode == 9, done.stderr


def test_a_program_that_a_signal_ends_and_one_that_is_not_there() -> None:
    assert run("--", sys.executable, "-c", "import os; os.kill(os.getpid(), 15)").returncode == 128 + signal.SIGTERM
    done = run("no-such-program")
    assert (done.returncode, done.stderr) == (2, "ptxloom: no-such-program: No such file or directory\n")
    done = run()
    assert done.returncode == 2
    assert "a program and its arguments, such as `ptxloom exec -- python train.py`" in done.stderr


@pytest.mark.parametrize(("taken", "checks"), [(0, ("memcheck",)), (3, ("memcheck",)), (2, ("initcheck:global",))])
def test_the_driver_in_this_process(taken: int, checks: tuple[str, ...]) -> None:
    code = (
        "import ptxloom as pl\n"
        "from ptxloom.cuda_driver.regions import SharedRegion\n"
        f"taken = [SharedRegion(1, 1 << 20) for _ in range({taken})]  # where the device's memory would be\n"
        "for again in range(2):\n"
        f"    with pl.driver('sm_90', checks={checks}, on_hazard='end'):\n"
        "        import driver_calls as c\n"
        "        c.begin()\n"
        "        a = c.allocate(8)\n"
        "        c.launch(c.function(c.module()), a, 2)\n"
        "        print(c.read(a, 2))\n"
        "print(c.answer('cuMemAlloc_v2', c.byref(a), c.c_size_t(8)))\n"
    )
    path = os.pathsep.join([str(Path(pl.__file__).parents[1]), str(PROGRAMS)])
    plain = {name: value for name, value in os.environ.items() if name != "PTXLOOM_DRIVER"} | {"PYTHONPATH": path}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=plain)
    assert done.stdout.splitlines() == ["[5, 6]", "[5, 6]", "46"], done.stderr


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"arch": "sm_"}, "a target such as sm_90a|sm_75"),
        ({"checks": ["memchek"]}, "any of memcheck"),
        ({"on_hazard": "explode"}, "one of report, end, stop, ignore"),
        ({"memory_bytes": 0}, "memory_bytes is 0"),
    ],
)
def test_a_wrong_setting_is_one_sentence(settings: dict[str, object], said: str) -> None:
    with pytest.raises(pl.UsageError, match=said), pl.driver(**settings):  # pyright: ignore[reportArgumentType]
        pass
