"""Rules ask the scope and leave it as it is: the order in which they are asked means nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ptxloom.checker import check, walk
from ptxloom.checker.core.scope import VisibleNames
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ptxloom.checker.core.context import Site
    from ptxloom.diagnostics import Diagnostic

CALLS = """.version 9.0
.target sm_90
.address_size 64
.func (.param .b32 result) f(.param .b32 given) { ret; }
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  { .param .b32 x; .param .b32 y;
    ld.param.b32 %r1, [y];
    st.param.b32 [x], 7;
    call (y), f, (x);
    ld.param.b32 %r0, [y]; ld.param.b32 %r2, [y];
    call (y), f, (%r0, y); call (undeclared), nowhere, (x); call;
  }
  mov.b32 %r9, %rd0; ldmatrix.m8n8.x1.b16 {%r0}, [%rd0]; bra.uni NOWHERE; ret;
}
"""


def state(scope: VisibleNames) -> tuple[object, ...]:
    """What a scope says, apart from what it has looked up so far."""
    return (
        scope.depth,
        scope.names(),
        dict(scope.functions),
        [(name, scope.label(name)) for name in scope.labels()],
        dict(scope.received),
        scope.formal,
        frozenset(scope.returned),
        scope.in_kernel,
    )


def test_no_rule_changes_the_scope(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def watched(rule: Callable[[Site], Iterator[Diagnostic]]) -> Callable[[Site], Iterator[Diagnostic]]:
        def watch(site: Site) -> Iterator[Diagnostic]:
            before = state(site.scope)
            yield from rule(site)
            assert state(site.scope) == before, rule
            asked.append(site.opcode)

        return watch

    monkeypatch.setattr(walk, "RULES", tuple(map(watched, walk.RULES)))
    assert check(parse(CALLS))
    assert asked.count("call") == 4 * len(walk.RULES)


def test_the_order_of_the_rules_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    module, rules = parse(CALLS), walk.RULES
    found = set(check(module))
    assert {"call-sequence", "call-signature", "undeclared-name", "operand-count"} <= {one.rule for one in found}
    for turn in range(len(rules)):
        monkeypatch.setattr(walk, "RULES", (*rules[turn:], *rules[:turn])[::-1])
        assert set(check(module)) == found


def test_a_variable_is_read_after_the_call_that_gives_it_back() -> None:
    lines = [one.span.line for one in check(parse(CALLS)) if one.rule == "call-sequence"]
    assert lines == [8]


@pytest.mark.parametrize("name", [name for name, one in vars(VisibleNames).items() if isinstance(one, property)])
def test_only_its_methods_change_a_scope(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(VisibleNames(), name, None)


def test_public_attributes_of_a_scope_are_properties() -> None:
    assert [name for name in vars(VisibleNames()) if not name.startswith("_")] == []
