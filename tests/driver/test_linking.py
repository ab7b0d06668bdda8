"""Several PTX texts to one: what is used before it is defined, as one text has an order and several have none."""

import pytest

from ptxloom.checker import check
from ptxloom.cuda_driver.errors import CudaError, Refused
from ptxloom.cuda_driver.linking import linked
from ptxloom.syntax import parse

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
FIRST = f"""{HEAD}.extern .func (.param .b32 out) down(.param .b32 x);
.extern .func again(.param .b32 x);
.visible .func (.param .b32 out) up(.param .b32 x) {{
    .param .b32 y;
    .param .b32 z;
    call (y), down, (z);
    ret;
}}
.visible .entry first() {{ .param .b32 y; call again, (y); ret; }}
"""
SECOND = f"""{HEAD}.extern .func (.param .b32 out) up(.param .b32 x);
.extern .global .b32 count;
.visible .func (.param .b32 out) down(.param .b32 x) {{
    .param .b32 y;
    .param .b32 z;
    .reg .b32 %n;
    ld.global.b32 %n, [count];
    st.param.b32 [y], %n;
    call (z), up, (y);
    ret;
}}
.weak .func again(.param .b32 x) {{ ret; }}
"""
VARIABLE = ".visible .global .b32 count;\n"


def test_modules_that_call_each_other_are_one_text() -> None:
    for texts in ((FIRST + VARIABLE, SECOND), (SECOND, FIRST + VARIABLE)):
        module = parse(linked([parse(text) for text in texts]))
        assert module.diagnostics == ()
        assert list(check(module)) == []
        assert {name for name, one in module.functions.items() if one.body is not None} == {
            "up",
            "down",
            "first",
            "again",
        }


def test_a_kernel_that_launches_kernels_is_refused_in_a_sentence() -> None:
    text = f"""{HEAD}.extern .func (.param .b64 out) __cudaCDP2GetParameterBufferV2(.param .b64 kernel);
.visible .entry first() {{ .param .b64 y; .param .b64 z; call (z), __cudaCDP2GetParameterBufferV2, (y); ret; }}
"""
    with pytest.raises(Refused) as refused:
        linked([parse(text)])
    assert refused.value.error == CudaError.NOT_SUPPORTED
    assert "launches kernels (dynamic parallelism), which cannot run here" in refused.value.text
    own = f"{HEAD}.visible .func (.param .b64 out) __cudaCDP2GetParameterBufferV2(.param .b64 kernel) {{ ret; }}\n"
    assert "__cudaCDP2GetParameterBufferV2" in linked([parse(text), parse(own)])
