"""Which products and sums ptxas fuses.

A product is fused if only sums of its kind read it. In the order of the text each sum takes a product that no other of
its sums has taken; of two, the one with fewer sums, or the left one. Before that, scalar sums take a product that only
they read, again the left one of two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.machine.contraction.products import Product, Sum


def choose(sums: Sequence[Sum]) -> None:
    """Decide which summand each sum of a stretch is fused with."""
    for one in sums:
        if not one.node.qualifiers[-1].endswith("x2"):
            _take(one, [at for at, product in _products(one) if not product.is_read and len(product.sums) == 1])
    for one in sums:
        if one.fused is None:
            free = [(len(product.sums), at) for at, product in _products(one) if not product.is_read]
            _take(one, [at for _, at in sorted(free)])


def _take(one: Sum, wanted: Sequence[int]) -> None:
    """Fuse a sum with the first of some summands; from now on it reads the other one separately."""
    if wanted:
        one.fused = wanted[0]
        for at, product in _products(one):
            product.is_read |= at != one.fused


def _products(one: Sum) -> Iterator[tuple[int, Product]]:
    return ((at, term.product) for at, term in enumerate(one.terms) if term is not None)
