"""The result of an examination: what is wrong, what was judged by the laws, and what was not."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Final, Literal

from ptxloom.dataclass import dataclass
from ptxloom.display import mimebundle

if TYPE_CHECKING:
    from ptxloom.diagnosis.model import Diagnosis
    from ptxloom.syntax.origins import SourceLine

Verdict = Literal["broken", "unjudged", "clean"]
PRODUCTS: Final = "products"
ELEMENTS: Final = "elements"


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Something in a run that no law could judge.

    Attributes:
        what: `products` of matrices, or `elements` of an operand or stored.
        count: The number; 0 if it is unknown.
        line: The PTX line of the instruction that multiplies or stores; 0 if it is not one instruction's.
        lines: That line, and others with the same reason and the same line of the source.
        instruction: The instruction there.
        origin: The line of the compiled program, if the module records it.
        array: The array of elements.
        why: Why not, as the rest of a sentence.
    """

    what: Literal["products", "elements"]
    count: int
    line: int
    lines: tuple[int, ...]
    instruction: str
    origin: SourceLine | None
    array: str
    why: str

    @property
    def sentence(self) -> str:
        """All of it in a sentence."""
        count = f"{self.count:,} " if self.count else ""
        one = self.count == 1
        whose = f" of {self.array}" if self.array else ""
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{count}{self.what[:-1] if one else self.what}{whose}: {self.why}"


@dataclass(frozen=True, slots=True, eq=False)
class Examination:
    """A run checked against the laws.

    Attributes:
        found: A diagnosis for each cause, certain ones first.
        products: The number of matrix products that were judged: both factors, and the place of the result.
        elements: The number of stored elements that were judged.
        unjudged: What was not judged, by line.
        terms: The number of judged products of two elements, as computed by `fma` and similar instructions.
    """

    found: tuple[Diagnosis, ...]
    products: int
    elements: int
    unjudged: tuple[Unjudged, ...] = field(default=())
    terms: int = 0

    _repr_mimebundle_ = mimebundle

    @property
    def verdict(self) -> Verdict:
        """`broken`: a law is; `clean`: all that is multiplied and stored was judged; `unjudged`: not all was."""
        if not all(one.is_suspicion for one in self.found):
            return "broken"
        return "clean" if (self.products or self.elements) and not self.unjudged else "unjudged"
