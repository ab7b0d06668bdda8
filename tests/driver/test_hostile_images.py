"""Images whose headers lie: a driver reads no byte that is not there, and says that the image is invalid."""

import subprocess
import sys

import pytest

from driver.running import PROGRAMS, Running, needs_compiler

pytestmark = needs_compiler


def test_no_image_is_read_behind_its_memory() -> None:
    running = Running()
    done = running.run("forged_images.py")
    running.server.close()
    told = done.stdout.splitlines()
    assert (done.returncode, told[-1:]) == (0, ["[5, 6]"]), (told[-2:], done.stderr)
    assert {*told[1:-2:2]} == {"{200}"}, [*zip(told[:-2:2], told[1:-2:2], strict=True)]
    assert told[-2] == "{1}"  # of the linker, which receives an image's length


@pytest.mark.sweep  # it reads 2^30 bytes
def test_a_file_without_an_end_is_no_image() -> None:
    running = Running()
    code = "import driver_calls as c; c.begin(); print(c.answer('cuModuleLoad', c.byref(c.c_void_p()), b'/dev/zero'))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=running.environment, cwd=PROGRAMS)
    running.server.close()
    assert (done.stdout, done.stderr) == ("200\n", "")
