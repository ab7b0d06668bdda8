"""What devices are judged by, module variables on a device, images that a driver describes, memory that is lent."""

from __future__ import annotations

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.machine.port.image import MipLevel, Texels, hide, must_be_an_image, show
from ptxloom.machine.port.launch import Prepared
from ptxloom.machine.port.prepare import assembled, device_options, is_served
from ptxloom.machine.port.region import Budget, DeviceMemory, DeviceVariables, lent_at

SCALE = """.version 9.0 .target sm_90 .const .f32 factor = 0f40400000; .global .u32 seen[4]; .global .texref picture;
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.visible .entry k(.param .u64 p) { .local .b32 mine[4]; .shared .b32 rows[5]; .reg .b64 %a; .reg .f32 %x, %y;
ld.param.u64 %a, [p]; ld.global.f32 %x, [%a]; ld.const.f32 %y, [factor]; st.local.f32 [mine], %y;
st.shared.f32 [rows], %y; mul.f32 %x, %x, %y; add.f32 %x, %x, %y; st.global.f32 [%a], %x; ret; }"""


def test_a_device_is_judged_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = device_options("sm_90")
    assert (usual.arch, usual.checks, usual.memory_bytes) == ("sm_90", ("memcheck", "synccheck"), Budget().limit)
    assert device_options("sm_80", (), 1 << 48).memory_bytes == 1 << 48
    with pytest.raises(pl.PtxloomError, match="sm_50"):
        device_options("sm_50")
    with pytest.raises(pl.UsageError, match="checks"):
        device_options("sm_90", ["none"])
    for size in (0, (1 << 48) + 1, "much"):
        with pytest.raises(pl.UsageError, match="memory_bytes"):
            device_options("sm_90", None, size)
    monkeypatch.setenv("PTXLOOM_MULTIPROCESSORS", "0")
    with pytest.raises(pl.UsageError, match="PTXLOOM_MULTIPROCESSORS"):
        device_options("sm_90")


def test_the_variables_of_a_module_live_on_the_device_until_they_are_dropped() -> None:
    memory, module = DeviceMemory(1 << 20, watched=False), pl.parse(SCALE)
    variables = DeviceVariables(module, memory)
    assert variables.constant_bytes == 4
    piece = variables.piece("seen")
    assert piece is not None
    assert piece.start in memory
    assert piece.size == 16
    assert variables.piece("k") is None
    handle = variables.reference("picture", "texref")
    show(memory, handle, Texels("1d", "u1", 1, 0), [MipLevel(piece.start, 16, 16, 16, 1, 1)])
    with pytest.raises(pl.UsageError):
        variables.reference("picture", "surfref")
    with pytest.raises(pl.UsageError):
        variables.note_filled("picture")
    variables.note_filled("seen")
    assert memory.allocated > 0
    variables.drop()
    assert memory.allocated == 0
    assert not memory.images


def test_a_kernel_that_is_assembled_fuses_and_finds_the_variables_of_its_device() -> None:
    device, module = pl.Device("sm_90"), pl.parse(SCALE)
    DeviceVariables(module, device.memory)
    kernel = assembled(module, "k", "sm_90")
    assert len(kernel.fusions) == 1
    assert (kernel.shared_bytes, kernel.frame_bytes) == (20, 16)
    array = np.full(1, 2.0, np.float32)
    start: int = array.ctypes.data
    ready = Prepared(kernel, 1, 1, device)
    ready.launch(start.to_bytes(8, "little"), [lent_at(start, start + 4, "x")])
    assert array[0] == 9.0
    with pytest.raises(pl.LaunchError, match="out of bounds"):  # it was lent for one launch
        ready.launch(start.to_bytes(8, "little"))


def test_the_machine_serves_what_programs_need_not_link() -> None:
    assert [is_served(name) for name in ("vprintf", "cudaLaunchDevice", "cudaDeviceSynchronize")] == [True, True, False]


@pytest.mark.parametrize(
    ("texels", "levels", "named"),
    [
        (Texels("4d", "u1", 1, 0), 1, "geometry"),
        (Texels("2d", "u3", 1, 0), 1, "letter"),
        (Texels("2d", "u1", 3, 0), 1, "channels"),
        (Texels("a2d", "u1", 1, 0), 1, "layers"),
        (Texels("2d", "u1", 1, 0), 0, "levels"),
        (Texels("2d", "u1", 1, 0), 19, "levels"),
    ],
)
def test_an_image_that_is_none_is_refused(texels: Texels, levels: int, named: str) -> None:
    must_be_an_image(Texels("a2d", "f4", 4, 2), 18)
    with pytest.raises(pl.UsageError, match=named):
        must_be_an_image(texels, levels)


def test_an_empty_image_is_not_found_and_a_hidden_one_no_longer() -> None:
    memory, texels = DeviceMemory(1 << 20, watched=False), Texels("2d", "u1", 1, 0)
    show(memory, 7, texels, [MipLevel(0, 4, 16, 4, 0, 1)])
    assert not memory.images
    show(memory, 7, texels, [MipLevel(0, 4, 16, 4, 4, 1)])
    assert [*memory.images] == [7]
    hide(memory, 7)
    hide(memory, 7)
    assert not memory.images
