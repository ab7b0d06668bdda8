"""What the parser could not read is reported once: names that stand there are not reported again as undeclared."""

from __future__ import annotations

import pytest

from ptxloom.checker import check
from ptxloom.syntax import parse

KERNEL = """\
.version 9.0
.target sm_90
.address_size 64
.visible .entry k(
	.param .u64 k_in,
	.param .u64 k_out
)
{
	.reg .pred %p<3>;
	.reg .b32 %r<4>, sum;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [k_in];
	ld.param.u64 %rd2, [k_out];
	mov.u32 %r1, %tid.x;
$L__loop:
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra $L__done;
	sub.u32 %r1, %r1, 1;
	add.u32 sum, %r1, %r2;
	bra $L__loop;
$L__done:
	ret;
}
"""


def test_the_kernel_is_right() -> None:
    assert check(parse(KERNEL)) == ()


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (".reg .pred %p<3>;", ".reg .pred %p<3>x;"),
        (".reg .pred %p<3>;", ".reg .pred , %p<3>;"),
        (".reg .b32 %r<4>, sum;", ".reg } .b32 %r<4>, sum;"),
        (".reg .b32 %r<4>, sum;", ".reg .b32 %r<4>, sum"),
        (".reg .b64 %rd<4>;", ".reg .b64 %rd4>;"),
        ("k_in,", "k_in"),
        (".version 9.0", ".version 9"),
        (".target sm_90", ".target"),
        (".target sm_90", ".target , debug"),
        (".address_size 64", ".address_size x"),
        ("k_out\n", "k_out;\n"),
        ("$L__loop:", "$L__loop"),
        ("$L__done:", "$L__done"),
    ],
)
def test_one_mistake_is_one_error(right: str, wrong: str) -> None:
    assert len(check(parse(KERNEL.replace(right, wrong)))) == 1


def test_other_names_are_still_looked_up() -> None:
    broken = KERNEL.replace(".reg .pred %p<3>;", ".reg .pred %p<3>x;").replace("add.u32 sum", "add.u32 some")
    assert [one.rule for one in check(parse(broken))] == ["unexpected-token", "undeclared-name"]


def test_names_used_in_what_could_not_be_read_are_not_called_unused() -> None:
    broken = KERNEL.replace("add.u32 sum, %r1, %r2;", "add.u32 sum %r1, %r2;")
    assert [one.rule for one in check(parse(broken), hints=True)] == ["unexpected-token"]
