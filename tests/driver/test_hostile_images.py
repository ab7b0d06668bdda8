"""Images whose headers lie: a driver reads no byte that is not there, and says that the image is invalid."""

from driver.running import Running, needs_compiler

pytestmark = needs_compiler


def test_no_image_is_read_behind_its_memory() -> None:
    running = Running()
    done = running.run("forged_images.py")
    running.server.close()
    told = done.stdout.splitlines()
    assert (done.returncode, told[-1:]) == (0, ["[5, 6]"]), (told[-2:], done.stderr)
    assert {*told[1:-2:2]} == {"{200}"}, [*zip(told[:-2:2], told[1:-2:2], strict=True)]
    assert told[-2] == "{1}"  # of the linker, which is told how long an image is
