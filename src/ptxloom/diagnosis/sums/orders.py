"""The right elements of a sum's factors; and factors whose array is merely in another order."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ptxloom.diagnosis.sums.laws import ROLES

if TYPE_CHECKING:
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.diagnosis.sums.einsum import Axes
    from ptxloom.diagnosis.sums.laws import Broken
    from ptxloom.diagnosis.sums.matrices import Matrices
    from ptxloom.diagnosis.sums.terms import Terms


def meant(terms: Terms, axes: Axes, side: int) -> Integers:
    """(terms,) the element of a factor that each term should take, by the other factor and the result.

    Args:
        terms: The terms.
        axes: How their arrays are read.
        side: The factor: 0 or 1.
    """
    other = axes.indices(1 - side, terms.factors["element"][:, 1 - side])
    index = {**other, **axes.indices(2, terms.result)}
    found = np.ravel_multi_index([index[letter] for letter in axes.letters[side]], axes.shapes[side], mode="clip")
    return np.asarray(found, np.int64)


def has_own_order(one: Broken, matrices: Matrices, axes: Axes) -> bool:
    """Whether a factor of packed elements, or of several axes, is only in another order: each at a place of its own.

    With a mistake, elements would occur twice or be missing.
    """
    side = ROLES.find(one.role) if one.role else -1
    if side not in (0, 1) or (matrices.words[side] is None and not matrices.is_open):
        return False
    held, wanted = matrices.terms.factors["element"][:, side], meant(matrices.terms, axes, side)
    pairs = np.unique(np.stack((held, wanted), axis=1), axis=0)
    each = len(np.unique(pairs[:, 0])) == len(pairs) == len(np.unique(pairs[:, 1]))
    return each and len(pairs) == prod(axes.shapes[side])
