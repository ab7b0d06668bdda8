"""The results of a comparison, as values."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from ptxloom.dataclass import dataclass
from ptxloom.display import mimebundle

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """What an array must be after a launch.

    Attributes:
        array: The values, of the array's shape.
        rtol: The relative difference allowed of each element; if neither this nor `atol` is given, the tolerance is
            what rounding can explain. Both 0: equal bits.
        atol: The absolute difference allowed.
        error: The rounding error to expect in each element, where known.
        terms: The number of terms in the longest sum; 0: unknown.
        accumulate: The type that sums may be rounded to, as PTX calls it; if left out, one no coarser than the array's.
        coarse_error: As `error`, where the kernel itself rounds its sums to a coarser type than that.
        against: Its name in reports.
        names: Names in reports for the arguments of the launch, by place; the others are named after their parameters.

    Example:
        >>> import numpy as np
        >>> import ptxloom as pl
        >>> text = ".version 9.0 .target sm_90 .entry k(.param .u64 p) { .reg .b64 %a; "
        >>> text += "ld.param.u64 %a, [p]; st.global.f32 [%a], 0f3F800000; ret; }"
        >>> wanted = Reference(np.array([1, 2], np.float32), rtol=1e-6)
        >>> result = pl.kernel(pl.parse(text), "k").launch(1, 1, [np.zeros(2, np.float32)], reference={"p": wanted})
        >>> result.comparisons[0].wrong, result.comparisons[0].first.index
        (1, (1,))
    """

    array: NDArray[Any]
    rtol: float | None = None
    atol: float | None = None
    error: NDArray[Any] | None = None
    terms: int = 0
    against: str = "the reference"
    names: tuple[str, ...] = ()
    accumulate: str = ""
    coarse_error: NDArray[Any] | None = None


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The allowed error of an element: `|got - wanted| <= atol + rtol * |wanted|`.

    Attributes:
        rtol: The relative part; None if it follows from rounding, by `sums` and `terms`.
        atol: The absolute part; None likewise.
        sums: The type that rounds the sums, by its name in PTX; empty if nothing rounds.
        terms: The length of the longest sum.
    """

    rtol: float | None = None
    atol: float | None = None
    sums: str = ""
    terms: int = 0

    @property
    def is_exact(self) -> bool:
        """Whether every bit must be equal."""
        return self.rtol == 0 and self.atol == 0

    def __str__(self) -> str:
        if self.is_exact:
            return "every bit"
        if self.rtol is None or self.atol is None:
            return f"the rounding {f'of sums of {self.terms:,} ' if self.terms else ''}in {self.sums}"
        return f"{self.atol:.3g} + {self.rtol:.3g} of the expected value"


@dataclass(frozen=True, slots=True)
class Difference:
    """One element that differs.

    Attributes:
        index: Its index.
        got: The actual value.
        wanted: The expected value.
        error: Their distance; NaN or infinite if one of the two is.
        allowed: The allowed distance.
    """

    index: tuple[int, ...]
    got: complex
    wanted: complex
    error: float
    allowed: float


@dataclass(frozen=True, slots=True)
class Pattern:
    """What the elements that differ have in common.

    Attributes:
        kind: Where they are: `everywhere`, `block`, `tail`, `periodic`, `tiles`, `lanes`, `diagonal`. What they hold:
            `constant`, `scaled`, `transposed`, `shifted`, `exchanged`, `permuted`.
        sentence: The same in words.
    """

    kind: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Downgrade:
    """The reason for differences that are only rounding: the array's sums are in a coarser type.

    Attributes:
        sums: The type that rounds the kernel's sums, by its name in PTX.
        wanted: The type that was expected to.
        allowed: The difference that would be allowed for the worst element if the coarser type were intended.
    """

    sums: str
    wanted: str
    allowed: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """An array compared with its reference, element by element.

    Attributes:
        name: The name of the array.
        against: What it was compared with.
        dtype: The type of its elements.
        shape: Its shape.
        tolerance: The tolerance.
        wrong: The number of elements that differ by more.
        nans: The number of these that are NaN instead of a number.
        infinities: The number of these that are infinite and should not be.
        first: The first wrong element, in memory order.
        largest: The element that differs most, if its difference is a number; also set if nothing is wrong.
        patterns: What the wrong elements have in common, the likeliest first.
        trail: The provenance of the first wrong element, in sentences, if the launch recorded it (`provenance`).
        downgrade: The coarser type of the kernel's sums, if that alone explains the differences.

    Example:
        >>> import numpy as np
        >>> from ptxloom.comparison import compare
        >>> wanted = np.arange(64.0).reshape(8, 8)
        >>> got = wanted.copy()
        >>> got[:, 4:6] = 0
        >>> found = compare(got, wanted, name="C")
        >>> found.wrong, found.first.index, found.patterns[0].sentence
        (16, (0, 4), 'columns 4 to 5')
    """

    name: str
    against: str
    dtype: str
    shape: tuple[int, ...]
    tolerance: Tolerance
    wrong: int
    nans: int = 0
    infinities: int = 0
    first: Difference | None = None
    largest: Difference | None = None
    patterns: tuple[Pattern, ...] = ()
    trail: tuple[str, ...] = ()
    downgrade: Downgrade | None = None

    _repr_mimebundle_ = mimebundle

    @property
    def total(self) -> int:
        """How many elements there are."""
        return prod(self.shape)

    @property
    def passed(self) -> bool:
        """Whether every difference is within what is allowed."""
        return self.wrong == 0
