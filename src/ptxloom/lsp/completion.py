"""Completion: opcodes, qualifiers that are legal here, names in scope, directives, targets."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.isa import instruction_spec, known, opcodes, targets, versions
from ptxloom.isa.pages.words import directives, special_about, special_names
from ptxloom.isa.special import special_register
from ptxloom.isa.types import is_type
from ptxloom.lsp.expected import expected
from ptxloom.lsp.names import NameKind
from ptxloom.lsp.qualifier_completion import qualifiers
from ptxloom.lsp.unfinished import unfinished

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.lsp.document import Document


class Sort(StrEnum):
    """The kind of a proposal."""

    OPCODE = "opcode"
    QUALIFIER = "qualifier"
    TYPE = "type"
    DIRECTIVE = "directive"
    REGISTER = "register"
    SPECIAL = "special register"
    VARIABLE = "variable"
    PARAMETER = "parameter"
    LABEL = "label"
    FUNCTION = "function"
    COMPONENT = "component"
    TARGET = "target"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A completion.

    Attributes:
        text: The text that replaces `[start, end)`.
        sort: Its kind.
        start: The start of the replaced text.
        end: The end of the replaced text.
        detail: A short description.
        rank: Proposals of a lower rank come first; of equals the earlier.
    """

    text: str
    sort: Sort
    start: int
    end: int
    detail: str = ""
    rank: int = 0


DECLARED: Final = (
    *(f"b{bits}" for bits in (8, 16, 32, 64, 128)),
    *(f"{sign}{bits}" for sign in "us" for bits in (8, 16, 32, 64)),
    *("f16", "f16x2", "f32", "f64", "pred", "texref", "samplerref", "surfref"),
)
"""The types that a declaration may have (PTX ISA 5.2, 5.3)."""
MOST_NAMES: Final = 1000
"""The most names of a series that are proposed."""

_QUALIFIED: Final = re.compile(r"([a-z]\w*)((?:\.[\w:]*)+)\Z", re.ASCII)
_WORD: Final = re.compile(r"(?<![\w$%])[\w$%]*+\Z", re.ASCII)
_DIRECTIVE: Final = re.compile(r"(?<![\w\]])\.(\w*)\Z", re.ASCII)
_LINKED: Final = re.compile(r"(?:\.(?:visible|extern|weak|common)\s+)+\.\w*", re.ASCII)
_MAY_BE_LINKED: Final = frozenset((".entry", ".func", ".global", ".const", ".shared", ".alias"))
_HEAD: Final = re.compile(r"\.(?:entry|func)\b[^{;]*\Z", re.ASCII)
_NAMING: Final = re.compile(r"(?:\.(?:visible|extern|weak|common)\s+)*\.(?:global|const|alias|\w+targets)\b", re.ASCII)
"""Directives that may contain names declared elsewhere."""
_COMPONENT: Final = re.compile(r"(?<![\w$%])([\w$%]++)\.(\w*+)\Z", re.ASCII)
_DECLARING: Final = re.compile(r"\.(?:reg|param|shared|global|const|local)\b[^;]*\s\.(\w*)\Z", re.ASCII)
_TARGET: Final = re.compile(r"\.target\s+(?:\w+\s*,\s*)*(\w*)\Z", re.ASCII)
_VERSION: Final = re.compile(r"\.version\s+([\d.]*)\Z", re.ASCII)


def complete(document: Document, offset: int) -> tuple[Proposal, ...]:
    """The completions at an offset; the client filters them by the text typed so far."""
    before = unfinished(document, offset)
    if before is None:
        return ()
    return tuple(_proposals(document, offset, before))


def _proposals(document: Document, offset: int, before: str) -> Iterator[Proposal]:
    if (match := _TARGET.search(before)) is not None:
        names = [(str(target), f"PTX {target.since}") for target in reversed(targets())]
        yield from _listed(names, Sort.TARGET, offset - len(match[1]), offset)
    elif (match := _VERSION.search(before)) is not None:
        numbers = [(str(version), "") for version in reversed(versions())]
        yield from _listed(numbers, Sort.TARGET, offset - len(match[1]), offset)
    elif (match := _QUALIFIED.fullmatch(before)) is not None:
        if known(match[1]):
            yield from _qualifiers(document, offset, match)
    elif before.startswith("."):
        yield from _of_directive(document, offset, before)
    elif _WORD.fullmatch(before):
        yield from _opcodes(document, offset - len(before), offset)
    elif (match := _COMPONENT.search(before)) is not None:
        yield from _components(document, match, offset)
    elif (match := _WORD.search(before)) is not None:
        yield from _names(document, before, offset - len(match[0]), offset)


def _listed(words: list[tuple[str, str]], sort: Sort, start: int, end: int) -> Iterator[Proposal]:
    for rank, (text, detail) in enumerate(words):
        yield Proposal(text, sort, start, end, detail, rank)


def _qualifiers(document: Document, offset: int, match: re.Match[str]) -> Iterator[Proposal]:
    *written, partial = match[2].split(".")[1:]
    start = offset - len(partial) - 1
    for rank, each in enumerate(qualifiers(match[1], tuple(filter(None, written)), document)):
        sort = Sort.TYPE if is_type(each.word) else Sort.QUALIFIER
        yield Proposal(f".{each.word}", sort, start, offset, each.detail, rank)


def _types(start: int, end: int) -> Iterator[Proposal]:
    words = [(f".{name}", "") for name in DECLARED]
    words += [(".align", directives()["align"].about), (".v2", "a vector of two"), (".v4", "a vector of four")]
    yield from _listed(words, Sort.TYPE, start, end)


def _of_directive(document: Document, offset: int, before: str) -> Iterator[Proposal]:
    """Completions in a statement that starts with a directive: other directives, a type, or a name."""
    match = _DIRECTIVE.search(before)
    start = offset if match is None else offset - len(match[1]) - 1
    if match is not None and _in_header(document, start):
        yield from _directives(document, start, offset, "header")
    elif match is not None and _LINKED.fullmatch(before):
        yield from (one for one in _directives(document, start, offset) if one.text in _MAY_BE_LINKED)
    elif match is not None and _DECLARING.search(before):
        yield from _types(start, offset)
    elif match is not None and match.start() == 0:
        yield from _directives(document, start, offset)
    elif (match := _WORD.search(before)) is not None and _NAMING.match(before):
        yield from _declared(document, before, offset - len(match[0]), offset)


def _in_header(document: Document, start: int) -> bool:
    """Whether a place is between the parameters and the body of a function."""
    text = document.text[:start]
    begun = max(text.rfind(";"), text.rfind("}"))
    head = _HEAD.search(text, begun + 1)
    return head is not None and head[0].count("(") == head[0].count(")")


def _directives(document: Document, start: int, end: int, place: str = "") -> Iterator[Proposal]:
    inside = document.names.module.at(max(start - 1, 0)) is not document.names.module
    wanted = place or ("body" if inside else "module")
    for name, words in directives().items():
        yield Proposal(f".{name}", Sort.DIRECTIVE, start, end, words.about, 0 if words.place == wanted else 1)


def _opcodes(document: Document, start: int, end: int) -> Iterator[Proposal]:
    for opcode in opcodes():
        yield Proposal(opcode, Sort.OPCODE, start, end, instruction_spec(opcode).title)
    if document.names.module.at(max(start - 1, 0)) is document.names.module:
        yield from _directives(document, start, end)


def _components(document: Document, match: re.Match[str], offset: int) -> Iterator[Proposal]:
    start = offset - len(match[2])
    special, symbol = special_register(match[1]), document.names.module.at(start).find(match[1])
    if special is not None:
        fields = "xyz" if special.vector else ""
    else:
        vector = symbol.declaration.vector if symbol is not None and symbol.declaration is not None else 0
        fields = "xyzw"[:vector]
    yield from _listed([(field, "") for field in fields], Sort.COMPONENT, start, offset)


_SORTS: Final = {
    NameKind.REGISTER: Sort.REGISTER,
    NameKind.VARIABLE: Sort.VARIABLE,
    NameKind.PARAMETER: Sort.PARAMETER,
    NameKind.LABEL: Sort.LABEL,
    NameKind.FUNCTION: Sort.FUNCTION,
    NameKind.KERNEL: Sort.FUNCTION,
}

_FIRST: Final = {
    "bra": (NameKind.LABEL,),
    "brx": (NameKind.LABEL,),
    "call": (NameKind.FUNCTION, NameKind.PARAMETER, NameKind.VARIABLE),
}
"""The kinds of names that come first after some opcodes."""


def _names(document: Document, before: str, start: int, end: int) -> Iterator[Proposal]:
    """The visible names: first those that fit the operand, then those that fit the opcode, then the others."""
    yield from _declared(document, before, start, end)
    for name in special_names():
        yield Proposal(name, Sort.SPECIAL, start, end, special_about(name), 2)


def _declared(document: Document, before: str, start: int, end: int) -> Iterator[Proposal]:
    wanted = _FIRST.get(before.partition(".")[0].partition(" ")[0], (NameKind.REGISTER,))
    here = expected(before)
    members = _members(document, start)
    for symbol in document.names.visible(max(start - 1, 0)):
        if symbol.kind is NameKind.KERNEL:
            continue
        rank = 0 if here is not None and here.fits(symbol) else 1 if symbol.kind in wanted else 3
        detail = f".{symbol.declaration.type}" if symbol.declaration and symbol.declaration.type else str(symbol.kind)
        names = [symbol.name] if symbol.count is None else members.get(symbol.name, [f"{symbol.name}0"])
        yield from (Proposal(name, _SORTS[symbol.kind], start, end, detail, rank) for name in names)


def _members(document: Document, start: int) -> dict[str, list[str]]:
    """For each series, its members used in the function around a place, the nearest first."""
    scopes = list(document.names.module.at(max(start - 1, 0)).around())
    function = scopes[-2] if len(scopes) > 1 else scopes[-1]
    found: dict[str, dict[str, int]] = {}
    for one in document.names.between(function.start, function.end):
        if one.symbol is not None and one.symbol.count is not None and not one.declares and one.start != start:
            table = found.setdefault(one.symbol.name, {})
            table[one.name] = min(table.get(one.name, abs(one.start - start)), abs(one.start - start))
    return {stem: sorted(table, key=table.__getitem__)[:MOST_NAMES] for stem, table in found.items()}
