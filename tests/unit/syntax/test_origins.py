"""The source line of a place: each `.loc` holds until the next of its function, inlined ones name their callers."""

from __future__ import annotations

from ptxloom.syntax import parse
from ptxloom.syntax.origins import Origins

HEAD = '.version 8.0\n.target sm_90\n.address_size 64\n.file 1 "a.cu"\n.file 2 "b.h"\n.file 3 "c.h"\n'


def lines_of(*bodies: str) -> list[str]:
    """The origin of each `trap` of some kernels."""
    text = HEAD + "".join(f".entry k{number}()\n{{\n{body}}}\n" for number, body in enumerate(bodies))
    origins = Origins(parse(text))
    places = [at for at in range(len(text)) if text.startswith("trap", at)]
    return [str(origins.at(at) or "") for at in places]


def inlined(file: int, line: int, into: tuple[int, int, int]) -> str:
    """Code of a header, inlined at a place."""
    return f".loc {file} {line} 1, function_name $L, inlined_at {' '.join(map(str, into))}\n"


def wait(line: int) -> str:
    """A call in the kernel's own line, two functions deep."""
    return f".loc 1 {line} 5\n{inlined(2, 20, (1, line, 5))}{inlined(3, 30, (2, 20, 1))}trap;\n"


def told(line: int) -> str:
    """What is to be said of it."""
    return f"c.h:30, inlined at b.h:20, inlined at a.cu:{line}"


def test_a_function_inlined_twice_is_told_at_each_of_its_calls() -> None:
    assert lines_of(wait(7) + wait(9) + wait(8)) == [told(7), told(9), told(8)]


def test_a_function_inlined_into_two_kernels_is_told_in_each() -> None:
    assert lines_of(wait(7), wait(50)) == [told(7), told(50)]


def test_callers_are_those_of_the_same_kernel() -> None:
    outer = inlined(2, 20, (1, 7, 5))
    assert lines_of(f".loc 1 7 5\n{outer}trap;\n", f"{inlined(3, 30, (2, 20, 1))}trap;\n") == [
        "b.h:20, inlined at a.cu:7",
        "c.h:30, inlined at b.h:20",
    ]


def test_a_place_that_names_itself_ends() -> None:
    assert lines_of(inlined(2, 20, (2, 20, 1)) + "trap;\n") == ["b.h:20, inlined at b.h:20"]


def test_a_caller_named_again_does_not_change_what_stood_before() -> None:
    deep = inlined(3, 30, (2, 20, 1))
    first, second = inlined(2, 20, (1, 7, 5)), inlined(2, 20, (1, 9, 5))
    assert lines_of(f".loc 1 7 5\n{first}{deep}trap;\n.loc 1 9 5\n{second}{deep}trap;\n{deep}trap;\n") == [
        told(7),
        told(9),
        told(9),
    ]


def test_nothing_is_said_outside_functions_and_before_the_first_line() -> None:
    assert lines_of("trap;\n.loc 1 3 1\ntrap;\n", "trap;\n") == ["", "a.cu:3", ""]


def test_inline_assembly_is_one_statement_of_the_source() -> None:
    inside = ".loc 1 7 5\ntrap;\n.loc 1 9 5\ntrap;\n"
    assert lines_of(f"// begin inline asm\n{inside}// end inline asm\ntrap;\n") == ["a.cu:7", "a.cu:7", "a.cu:9"]
    before = ".loc 1 5 5\n// begin inline asm\ntrap;\n"
    assert lines_of(f"{before}{inside}// end inline asm\ntrap;\n") == ["a.cu:5"] * 3 + ["a.cu:9"]


def test_line_0_is_no_line_of_the_source_and_in_an_inlined_function_its_call() -> None:
    compilers_own = inlined(2, 20, (1, 7, 5)) + inlined(3, 0, (2, 20, 1))
    assert lines_of(".loc 1 0 0\ntrap;\n", f"{compilers_own}trap;\n") == ["", "b.h:20, inlined at a.cu:7"]
