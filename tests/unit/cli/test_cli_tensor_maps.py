"""Tensor maps in launch files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ptxloom.cli.launch_files.launch_file import BadLaunchFile, read_launch
from ptxloom.machine import MappedArray

if TYPE_CHECKING:
    from pathlib import Path

HEAD = 'ptx = "k.ptx"\nkernel = "k"\n[[args]]\nname = "A"\nzeros = { shape = [16, 64], dtype = "float16" }\n'


def launch(tmp_path: Path, text: str) -> list[object]:
    (tmp_path / "k.ptx").write_text("")
    file = tmp_path / "k.toml"
    file.write_text(HEAD + text)
    return [argument.passed for argument in read_launch(str(file)).arguments]


def test_an_array_is_passed_by_a_map(tmp_path: Path) -> None:
    (made,) = launch(tmp_path, 'tensor_map = { box_dim = [64, 8], swizzle = "128B" }')
    assert isinstance(made, MappedArray)
    assert made.array.shape == (16, 64)
    assert (made.map.box_dim, made.map.swizzle) == ((64, 8), "128B")


def test_a_map_is_of_another_argument(tmp_path: Path) -> None:
    array, made = launch(tmp_path, '[[args]]\ntensor_map = { of = "A", box_dim = [8, 8] }')
    assert isinstance(made, MappedArray)
    assert made.array is array


def test_corners_make_a_map_for_im2col(tmp_path: Path) -> None:
    corners = "pixel_box_lower_corner = [-1, -1], pixel_box_upper_corner = [-1, -1]"
    table = f"tensor_map = {{ {corners}, channels_per_pixel = 32, pixels_per_column = 8 }}"
    _, made = launch(tmp_path, f'[[args]]\nzeros = {{ shape = [2, 6, 6, 32], dtype = "float16" }}\n{table}')
    assert isinstance(made, MappedArray)
    assert made.map.im2col is not None
    assert isinstance(made.array, np.ndarray)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tensor_map = 3", "must be a table"),
        ("tensor_map = { }", "needs box_dim"),
        ('tensor_map = { of = "A", box_dim = [8, 8] }', "needs either an array or"),
        ("tensor_map = { box = [8, 8] }", "holds 'box'"),
        ("tensor_map = { box_dim = [3, 8] }", "box_dim is 3"),
        ("tensor_map = { box_dim = 3 }", "box_dim"),
        ("tensor_map = { box_dim = [8, 8], swizzle = 5 }", "has swizzle = 5; it must be a text"),
        ('[[args]]\ntensor_map = { of = "B", box_dim = [8, 8] }', "names 'B'"),
        ("[[args]]\ntensor_map = { box_dim = [8, 8] }", "needs either an array"),
    ],
)
def test_what_makes_no_map_is_said_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadLaunchFile, match=r"args\[\d\](\.| has )tensor_map") as caught:
        launch(tmp_path, text)
    assert said in str(caught.value)
