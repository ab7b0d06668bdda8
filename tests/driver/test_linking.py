"""Several PTX texts to one: what is used before it is defined, as one text has an order and several have none."""

from ptxloom.checker import check
from ptxloom.cuda_driver.linking import linked, undefined
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


def test_what_kernels_launch_kernels_by_is_linked_under_whatever_name_it_is_declared() -> None:
    copies = "(.param .b64 a, .param .b64 b, .param .b64 n, .param .b32 kind, .param .b64 stream)"
    text = f"""{HEAD}.extern .func (.param .b32 out) __cudaCDP2MemcpyAsync_ptsz{copies};
.extern .func (.param .b32 out) cudaMemcpyAsync{copies};
.extern .func (.param .b64 out) __cudaCDP2GetErrorString(.param .b32 error);
.extern .func (.param .b32 out) __cudaCDP2LaunchDeviceV2(.param .b64 buffer, .param .b64 stream);
.extern .func (.param .b32 out) vprintf(.param .b64 format, .param .b64 values);
.extern .shared .align 16 .b8 dynamic[];
.visible .entry first() {{ ret; }}
"""
    assert undefined([parse(text)]) == set()
    module = parse(linked([parse(text)]))
    assert module.diagnostics == ()
    assert list(check(module)) == []
    bodies = {name for name, one in module.functions.items() if one.body is not None}
    assert {
        "__cudaCDP2MemcpyAsync_ptsz",
        "cudaMemcpyAsync",
        "__cudaCDP2GetErrorString",
        "ptxloom_device_copy",
    } <= bodies
    assert "__cudaCDP2LaunchDeviceV2" not in bodies  # the machine has it
    own = f"{HEAD}.visible .func (.param .b64 out) __cudaCDP2GetErrorString(.param .b32 error) {{ ret; }}\n"
    assert linked([parse(text), parse(own)]).count("__cudaCDP2GetErrorString") == 1


def test_what_only_machine_code_can_define_is_undefined() -> None:
    text = f"{HEAD}.extern .func elsewhere();\n.extern .shared .b8 sized[4];\n.extern .global .b32 count;\n"
    assert undefined([parse(text)]) == {"elsewhere", "sized", "count"}
