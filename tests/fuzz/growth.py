"""Texts that grow: families of input on which a careless parser takes quadratic time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_PIECES: Final = (
    *"{}()[];:,.@!\"'#\\|%$_\n\t -+~?=<>/*&^0aé\0",
    *("/*", "*/", "//", "/* */", "// x\n", "\\\n", '"a"', '"a\n', '# 1 "f"\n', "::", "||", "<<"),
    *("a:", "a:\n", "a;", "a;\n", "ret\n", "ret;\n", "a b,\n", "a b\n", "@p ", "@!p a;", ".b32 ", ".x.y", "a.b.c "),
    *(
        "{a",
        "{a,",
        "{a;",
        "{a}",
        "{\n",
        "}\n",
        "{}\n",
        "a {b}\n",
        "a {b},\n",
        "a\n{b\n",
        "a\n{b},\n",
        "{;",
        "};",
        "a {",
    ),
    *("[a", "[a,", "[a+", "[a]", "a[", "a(", "(.u64)", "-(", "1?", "1?1:", "1+", "1+(", "1,", "1, ", "-1, ", "0x1, "),
    *(
        ".reg .b32 a;",
        ".reg .b32 a",
        ".reg .b32 a\n",
        ".loc 1 2 3\n",
        ".loc 1 2\n",
        '.file 1 "x"\n',
        ".b8 1\n",
        ".b8 1, ",
    ),
    *(
        ".global .b8 a[] = {",
        ".global .b8 a[",
        ".section .x {",
        ".section .x {\n.b8 1\n",
        ".entry k(",
        ".entry k() {",
        ".func f",
    ),
    *(
        ".entry k() {}\n",
        ".param .b32 a,",
        ".maxntid 1,",
        "call (a), f, (",
        "T: .branchtargets a",
        '.pragma "',
        ".version 9",
    ),
    *(
        ".entry k\nret;\n",
        ".entry k\nret;\n}\nret;\n}\n",
        ".func f() {\n}\nret;\n}\n",
        ".entry k(;.param",
        ".visible f(",
        ".weak (",
        ".section .x } .b8 1\n",
        ".section x {\n} .b8 1\n",
        "} .b8 1\n",
        "a {b c}, d;\n",
        "a {b c, ;\n",
        "a; b, c\n",
        "; ret;",
        "} ret;",
        "{ ret;",
        ".loc_intermediate 1 2 3\n",
        ".entry k() .language 1,",
    ),
)
_FRAMES: Final = (
    ("", ""),
    ("{", "}"),
    (".entry k() {\n", "\n}"),
    ("a ", ";"),
    (".global .b32 a[] = {", "};"),
    ("a {", "};"),
)


def families() -> dict[str, Callable[[int], str]]:
    """By name: what makes a text of about `size` characters."""
    return {
        f"{before!r}{piece!r}{after!r}": lambda size, b=before, p=piece, a=after: b + p * (size // len(p)) + a
        for piece in _PIECES
        for before, after in _FRAMES
    }
