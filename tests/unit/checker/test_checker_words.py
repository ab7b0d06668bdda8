"""Special registers and directives of functions are asked for their PTX version and target, as ptxas 13.5 does."""

from __future__ import annotations

import pytest

from ptxloom.checker import check
from ptxloom.isa.special import special_register, special_registers
from ptxloom.isa.words import directives
from ptxloom.syntax import parse

NEWER = tuple(name for name, it in special_registers().items() if it.needs.version.major > 6)


def found(version: str, target: str, body: str, header: str = "") -> list[str]:
    head = f".version {version}\n.target {target}\n.entry k() {header} {{"
    return [each.rule for each in check(parse(f"{head} .reg .b32 r; .reg .b64 l; .reg .pred p;\n{body}\n}}\n"))]


def read(name: str) -> str:
    register = special_register(name)
    assert register is not None
    to = {"u32": "mov.u32 r", "u64": "mov.u64 l", "pred": "mov.pred p"}[register.type]
    return f"{to}, {name}{'.x' if register.vector else ''};"


@pytest.mark.parametrize("name", NEWER)
def test_a_newer_register_is_missed_in_an_older_version(name: str) -> None:
    assert "needs-version" in found("7.0", "sm_80", read(name))
    assert found("9.5", "sm_100a", read(name)) == []


def test_each_register_is_looked_at_by_itself() -> None:
    lines = [
        read(name) for name in ("%laneid", "%cluster_ctarank", "%laneid", "%cluster_nctarank", "%ctaid", "%clusterid")
    ]
    assert found("7.8", "sm_80", "\n".join(lines)) == ["needs-target"] * 3


def test_a_directive_is_missed_in_an_older_version_and_on_an_older_target() -> None:
    assert found("7.7", "sm_90", "ret;", ".explicitcluster")[-1] == "needs-version"
    assert found("7.8", "sm_80", "ret;", ".explicitcluster") == ["needs-target"]
    assert found("7.8", "sm_90", "ret;", ".explicitcluster") == []


def test_every_directive_says_where_it_stands_and_since_when() -> None:
    assert {words.place for words in directives().values()} == {"module", "header", "body", "declaration"}
    assert str(directives()["minperctamemory"].needs) == "PTX 9.4 or later and sm_80 or later"


def test_the_grid_number_may_be_read_as_it_once_was() -> None:
    body = "mov.u32 r, %gridid; mov.u64 l, %gridid; cvt.u32.u32 r, %gridid; ret;"
    assert found("9.0", "sm_90", body) == []
    assert found("9.0", "sm_90", f"mov.u32 r, %clock64; {body}") == ["operand-type"]
