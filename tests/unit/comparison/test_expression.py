"""Expressions: what they come to is what NumPy says, and whatever else stands there is a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ptxloom.comparison import compare, quantity
from ptxloom.comparison.expression import BadExpression, read_expectation, reference
from ptxloom.comparison.functions import ELEMENTWISE
from ptxloom.comparison.quantity import MOST_ELEMENTS, NoQuantity, Quantity, must_have_room
from ptxloom.comparison.rounding import Precision

RNG = np.random.default_rng(2)
A = RNG.standard_normal((6, 4)).astype(np.float32)
B = RNG.standard_normal((4, 5)).astype(np.float32)
VALUES: dict[str, Any] = {
    "A": A,
    "B": B,
    "C": np.zeros((6, 5), np.float32),
    "D": np.ones((6, 4), np.float32),
    "I": np.arange(24, dtype=np.int8).reshape(6, 4),
    "J": np.zeros((6, 6), np.int32),
    "tall": np.ones((1 << 20, 1), np.int8),
    "wide": np.ones((1, 1 << 20), np.int8),
    "big": np.broadcast_to(np.int8(1), (6000, 6000)),
    "text": np.full(3, "x"),
    "n": 4,
    "x": 0.5,
}


def worked_out(text: str) -> Any:
    return reference(read_expectation(text), VALUES, Precision())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("C = A @ B", A.astype(float) @ B),
        ("C = 2 * (A @ B) - x", 2 * (A.astype(float) @ B) - 0.5),
        ("D = A.T.T / n + -A", A.astype(float) / 4 - A),
        ("D = sum(A, axis=0)", A.astype(float).sum(0)),
        ("D = maximum(A, 0)", np.maximum(A.astype(float), 0)),
        ("D = relu(A)", np.maximum(A.astype(float), 0)),
        ("D = tanh(A) + exp(A) + sqrt(abs(A)) + log(abs(A))", None),
        ("D = softmax(A)", None),
        ("D = mean(A) + max(A) - min(A, axis=-2)", A.mean(dtype=float) + A.max() - A.min(axis=0).astype(float)),
        ("J = I @ I.T", np.arange(24).reshape(6, 4) @ np.arange(24).reshape(6, 4).T),
    ],
)
def test_values_are_those_of_numpy(text: str, wanted: Any) -> None:
    found = worked_out(text)
    if wanted is None:
        x = A.astype(float)
        powers = np.exp(x - x.max(-1, keepdims=True))
        softmax = powers / powers.sum(-1, keepdims=True)
        wanted = softmax if "softmax" in text else np.tanh(x) + np.exp(x) + np.sqrt(abs(x)) + np.log(abs(x))
    target = VALUES[text[0]]
    np.testing.assert_allclose(found.array, np.broadcast_to(wanted, target.shape), rtol=1e-12, atol=1e-12)
    assert (found.error >= 0).all()


def test_integers_wrap_as_those_of_kernels_do() -> None:
    large = {"K": np.full((2, 2), 2**31 - 1, np.int32), "L": np.zeros((2, 2), np.int32)}
    found = reference(read_expectation("L = K * K + K"), large, None)
    assert found.array.tolist() == (np.full((2, 2), (2**31 - 1) * 2**31, np.int64).astype(np.int32)).tolist()
    assert not np.any(found.error)


def test_a_right_attention_is_within_what_is_allowed() -> None:
    q, k, v = (RNG.standard_normal((32, 16)).astype(np.float16) for _ in range(3))
    scores = q.astype(np.float32) @ k.T.astype(np.float32) / 4
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    halves = (powers / powers.sum(-1, keepdims=True)).astype(np.float16)
    got = halves.astype(np.float32) @ v.astype(np.float32)
    values = {"Q": q, "K": k, "V": v, "O": np.zeros((32, 16), np.float32)}
    made = reference(read_expectation("O = softmax(Q @ K.T / 4) @ V"), values, Precision("f32", "f16"))
    assert compare(got, made, precision=Precision("f32", "f16")).passed
    assert compare(np.roll(got, 1, 0), made, precision=Precision("f32", "f16")).wrong > 400
    exact = reference(read_expectation("O = softmax(Q @ K.T / 4) @ V"), values, Precision("f32"))
    assert not compare(got, exact, precision=Precision("f32")).passed


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "does not name the array"),
        ("A @ B", "does not name the array"),
        ("C == A @ B", "does not name the array"),
        ("C = D = A @ B", "does not name the array"),
        ("C, D = A, B", "does not name the array"),
        ("C = A\nD = B", "does not name the array"),
        ("C[0] = A", "does not name the array"),
        ("C = A @", "does not name the array"),
        ("C = " + "(" * 300, "does not name the array"),
        ("C = A\0", "does not name the array"),
        ("C = " + "A + " * 300 + "A", "longer than 1,000 characters"),
        ("C = " + "-" * 900 + "A", "C = ---"),
        ("Z = A", "Z is not an array among the arguments"),
        ("n = 4", "n is not an array among the arguments"),
        ("text = A", "holds <U1, not numbers"),
        ("C = text", "holds <U1, not numbers"),
        ("C = Z @ A", "`Z` is no argument; the arguments are A, B, "),
        ("C = A @ A", r"cannot multiply matrices of shapes \[6, 4\] and \[6, 4\]"),
        ("C = A + B", r"cannot take \[6, 4\] \+ \[4, 5\]"),
        ("C = A", r"has the shape \[6, 4\], and C has \[6, 5\]"),
        ("C = n @ A", "cannot multiply"),
        ("C = tall @ wide", "would have 1,099,511,627,776 elements"),
        ("C = big @ big", "takes 216,000,000,000 products"),
        ("C = tall + wide", "would have 1,099,511,627,776 elements"),
        ("C = sum(A, axis=2)", r"has no axis 2: its shape is \[6, 4\]"),
        ("C = sum(A, axis='x')", "takes axis=NUMBER"),
        ("C = sum(A, keepdims=True)", "takes axis=NUMBER"),
        ("C = sum(A, **B)", "takes axis=NUMBER"),
        ("C = sum(A, B)", "takes one argument"),
        ("C = sum(*A)", "means nothing here"),
        ("C = maximum(A)", "takes two arguments"),
        ("C = eval('1')", "means nothing here"),
        ("C = exit(1)", "exit is no function"),
        ("C = A.__class__", "means nothing here"),
        ("C = A.T.__init__.__globals__", "means nothing here"),
        ("C = __import__('os').system('true')", "means nothing here"),
        ("C = (lambda: 1)()", "means nothing here"),
        ("C = [A for A in B]", "means nothing here"),
        ("C = A ** 9", "means nothing here"),
        ("C = 9 ** 9 ** 9", "means nothing here"),
        ("C = A if A else B", "means nothing here"),
        ("C = (D := A)", "means nothing here"),
        ("C = True", "means nothing here"),
        ("C = 'A' * 10", "means nothing here"),
        ("C = 1j * (A @ B)", "means nothing here"),
        ("C = f'{A}'", "means nothing here"),
        ("C = '\\d'", "means nothing here"),
    ],
)
def test_anything_else_is_a_sentence(text: str, says: str) -> None:
    with pytest.raises(BadExpression, match=says):
        worked_out(text)


@pytest.mark.parametrize(
    "number",
    [0, 7, 2**63 - 1, 2**63, 2**64, 2**1023, 10**400],
    ids=lambda number: f"{len(str(number))} digits, {str(number)[-1]}",
)
@pytest.mark.parametrize("sign", [1, -1])
def test_integers_of_any_size_are_numbers(sign: int, number: int) -> None:
    """Of those that 64 bits do not hold, the nearest number in double precision; of the largest, infinity."""
    wanted: float = sign * number
    if wanted not in range(-(2**63), 2**63):
        wanted = sign * (float(number) if number < 2**1024 else np.inf)
    given = {**VALUES, "z": sign * number}
    for text in (f"C = {sign * number}", "C = z"):
        assert np.unique(reference(read_expectation(text), given, None).array).tolist() == [wanted]


def test_a_number_too_large_for_double_precision_is_infinite() -> None:
    assert np.unique(worked_out("C = 1e999").array).tolist() == [np.inf]


@pytest.mark.parametrize("number", [-(2**63), -5, 0, 3, 2**63 - 1])
def test_integers_of_64_bits_among_the_arguments_wrap_as_those_of_arrays_do(number: int) -> None:
    found = reference(read_expectation("J = z * I @ I.T"), {**VALUES, "z": number}, None)
    rows = np.arange(24, dtype=np.int64).reshape(6, 4)
    assert found.array.dtype == np.int32
    assert found.array.tolist() == (np.int64(number) * rows @ rows.T).astype(np.int32).tolist()


@pytest.mark.parametrize("name", sorted(ELEMENTWISE))
def test_a_function_passes_on_an_error_as_fast_as_it_changes(name: str) -> None:
    """The error grows by the derivative, here the difference between two neighbours; what rounding adds is small."""
    points = np.array([0.3, 0.7, 1.1, 2.0])
    error, step = np.array([1e-3, 2e-3, 5e-4, 1e-3]), 1e-6
    passed_on = ELEMENTWISE[name](Quantity(points, error, 0, 0.0, Precision("f64")))
    above, below = (ELEMENTWISE[name](Quantity.of(points + by, Precision("f64"))).value for by in (step, -step))
    np.testing.assert_allclose(passed_on.error, error * np.abs(above - below) / (2 * step), rtol=1e-6)


@pytest.mark.parametrize("shape", [(), (3,), (3, 4), (2, 3, 4)])
def test_transposing_exchanges_the_errors_of_elements_as_it_does_the_elements(shape: tuple[int, ...]) -> None:
    value, error = RNG.standard_normal(shape), RNG.random(shape)
    found = Quantity(value, error, 0, 0.0, Precision()).transposed()
    expected = [one.swapaxes(-1, -2) if len(shape) > 1 else one for one in (value, error)]
    np.testing.assert_array_equal([found.value, found.error], expected)
    shared = Quantity(value, np.asarray(0.5), 0, 0.0, Precision()).transposed()
    np.testing.assert_array_equal(np.broadcast_to(shared.error, shared.shape), 0.5)


@pytest.mark.parametrize(
    ("text", "larger", "power"),
    [
        ("C = A @ B", "A", 1), ("C = A @ B", "B", 1), ("C = A @ B", "AB", 2), ("C = A @ B + C", "AC", 1),
        ("D = A + D", "AD", 1), ("D = A - D / 2", "AD", 1), ("D = sum(A) - mean(A)", "A", 1),
    ],
)  # fmt: skip
def test_errors_grow_with_what_they_are_errors_of(text: str, larger: str, power: int) -> None:
    """Of numbers 2^10 times as large, exactly 2^10 times as much."""
    values = {**VALUES, "C": np.ones((6, 5), np.float32)}
    scaled = {name: values[name] * np.float32(1024) for name in larger}
    (value, error), (wide_value, wide_error) = (
        (found.array, found.error)
        for given in (values, {**values, **scaled})
        for found in (reference(read_expectation(text), given, Precision("f32", "f16")),)
    )
    assert error is not None
    assert wide_error is not None
    np.testing.assert_array_equal(wide_value, value * 1024.0**power)
    np.testing.assert_allclose(wide_error, error * 1024.0**power, rtol=1e-12)


def test_room_is_for_as_many_elements_as_are_said() -> None:
    for most in ((MOST_ELEMENTS,), (2, MOST_ELEMENTS // 2), (0, 2 * MOST_ELEMENTS)):
        must_have_room(most)
    with pytest.raises(NoQuantity, match="would have 134,217,729 elements; 134,217,728 are the most"):
        must_have_room((MOST_ELEMENTS + 1,))


@pytest.mark.parametrize("most", [120, 119])
def test_a_product_takes_as_many_products_as_are_said(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantity, "MOST_PRODUCTS", most)
    if most == A.size * B.shape[1]:
        assert worked_out("C = A @ B").array.shape == (6, 5)
    else:
        with pytest.raises(BadExpression, match="takes 120 products; 119 are the most"):
            worked_out("C = A @ B")
