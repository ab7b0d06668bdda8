"""Kernels and parameters by the names of their source."""

from __future__ import annotations

import sys
from typing import Final

import pytest

from ptxloom.diagnostics import UsageError
from ptxloom.names import demangling
from ptxloom.names.demangling import demangled, learn
from ptxloom.names.kernels import kernel_of, short_name
from ptxloom.names.parameters import parameter_names
from ptxloom.names.resolving import named
from ptxloom.names.signatures import signatures
from ptxloom.source import Source
from ptxloom.syntax import parse
from ptxloom.syntax.parser import parse_source

pytest.importorskip("pydemumble")

SCALE: Final = ("_Z5scaleILi2EEvPff", "_Z5scaleILi3EEvPff")
PLAIN: Final = ("_Z5plainPf", "_Z5plainPi")
NAMES: Final = (*SCALE, *PLAIN, "_ZN2ns1kIfLi2EEEvPT_PKS1_", "_ZN2ns12_GLOBAL__N_16hiddenEPi", "gemm", "_Z4lastv")


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("_Z5scaleILi2EEvPff", "scale<2>(float*, float)"),
        ("_Z5plainPf", "plain(float*)"),
        ("_ZN2ns1kIfLi2EEEvPT_PKS1_", "ns::k<float, 2>(float*, float const*)"),
        ("_ZN2ns12_GLOBAL__N_16hiddenEPi", "ns::(anonymous namespace)::hidden(int*)"),
        ("_Z1fIiEPT_S1_", "f<int>(int*)"),
        ("_ZN8__main__3addB2v1B3cw5E5ArrayIfLi1E1CE", "__main__::add(Array<float, 1, C>)"),
        ("gemm", "gemm"),
        ("_Znonsense", "_Znonsense"),
    ],
)
def test_a_mangled_name_is_read_as_cpp_without_its_result_and_tags(name: str, spelled: str) -> None:
    assert demangled(name) == spelled


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("_Z5plainPf", PLAIN[:1]),
        ("plain(float*)", PLAIN[:1]),
        ("void plain( float * )", PLAIN[:1]),
        ("plain", PLAIN),
        ("scale<3>", SCALE[1:]),
        ("scale< 3u >", SCALE[1:]),
        ("scale", SCALE),
        ("scale<2>(float *, float)", SCALE[:1]),
        ("ns::k<float, 2>", NAMES[4:5]),
        ("k<float,2>", NAMES[4:5]),
        ("ns::k", NAMES[4:5]),
        ("k", NAMES[4:5]),
        ("hidden", NAMES[5:6]),
        ("gemm", ("gemm",)),
        ("g*", ("gemm",)),
        ("*scale*", SCALE),
        ("scale<?>*", SCALE),
        ("ale<2>", ()),
        ("scale<4>", ()),
    ],
)
def test_an_exact_name_comes_before_parts_and_patterns(wanted: str, found: tuple[str, ...]) -> None:
    assert named(wanted, NAMES) == found


def test_a_kernel_may_be_called_as_another_is_without_its_types() -> None:
    assert named("plain", ("_Z5plainPf", "plain")) == ("plain",)


def test_several_candidates_are_named() -> None:
    module = parse("".join(f".entry {name}() {{ ret; }}\n" for name in NAMES))
    assert kernel_of(module, "scale<2>") == SCALE[0]
    with pytest.raises(
        UsageError, match=r"name is 'scale'; .* scale<2>\(float\*, float\), scale<3>\(float\*, float\),"
    ):
        kernel_of(module, "scale")
    with pytest.raises(UsageError, match=r"name is 'absent'; it must be a kernel of the module: scale<2>\("):
        kernel_of(module, "absent")
    assert short_name(module, SCALE[0]) == "scale<2>"
    assert short_name(module, PLAIN[0]) == "plain(float*)"


def test_without_a_demangler_mangled_names_stand_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demangling, "is_installed", lambda: False)
    monkeypatch.setattr(demangling, "_READ", {})
    monkeypatch.setattr(demangling, "_MISSED", set[str]())
    assert demangled("gemm") == "gemm"
    assert not demangling.missed()
    assert demangled("_Z5plainPf") == "_Z5plainPf"
    assert "pip install 'ptxloom[cuda]'" in demangling.missed()
    assert named("_Z5plainPf", PLAIN) == PLAIN[:1]


def _doubling(times: int) -> str:
    """A name each of whose parameters is a template of two of the one before: its text doubles with each."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return "_Z1f1AIiiE" + "".join(f"S_I{f'S{digits[n]}_' * 2}E" for n in range(times))


@pytest.mark.parametrize(
    "name",
    [_doubling(35), "_Z" + "N" * 19_000, "_Z1fX" + "ng" * 5_000 + "Li1EE", "_Z1kP" * 4_001],
    ids=["doubles", "nested", "negated", "too long"],
)
def test_a_hostile_name_ends_nothing_here_and_is_left_as_it_is(name: str) -> None:
    names = [name, "_ZN1a1bILi1EEEv" + "P" * 500 + "i", PLAIN[0]]
    learn(names)
    assert demangled(name) == name
    assert demangled(PLAIN[0]) == "plain(float*)"


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a process")
def test_names_that_end_their_reader_cost_a_few_processes_and_the_others_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(demangling, "_READ", {})
    asked: list[str] = []
    ask = demangling._asked  # pyright: ignore[reportPrivateUsage] - it is counted how often

    def counted(text: str) -> str:
        asked.append(text)
        return ask(text)

    monkeypatch.setattr(demangling, "_asked", counted)
    long = "_Z1k" + "P" * 1000 + "i"
    learn([_doubling(35), long, *(_doubling(34) + "i" * n for n in range(8))])
    assert demangled(long) == f"k(int{'*' * 1000})"
    assert len(asked) <= 3


SOURCE: Final = """
#define ARGS float *a, int n
// __global__ void commented(int z) { }
template <typename T,
          int N>
__global__
__launch_bounds__(128, 2)
void
multi(
    T *__restrict__ a,   // the first, (with) a bracket
    const T *b = nullptr,
    void (*f)(int) = nullptr, unsigned int = 3
)
{
}
template __global__ void multi<float, 3>(float*, const float*, void(*)(int), unsigned);
extern "C" __global__ void macro(ARGS) { a[n] = 1; }
__global__ void declared(int elsewhere);
struct S { float v[4]; };
extern "C" __global__ void structs(const S s, const __grid_constant__ S t, float (&out)[3], ns::map<int, 4> m) { }
__global__ void unnamed(struct S, const ns::T, int, float *) { }
"""


def test_definitions_are_read_from_the_text() -> None:
    found = {one.name: one.parameters for one in signatures(SOURCE)}
    assert found == {
        "multi": ("a", "b", "f", ""),
        "macro": ("",),
        "structs": ("s", "t", "out", "m"),
        "unnamed": ("", "", "", ""),
    }
    multi = signatures(SOURCE)[0]
    assert (multi.first, multi.last) == (6, 14)


@pytest.mark.parametrize("part", ["/*" * 50_000, "__global__ " * 20_000, "(" * 100_000, '"' * 99_999, "#\\\n" * 30_000])
def test_a_hostile_source_is_read_to_its_end(part: str) -> None:
    assert signatures("__global__ void k(int a) { }" + part)[0].parameters == ("a",)


def _module(kernel: str, source: str, line: int, count: int = 2) -> str:
    params = ", ".join(f".param .u64 {kernel}_param_{n}" for n in range(count))
    head = '.version 9.0\n.target sm_90\n.address_size 64\n.file 1 "k.cu"\n'
    assert source
    return f"{head}.entry {kernel}({params})\n{{\n.loc 1 {line} 0\nret;\n}}\n"


@pytest.mark.parametrize(
    ("kernel", "line", "count", "names"),
    [
        ("_Z1kPfi", 2, 2, ("a", "n")),
        ("_Z1kPfi", 4, 2, ("_Z1kPfi_param_0", "_Z1kPfi_param_1")),  # no kernel is there
        ("_Z1kPfii", 2, 3, ("_Z1kPfii_param_0", "_Z1kPfii_param_1", "_Z1kPfii_param_2")),  # it has others
        ("_Z5otherPfi", 2, 2, ("_Z5otherPfi_param_0", "_Z5otherPfi_param_1")),  # it is called otherwise
    ],
)
def test_parameters_have_names_where_line_name_and_number_agree(
    kernel: str, line: int, count: int, names: tuple[str, ...]
) -> None:
    text = "\n__global__ void k(float *a, int n) { }\n\nvoid f();\n"
    source = Source(_module(kernel, text, line, count), "k.cu:ptx", lambda name: Source(text, name))
    assert parameter_names(parse_source(source), kernel) == names
    assert parameter_names(parse(source.text), kernel) == tuple(f"{kernel}_param_{n}" for n in range(count))
