"""Every public function, called with values of other types than it takes, answers in a sentence of ours."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

import ptxloom as pl

if TYPE_CHECKING:
    from collections.abc import Callable

SPACES: Final = (
    pl, pl.atoms, pl.banks, pl.checker, pl.comparison, pl.descriptors, pl.diagnosis, pl.diagnostics, pl.flow,
    pl.fragments, pl.isa, pl.layout, pl.machine, pl.source, pl.syntax,
)  # fmt: skip


class Stranger:
    """A value of a type that no function takes."""

    def __repr__(self) -> str:
        return "Stranger()"


THREE: Any = 3
TEXT: Any = "abc"
HALF: Any = 1.5
NOTHING: Any = None
WRONG: Final = (3, "nonsense", None, Stranger())


def functions() -> dict[str, Callable[..., Any]]:
    named = {
        f"{space.__name__.replace('ptxloom', 'pl', 1)}.{name}": getattr(space, name)
        for space in SPACES
        for name in space.__all__
    }
    return {name: value for name, value in named.items() if inspect.isfunction(value) and needed(value)}


def needed(function: Callable[..., Any]) -> int:
    """How many arguments must be given, one of several at least."""
    kinds = inspect.signature(function).parameters.values()
    plain = [one for one in kinds if one.default is one.empty and one.kind is not one.KEYWORD_ONLY]
    return len(plain)


@pytest.mark.parametrize("name", functions())
def test_no_type_brings_a_function_down(name: str) -> None:
    function = functions()[name]
    for wrong in WRONG:
        with suppress(pl.PtxloomError):
            given = function(*[wrong] * needed(function))
            if isinstance(given, Iterator):
                list(cast("Iterator[object]", given))


def test_a_stranger_is_taken_by_nobody() -> None:
    taken: list[str] = []
    for name, function in functions().items():
        try:
            given = function(*[Stranger()] * needed(function))
            if isinstance(given, Iterator):
                list(cast("Iterator[object]", given))
            taken.append(name)
        except pl.PtxloomError:
            pass
    assert set(taken) <= {"pl.global_array", "pl.machine.global_array", "pl.diagnostics.must_be", "pl.isa.known"}


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: pl.layout.to_linear(THREE, "row"), "layout"),
        (lambda: pl.atoms.emit(THREE), "what"),
        (lambda: cast("Any", pl.layout.composition)(1, 2), "a"),
        (lambda: pl.layout.Layout((8, 8))(TEXT), "coordinate"),
        (lambda: pl.layout.Layout((8, 8))((1, TEXT)), "coordinate"),
        (lambda: pl.layout.Layout((8, 8))(HALF), "coordinate"),
        (lambda: pl.layout.Layout((8, 8))(NOTHING), "coordinate"),
        (lambda: pl.layout.product(TEXT), "shape"),
        (lambda: pl.layout.congruent((1, 2), TEXT), "right"),
        (lambda: pl.atoms.make_tiled_mma(THREE), "atom"),
        (lambda: pl.flow.flow_graphs(TEXT), "module"),
        (lambda: pl.syntax.print_node(TEXT), "node"),
        (lambda: pl.isa.matrix_forms("add"), "opcode"),
    ],
)
def test_the_sentence_names_the_argument(call: Callable[[], Any], argument: str) -> None:
    with pytest.raises(pl.UsageError) as raised:
        call()
    assert raised.value.argument == argument
    assert str(raised.value).startswith(f"{argument} is ")
