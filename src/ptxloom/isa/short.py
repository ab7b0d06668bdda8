"""Short names of instructions, completed to the one form that they can mean.

People write `ldmatrix.x4` and `mma.m16n8k16.bf16`: they leave out qualifiers that the manual requires, and use CUDA's
or NumPy's names of types. Optional qualifiers are not added. If one of several forms is older than the
others, it is meant: `ldmatrix.x4` moves 8x8 matrices. Otherwise the error names the candidates.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UnsupportedForm
from ptxloom.isa.matrix import MOVES
from ptxloom.isa.products import LEADS, PRODUCTS, opcode_of
from ptxloom.isa.resolution.forms import MOST_QUALIFIERS, forms, resolve
from ptxloom.isa.shapes import is_shape
from ptxloom.isa.spelling import CALLED
from ptxloom.isa.types import is_type
from ptxloom.isa.version import PtxVersion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.isa.form import Form
    from ptxloom.isa.spec import Need

_MOST_SHOWN: Final = 12
_ALWAYS: Final = ("sync", "aligned")
_LAYOUTS: Final = ("row", "col")
_SPARSE: Final = "sp"
_PAIR: Final = "cta_group::2"
_FIRST: Final = PtxVersion(1, 0)


HOLDERS: Final = (*MOVES, *PRODUCTS, "tcgen05")
"""The opcodes that have forms with matrix operands."""

PARTS: Final = {"wmma": ("load", "store"), "tcgen05": ("ld", "st", "cp", "shift")}
"""The opcodes that load or store a fragment."""


class Ambiguous(UnsupportedForm):
    """A short name can mean several forms, between which no rule decides."""


def whole(text: str) -> str:
    """The spelling that a short name of a matrix instruction stands for; any other text unchanged.

    Raises:
        Ambiguous: It can mean several.

    Example:
        >>> whole("ldmatrix.x4"), whole("m16n8k16.bf16"), whole("add.s32")
        ('ldmatrix.sync.aligned.m8n8.x4.b16', 'mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32', 'add.s32')
    """
    opcode, *words = text.split(".")
    if opcode not in HOLDERS:
        if not any(is_shape(word) and "k" in word for word in (opcode, *words)):
            return text
        opcode, words = opcode_of((opcode, *words)), [opcode, *words]
    is_part = not set(PARTS.get(opcode, ())).isdisjoint(words)
    if opcode not in LEADS and opcode not in MOVES and not is_part:
        return text
    leads = () if is_part else LEADS.get(opcode, ())
    silent = (word for word in (*leads, *_ALWAYS) if word not in words)
    if resolve(opcode, (*silent, *words)).form is not None:
        return text
    found = completed(opcode, tuple(words), leads)
    return found.spelling if found else text


def completed(opcode: str, words: tuple[str, ...], leads: tuple[str, ...] = ()) -> Form | None:
    """The form that a short name means.

    Args:
        opcode: Such as `mma`.
        words: The qualifiers that are written, in any order; types keep theirs.
        leads: Parts of the opcode that the form must contain, such as `mma_async`.

    Returns:
        The form; None if no form has all these qualifiers, or `words` is empty.

    Raises:
        Ambiguous: Several forms have them, and no rule prefers one; the error names them.

    Example:
        >>> completed("ldmatrix", ("x4",)).spelling, completed("mma", ("m16n8k16", "bf16")).spelling
        ('ldmatrix.sync.aligned.m8n8.x4.b16', 'mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32')
    """
    if len(words) > MOST_QUALIFIERS:
        return None
    return _completed(opcode, words, leads)


@lru_cache(maxsize=512)
def _completed(opcode: str, words: tuple[str, ...], leads: tuple[str, ...]) -> Form | None:
    known = {value for form in forms(opcode) for value in form.words}
    said = tuple(word if word in known else CALLED.get(word.lower(), word) for word in words)
    said = tuple(word for word in said if word not in (*_ALWAYS, *leads))
    meant = list({form.spelling: form for form in forms(opcode) if _means(form, said, leads)}.values())
    meant = [form for form in meant if not _says_more(form, meant, said)]
    found = [form for form in meant if _has_like_factors(form, said)] or meant
    if len(found) <= 1:
        return found[0] if found else None
    if not said:  # a message about its requirements is clearer than a list of hundreds
        return None
    found.sort(key=_age)
    if _age(found[0]) < _age(found[1]):
        return found[0]
    written = ".".join((opcode, *words))
    names = [f"`{name}`" for name in _told_apart(found, said)]
    beyond = [f"{len(names) - _MOST_SHOWN} more"] if len(names) > _MOST_SHOWN else []
    *most, last = *names[:_MOST_SHOWN], *beyond
    raise Ambiguous(f"`{written}` can mean {len(found)} instructions; choose one: {', '.join(most)} or {last}")


def _means(form: Form, said: tuple[str, ...], leads: tuple[str, ...]) -> bool:
    """Whether a form has every word that is written, and no other optional one; `.sp` must be written."""
    if not set(leads).issubset(form.filling) or not _in_order(said, form.words):
        return False
    if any(word.partition("::")[0] == _SPARSE and word not in said for word in form.words):
        return False
    added = [slot.name for slot in form.line.slots if slot.optional and form.filling[slot.name] not in ("", *said)]
    return not any(_is_legal(form, {**form.filling, name: ""}) for name in added)


def _says_more(form: Form, meant: Sequence[Form], said: Sequence[str]) -> bool:
    """Whether a form is for a pair of CTAs, or unpacks what it copies, although no written word says so."""
    if _PAIR in form.words and not any(word.startswith("cta_group") for word in said):
        return True
    return form.opcode == "tcgen05" and any(set(other.words) < set(form.words) for other in meant)


def _is_legal(form: Form, filling: dict[str, str]) -> bool:
    return all(constraint.admits(filling) for constraint in form.spec.constraints)


def _has_like_factors(form: Form, said: Sequence[str]) -> bool:
    """Whether the factors of a product have one type, or both of their types are written."""
    factors = {form.filling.get("atype", ""), form.filling.get("btype", "")}
    return len(factors) == 1 or factors.issubset(said)


def _in_order(said: Sequence[str], words: Sequence[str]) -> bool:
    """Whether all words are among others, types and layouts in the same order."""
    left = list(words)
    for word in said:
        if word not in left:
            return False
        left.remove(word)
    for is_of_sort in (is_type, _LAYOUTS.__contains__):
        rest = iter(filter(is_of_sort, words))
        if not all(word in rest for word in filter(is_of_sort, said)):
            return False
    return True


def _age(form: Form) -> tuple[PtxVersion, int]:
    """The version and target number that introduced a form."""
    needs = [min((need.version, _number(need)) for need in feature.needs) for feature in form.features]
    return max((version for version, _ in needs), default=_FIRST), max((number for _, number in needs), default=0)


def _number(need: Need) -> int:
    return need.targets.base.number if need.targets else 0


def _told_apart(found: Sequence[Form], said: Sequence[str]) -> list[str]:
    """The spellings of forms without the words that all of them have; shapes, types and written words stay."""
    common = set(found[0].words).intersection(*(form.words for form in found[1:]))
    silent = {word for word in common if word not in said and not is_shape(word) and not is_type(word)}
    return [".".join((form.opcode, *(word for word in form.words if word not in silent))) for form in found]
