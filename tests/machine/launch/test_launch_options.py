"""The options of a launch are one value: told once, taken by name, and the same wherever a kernel is launched."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.machine.launch.options import LaunchOptions

if TYPE_CHECKING:
    from ptxloom import Kernel

TEXT = """
.version 9.0
.target sm_90
.address_size 64
.entry k(.param .u64 p) {
    .reg .b64 %a;
    .reg .b32 %x;
    ld.param.u64 %a, [p];
    ld.global.u32 %x, [%a];
    st.global.u32 [%a+4], %x;
    ret;
}
"""


@pytest.fixture
def copies() -> Kernel:
    return pl.kernel(pl.parse(TEXT), "k")


def test_a_value_of_options_serves_several_launches(copies: Kernel) -> None:
    watched: LaunchOptions = {"checks": ["memcheck", "racecheck"], "profile": True, "timeout": 60.0}
    for number in (3, 4):
        array = np.array([number, 0], np.uint32)
        result = copies.launch(1, 1, [array], **watched)
        assert array[1] == number
        assert result.profile is not None
    assert copies[1, 1](np.array([5, 0], np.uint32), **watched).profile is not None


def test_an_option_that_is_none_is_refused_with_the_name_that_may_be_meant(copies: Kernel) -> None:
    array = np.zeros(2, np.uint32)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'time_out'\. Did you mean 'timeout'\?"):
        copies.launch(1, 1, [array], time_out=3)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'colour'$"):
        copies.launch(1, 1, [array], colour="red")  # pyright: ignore[reportCallIssue]


def test_every_option_is_described() -> None:
    described = re.findall(r"^ {8}(\w+):", LaunchOptions.__doc__ or "", re.MULTILINE)
    assert described == [*LaunchOptions.__annotations__]
