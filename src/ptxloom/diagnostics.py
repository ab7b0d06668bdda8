"""Findings about a text, as values; each output format is in `views`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.display import line, mimebundle

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import UnionType

    from ptxloom.source import Span

__all__ = [
    "BEFORE_LAWS",
    "TOOLS",
    "Diagnostic",
    "Findings",
    "Fix",
    "Label",
    "PtxloomError",
    "Severity",
    "UnsupportedForm",
    "UsageError",
]


class Severity(StrEnum):
    """How much a finding matters: an error makes the text illegal, a warning is risky, a note informs.

    Example:
        >>> Severity("warning") is Severity.WARNING
        True
        >>> print(Severity.ERROR)
        error
    """

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Label:
    """A remark at a second place that belongs to a finding (the other declaration, the other side of a race).

    Attributes:
        span: Where.
        text: The remark.

    Example:
        >>> from ptxloom.syntax import parse
        >>> from ptxloom.checker import check
        >>> found = check(parse(".version 9.0 .target sm_90 .global .u32 a; .global .u32 a;"))[0]
        >>> found.message, found.related[0].text
        ('`a` is declared already', 'first declared here')
    """

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """What to write instead: replace `span` by `replacement`.

    An empty span inserts; an empty replacement deletes.

    Attributes:
        description: What to do, as an order: "add the qualifier".
        span: The text to replace.
        replacement: The new text.
        is_safe: Whether it keeps the meaning of the program, or only one meaning is possible; other fixes are guesses,
            for a reader to judge.

    Example:
        >>> from ptxloom.syntax import parse
        >>> from ptxloom.checker import check
        >>> found = check(parse(".version 9.0 .target sm_90 .entry k() { ldmatrix.sync.m8n8.x1.b16 {a}, [b]; }"))[0]
        >>> text, fix = found.span.source.text, found.fix
        >>> (text[: fix.span.start] + fix.replacement + text[fix.span.end :])[44:69]
        'trix.sync.aligned.m8n8.x1'
    """

    description: str
    span: Span
    replacement: str
    is_safe: bool = False


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: it stands alone, points at the place and says what to do.

    Attributes:
        rule: The rule's id, kebab-case; `ptxloom explain RULE` prints its page.
        severity: Error, warning or note.
        message: One sentence, lower case, no full stop, code in backticks.
        span: Where.
        label: Why *here*, drawn under the caret; may be empty.
        section: The manual's section, such as "9.7.14.5.16"; may be empty.
        help: What to do, for a reader; empty if `fix` is enough.
        fix: The edit that repairs it, if there is one.
        related: Remarks at other places.

    Example:
        >>> from ptxloom.syntax import parse
        >>> from ptxloom.checker import check
        >>> found = check(parse(".version 9.0 .target sm_90 .entry k() { ldmatrix.sync.m8n8.x1.b16 {a}, [b]; }"))[0]
        >>> print(found)
        <string>:1:41: error: `ldmatrix` requires `.aligned` [missing-aligned]
        >>> found.severity, found.section, found.fix.replacement
        (<Severity.ERROR: 'error'>, '9.7.14.5.15', '.aligned')
    """

    rule: str
    severity: Severity
    message: str
    span: Span
    label: str = ""
    section: str = ""
    help: str = ""
    fix: Fix | None = None
    related: tuple[Label, ...] = ()

    _repr_mimebundle_ = mimebundle

    def __str__(self) -> str:
        return line(self)


class Findings(tuple[Diagnostic, ...]):
    """What `check` found, in the order of the text: a tuple that draws itself, and whose `repr` is short.

    Example:
        >>> from ptxloom.syntax import parse
        >>> from ptxloom.checker import check
        >>> check(parse(".version 9.0 .target sm_90 .entry k() { ldmatrix.sync.m8n8.x1.b16 {a}, [b]; }"))
        <1 finding: error [missing-aligned]>
    """

    __slots__ = ()

    _repr_mimebundle_ = mimebundle

    def __repr__(self) -> str:
        if not self:
            return "()"
        told = Counter(f"{one.severity} [{one.rule}]" for one in self)
        shown = [f"{number} x {what}" if number > 1 else what for what, number in told.most_common(_MOST_RULES)]
        more = ", ..." if len(told) > _MOST_RULES else ""
        return f"<{len(self)} finding{'s' * (len(self) != 1)}: {', '.join(shown)}{more}>"

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "no findings"


_MOST_RULES: Final = 6

TOOLS: Final = ("memcheck", "racecheck", "initcheck", "synccheck")
"""Those that watch a kernel while it runs, by compute-sanitizer's names; each finds hazards of several kinds."""
BEFORE_LAWS: Final = (*TOOLS, "racecheck:global")
"""Those that watch a kernel before it is asked why its result is wrong: races between CTAs make results wrong, too."""


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Findings in the order of the text, then by rule: the order in which every format prints them."""
    return tuple(sorted(diagnostics, key=lambda d: (d.span.start, d.span.end, d.rule)))


class PtxloomError(Exception):
    """The base of every exception ptxloom raises on purpose. It is never raised for the contents of a PTX file.

    Example:
        >>> from ptxloom.syntax import parse
        >>> from ptxloom.machine import kernel
        >>> try:
        ...     kernel(parse("ret;"), "main")
        ... except PtxloomError as error:
        ...     print(error)
        name is 'main'; it must be a kernel of the module, which has no kernels
    """


class DistrustWarning(UserWarning):
    """Something that ptxloom would use is not used, as others than this user can have written it."""


_LONGEST: Final = 80
"""Characters of a value that a message shows."""


class UsageError(PtxloomError):
    """An argument of an API call is wrong; the message names the argument, the value and what is legal.

    Example:
        >>> raise UsageError("num", 3, "1, 2 or 4")
        Traceback (most recent call last):
        ptxloom.diagnostics.UsageError: num is 3; it must be 1, 2 or 4
    """

    def __init__(self, argument: str, value: object, legal: str) -> None:
        shown = repr(value)
        shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
        super().__init__(f"{argument} is {shown}; it must be {legal}")
        self.argument = argument
        self.value = value
        self.legal = legal


def must_be(kind: type | UnionType, argument: str, value: object, legal: str) -> None:
    """Check that a value has a type, for callers without a type checker.

    Raises:
        UsageError: It is not one.

    Example:
        >>> must_be(str, "text", b"ret;", "a string")
        Traceback (most recent call last):
        ptxloom.diagnostics.UsageError: text is b'ret;'; it must be a string
    """
    if not isinstance(value, kind):
        raise UsageError(argument, value, legal)


def must_be_several(argument: str, value: object, what: str) -> None:
    """Refuse a single value or a string where a sequence or set is needed.

    Raises:
        UsageError: It is not one.

    Example:
        >>> must_be_several("checks", "racecheck", "names of tools")
        Traceback (most recent call last):
        ptxloom.diagnostics.UsageError: checks is 'racecheck'; it must be a sequence of names of tools
    """
    if isinstance(value, (tuple, list)):  # asking for a protocol takes longer
        return
    if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, AbstractSet)):
        raise UsageError(argument, value, f"a sequence of {what}")


class UnsupportedForm(PtxloomError):  # noqa: N818 - the design's public name
    """A spelling names no instruction form, or one that the operation cannot handle.

    Example:
        >>> from ptxloom.fragments import fragment
        >>> try:
        ...     fragment("add.f32")
        ... except UnsupportedForm as error:
        ...     print(error)
        `add.f32` holds no matrix; forms of ldmatrix, stmatrix, movmatrix, mma, wmma, wgmma and tcgen05 do
    """
