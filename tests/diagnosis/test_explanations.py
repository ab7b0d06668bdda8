"""Every change that can be made to a right operand is named, for every form of `mma`, and proved by undoing it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from diagnosis.made_tiles import LINES, PITCH, moved, pitched, reordered, right_tile
from ptxloom.diagnosis.explanations import explanations
from ptxloom.diagnosis.moves import in_order
from ptxloom.diagnosis.origins.permutations import named_orders
from ptxloom.diagnosis.origins.tiles import whole
from ptxloom.glossary import CAUSES
from ptxloom.isa.products import MatrixForm, mma_forms

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.diagnosis.origins.tiles import Integers

FORMS = tuple({(f.shape, f.container_bits("a")): f for f in mma_forms() if not f.quad_pairs}.values())
SMALL = tuple(f for f in FORMS if f.k <= 32)  # of which a tile of 64 rows holds several
BOTH = [(form, role) for form in SMALL for role in "ab"]
IDS = [f"{form.shape}-{form.a_type}-{role}" for form, role in BOTH]
ALL = pytest.mark.parametrize(("form", "role"), BOTH, ids=IDS)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.shape}-{form.a_type}")
@pytest.mark.parametrize("role", ["a", "b", "d"])
def test_a_right_operand_needs_no_explanation(form: MatrixForm, role: str) -> None:
    tile, wanted = right_tile(form, role)
    assert whole(tile, wanted).all()
    assert explanations(tile, wanted) == ()


@pytest.mark.sample(every=12)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: f"{form.shape}-{form.a_type}")
@pytest.mark.parametrize("role", ["a", "b", "d"])
def test_every_order_that_has_a_name_is_found_by_it_or_by_a_plainer_one(form: MatrixForm, role: str) -> None:
    tile, wanted = right_tile(form, role)
    for named, order in named_orders(form, role)[:60]:
        found = explanations(reordered(tile, order), wanted)
        assert found, named
        assert found[0].named.steps < named.steps or named in [one.named for one in found]
        assert all(whole(one.repaired, wanted).all() for one in found)


def _causes(form: MatrixForm, role: str, change: Callable[[Integers, Integers], tuple[Integers, Integers]]) -> set[str]:
    tile, wanted = right_tile(form, role, slow_rows=role == "a")
    found = explanations(moved(tile, change), wanted)
    assert all(one.named.cause in CAUSES for one in found)
    return {one.named.cause for one in found}


@ALL
def test_a_shift_is_named_with_its_direction(form: MatrixForm, role: str) -> None:
    slow, fast = ("rows", "columns") if role == "a" else ("columns", "rows")
    assert _causes(form, role, lambda s, f: (s + 3, f)) == {f"{slow}-shifted"}
    assert _causes(form, role, lambda s, f: (s, f - 2)) == {f"{fast}-shifted"}
    assert _causes(form, role, lambda s, f: (s, f + form.k)) == {"k-tile-mismatch"}


@ALL
def test_a_swizzle_on_one_side_and_two_different_ones_are_named(form: MatrixForm, role: str) -> None:
    chunk = 128 // form.container_bits(role)
    assert "swizzle-mismatch" in _causes(form, role, lambda s, f: (s, f ^ chunk * (s & 7)))  # may be a pitch as well
    assert _causes(form, role, lambda s, f: (s, f ^ chunk * (s >> 1 & 3))) == {"swizzle-mismatch"}
    assert _causes(form, role, lambda s, f: (s, f ^ chunk * (s & 7 ^ s >> 1 & 3))) == {"swizzle-mismatch"}


@ALL
def test_a_pitch_or_a_leading_dimension_is_named(form: MatrixForm, role: str) -> None:
    assert "pitch-mismatch" in _causes(form, role, pitched(64, 72))
    assert "pitch-mismatch" in _causes(form, role, pitched(72, 64))
    assert _causes(form, role, lambda s, f: np.divmod(s * (PITCH - 8) + f, PITCH)) == {"leading-dimension"}


@ALL
def test_an_index_of_16_bits_is_named(form: MatrixForm, role: str) -> None:
    tile, wanted = right_tile(form, role, slow_rows=role == "a")
    assert PITCH * LINES > 1 << 17
    assert wanted.rows is not None
    assert wanted.columns is not None
    over = moved(tile, lambda s, f: np.divmod((s * PITCH + f) % (1 << 16), PITCH))
    found = {one.named.cause for one in explanations(over, wanted)}
    assert "index-overflow" in found or np.array_equal(over.rows, tile.rows)


@ALL
def test_a_row_that_stands_for_others_is_named(form: MatrixForm, role: str) -> None:
    word = "rows" if role == "a" else "columns"
    assert _causes(form, role, lambda s, f: (s & ~4, f)) == {f"{word}-repeated"}


@ALL
def test_lines_that_are_each_off_by_their_own_distance_are_proved(form: MatrixForm, role: str) -> None:
    tile, wanted = right_tile(form, role, slow_rows=role == "a")
    slow, fast = ("rows", "columns") if role == "a" else ("columns", "rows")
    for word, off in ((slow, moved(tile, lambda s, f: (s & ~4, f))), (fast, moved(tile, lambda s, f: (s, f & ~2)))):
        found = explanations(off, wanted)
        assert {(one.named.cause, one.proved) for one in found} == {(f"{word}-repeated", True)}


@ALL
def test_a_k_that_goes_on_by_another_pace_is_named_with_both(form: MatrixForm, role: str) -> None:
    tile, wanted = right_tile(form, role, slow_rows=role == "a", events=12)
    along = wanted.columns if role == "a" else wanted.rows
    assert along is not None
    steps = np.unique(along[:, 0])
    assert steps[0] == 0
    own = (along[:, 0] // 64 * 3 - along[:, 0])[:, None, None]  # by 3 from product to product instead of by 64
    found = explanations(moved(tile, lambda s, f: (s, f + own)), wanted)
    paces = f"its k advances by {steps[1] // 64 * 3} from product to product, that of the other operand by {steps[1]}"
    assert [(one.named.cause, one.named.detail, one.proved) for one in found] == [("k-tile-mismatch", paces, True)]


@ALL
def test_an_order_without_a_name_is_told_if_all_of_it_is_known(form: MatrixForm, role: str) -> None:
    tile, wanted = right_tile(form, role)
    order = np.random.default_rng(2).permutation(tile.shape[0] * tile.shape[1])
    found = explanations(reordered(tile, order), wanted)
    assert [one.named.cause for one in found] == ["unknown"]
    known = tile.known.copy()
    known[:, 0, 0] = False
    assert explanations(replace(reordered(tile, order), known=known), wanted) == ()
    order[0] = order[1]
    assert explanations(reordered(tile, order), wanted) == ()


@ALL
def test_what_nothing_explains_is_not_explained(form: MatrixForm, role: str) -> None:
    tile, wanted = right_tile(form, role)
    rng = np.random.default_rng(1)
    scattered = moved(tile, lambda s, f: (s + rng.integers(0, 50, s.shape), f + rng.integers(0, 50, f.shape)))
    assert explanations(scattered, wanted) == ()


@pytest.mark.parametrize(
    ("lines", "text"), [([*range(16), *range(16)], "0 to 15, 0 to 15"), ([1, 0, 3, 2], "1, 0, 3, 2"), ([7], "7")]
)
def test_runs_of_lines_are_named_by_their_ends(lines: list[int], text: str) -> None:
    assert in_order(np.array(lines)) == text
