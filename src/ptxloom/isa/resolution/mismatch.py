"""Why no form of an instruction fits the written qualifiers: unknown, repeated, clashing or missing qualifiers.

Compares them with the enumerated forms, so it works for every instruction in the data.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache, lru_cache
from itertools import combinations, islice
from typing import TYPE_CHECKING

from ptxloom.isa.load import instruction_spec
from ptxloom.isa.resolution.forms import MOST_QUALIFIERS, forms, nearby, readings_of, resolve
from ptxloom.isa.resolution.problem import (
    Broken,
    Clash,
    Crowded,
    Disordered,
    Misread,
    Missing,
    NoForm,
    Repeated,
    TooMany,
    Unknown,
)
from ptxloom.isa.shapes import is_shape
from ptxloom.isa.spaces import SPACES
from ptxloom.isa.spelling import CALLED, near_misses
from ptxloom.isa.types import is_type
from ptxloom.lazy import cached_property

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.isa.form import Form
    from ptxloom.isa.resolution.problem import Problem, Words

_PARTS = re.compile("_|::")
_NUMBERED = re.compile(r"[vxL]?\d+|\d+d|\w+::\d+")
_DIGITS = re.compile(r"\d+")
_MOST_NEAR = 3
_LEAST = 3  # letters of a qualifier that can be recognised in a longer word
SCOPES = ("cta", "cluster", "gpu", "gl", "sys")


def problems(opcode: str, qualifiers: Words) -> tuple[Problem, ...]:
    """Why no form of `opcode` has these qualifiers; empty if one has.

    Raises:
        UnsupportedForm: The data does not describe the opcode.
    """
    return _problems(opcode, qualifiers) if len(qualifiers) <= MOST_QUALIFIERS else (TooMany(MOST_QUALIFIERS),)


@lru_cache(maxsize=4096)
def _problems(opcode: str, qualifiers: Words) -> tuple[Problem, ...]:
    resolution = resolve(opcode, qualifiers)
    if resolution.form is not None:
        return ()
    passed = {*resolution.ignored, *resolution.repeated}
    kept = {place: word for place, word in enumerate(qualifiers) if place not in passed}
    pool = _pool(opcode, frozenset(kept.values()))
    for find in (_unknown, _repeated, _clashes, _missing, _out_of_place, _disordered, _broken):
        if found := find(pool, kept):
            return found
    return (NoForm(),)


_MOST_FORMS = 2000


class _Pool:
    """The forms with which the written qualifiers are compared."""

    def __init__(self, opcode: str, forms_: tuple[Form, ...]) -> None:
        self.opcode = opcode
        self.spec = instruction_spec(opcode)
        self.forms = forms_

    @cached_property
    def slots(self) -> dict[str, frozenset[str]]:
        """Every qualifier of the instruction, in the order of the data, and its slots."""
        found: dict[str, set[str]] = {}
        for line in self.spec.lines:
            for slot in line.slots:
                for word in slot.values:
                    found.setdefault(word, set()).add(slot.name)
        return {word: frozenset(slots) for word, slots in found.items()}

    @cached_property
    def word_sets(self) -> tuple[frozenset[str], ...]:
        """The qualifiers of each form."""
        return tuple(frozenset(form.words) for form in self.forms)


def _pool(opcode: str, words: frozenset[str]) -> _Pool:
    """All forms of an opcode; if there are very many, those near the words."""
    if sum(line.spellings for line in instruction_spec(opcode).lines) <= _MOST_FORMS:
        return _whole(opcode)
    return _Pool(opcode, tuple(islice(nearby(opcode, words), _MOST_FORMS)))


@cache
def _whole(opcode: str) -> _Pool:
    return _Pool(opcode, forms(opcode))


@cache
def _vocabulary(opcode: str) -> Words:
    """Every qualifier that some syntax line has."""
    lines = instruction_spec(opcode).lines
    return tuple(dict.fromkeys(value for line in lines for slot in line.slots for value in slot.values))


def _unknown(pool: _Pool, kept: dict[int, str]) -> tuple[Problem, ...]:
    known = _vocabulary(pool.opcode)
    misreads = pool.spec.tolerance.misreads
    found: list[Problem] = []
    for place, word in kept.items():
        if word in misreads:
            found.append(Misread(place, misreads[word], _like(misreads[word], pool.opcode)))
        elif word not in known:
            expected = _like(word, pool.opcode)
            words, at = tuple(kept.values()), tuple(kept).index(place)
            fitting = tuple(other for other in expected if _fits(pool, words, at, other))
            near = _called(word, known) or _longer(pool, words, at) or _near(word, fitting or expected or known)
            found.append(Unknown(place, near, fitting or expected))
    return tuple(found)


def _longer(pool: _Pool, words: Words, at: int) -> Words:
    """The qualifiers that fit here and contain the unknown one: `.try_wait` for `.wait`."""
    longer = [other for other in _vocabulary(pool.opcode) if words[at] in _PARTS.split(other)]
    return tuple(other for other in longer if _fits(pool, words, at, other)) or tuple(longer[:_MOST_NEAR])


def _called(word: str, known: Words) -> Words:
    """The instruction's own words for a synonym, or for a longer word: `.trans` for `.transposed`."""
    name = CALLED.get(word.lower(), "")
    shorter = (other for other in known if len(other) >= _LEAST and word.isalpha() and word.lower().startswith(other))
    return (name,) if name in known else tuple(sorted(shorter, key=len))[-1:]


def _near(word: str, known: Words) -> Words:
    """The qualifier that was probably meant; empty if only a number differs, which was probably meant as written."""
    if is_shape(word) or _NUMBERED.fullmatch(word):
        return ()
    return near_misses(word, known)[:1]


def _like(word: str, opcode: str) -> Words:
    """The instruction's qualifiers of the same sort as a word."""
    known = _vocabulary(opcode)
    for sort in (is_shape, is_type, _is_space, _is_count, SCOPES.__contains__):
        if sort(word):
            return tuple(other for other in known if sort(other))
    if _NUMBERED.fullmatch(word):
        return tuple(other for other in known if _DIGITS.sub("", other) == _DIGITS.sub("", word) != other)
    return ()


def _is_space(word: str) -> bool:
    return word.partition("::")[0] in SPACES


def _is_count(word: str) -> bool:
    return word[:1] == "x" and word[1:].isdigit()


def _repeated(pool: _Pool, kept: dict[int, str]) -> tuple[Problem, ...]:
    """Words that occur more often than in any form, and two words that only ever fill the same slot."""
    found: list[Problem] = []
    for (first, word), (place, other) in combinations(kept.items(), 2):
        if word == other:
            if not any(form.words.count(word) > 1 for form in pool.forms):
                found.append(Repeated(place, first))
        elif len(slots := pool.slots.get(word, ())) == 1 and slots == pool.slots.get(other):
            found.append(Crowded(place, first, next(iter(slots))))
    return tuple(found)


def _clashes(pool: _Pool, kept: dict[int, str]) -> tuple[Problem, ...]:
    """Pairs that no form has together; the word with the most clashes comes first, then the later one."""
    together = pool.word_sets
    pairs = [
        (first, second)
        for first, second in combinations(kept, 2)
        if not any(kept[first] in words and kept[second] in words for words in together)
    ]
    found: list[Problem] = []
    left = dict(kept)
    while pairs:
        tally = [place for pair in pairs for place in pair]
        place = max(tally, key=lambda each: (tally.count(each), _idle(pool, left, each), _rank(pool, kept[each])))
        other = next(sum(pair) - place for pair in pairs if place in pair)
        pairs = [pair for pair in pairs if place not in pair]
        rest = {each: word for each, word in left.items() if each != other}
        left = {each: word for each, word in left.items() if each != place}
        why, _ = _reason(pool, pair := {kept[place], kept[other]}, pair)
        found.append(Clash(place, other, _additions(pool, left.values()), _additions(pool, rest.values()), why))
    return tuple(found)


def _idle(pool: _Pool, words: dict[int, str], place: int) -> bool:
    """Whether the words without the one at a place, which is not a type, are a form."""
    rest = (word for each, word in words.items() if each != place)
    return not is_type(words[place]) and () in _additions(pool, rest)


def _rank(pool: _Pool, word: str) -> int:
    """The position of a word in the manual's order."""
    return max(line.slots_of[word][0] for line in pool.spec.lines if word in line.slots_of)


def _reason(pool: _Pool, words: set[str], about: set[str]) -> tuple[str, set[str]]:
    """The reason of a constraint on words of `about` that applies to `words`, and the words that trigger it."""
    slots = {slot for word in about for slot in pool.slots.get(word, ())}
    for constraint in pool.spec.constraints:
        values = [set(allowed) for _, allowed in constraint.when.allowed]
        required = {name for name, _ in constraint.require.allowed}
        if required & slots and all(value & words for value in values):
            return constraint.why, {word for value in values for word in value & words}
    return "", set()


def _missing(pool: _Pool, kept: dict[int, str]) -> tuple[Problem, ...]:
    ordered = _additions(pool, kept.values(), in_order=True)
    additions = ordered if any(ordered) else _additions(pool, kept.values())
    if not any(additions):
        return ()
    form = next(form for form in pool.forms if {*additions[0], *kept.values()} <= set(form.words))
    after = _insertion(form, additions[0][0], kept)
    why, asking = _reason(pool, set(kept.values()), set(additions[0]) if len(additions) == 1 else set())
    because = next((place for place, word in kept.items() if word in asking), -1)
    return (Missing(additions, after, because, why),)


def _insertion(form: Form, word: str, kept: dict[int, str]) -> int:
    """The place of the written word after which `word` comes in the manual's order."""
    earlier = set(form.words[: form.words.index(word)])
    return max((place for place, other in kept.items() if other in earlier), default=-1)


def _additions(pool: _Pool, words: Iterable[str], *, in_order: bool = False) -> tuple[Words, ...]:
    """The smallest sets of qualifiers that complete `words` to legal forms, each in the manual's order.

    Args:
        pool: The candidate forms.
        words: The written qualifiers.
        in_order: Whether the types among the words must come in the same order in a form.
    """
    row = tuple(words)
    written, types = Counter(row), [word for word in row if is_type(word)]
    rows = [
        _without(form.words, written)
        for form, whole in zip(pool.forms, pool.word_sets, strict=True)
        if written.keys() <= whole and written <= Counter(form.words)
        if not in_order or [word for word in form.words if is_type(word)] == types
    ]
    sets = [set(row) for row in rows]
    smallest = [row for row, own in zip(rows, sets, strict=True) if not any(other < own for other in sets)]
    return tuple(dict.fromkeys(smallest))


def _without(words: Words, taken: Counter[str]) -> Words:
    """The words minus those taken, with multiplicity; earlier occurrences are removed first."""
    left = Counter(taken)
    rest: list[str] = []
    for word in words:
        if left[word]:
            left[word] -= 1
        else:
            rest.append(word)
    return tuple(rest)


def _out_of_place(pool: _Pool, kept: dict[int, str]) -> tuple[Problem, ...]:
    """A qualifier that the types do not allow, or not in this way: `.rn` on an exact conversion."""
    places, words = tuple(kept), tuple(kept.values())
    for at, word in enumerate(words):
        if is_type(word) or is_shape(word) or _is_space(word):
            continue
        if resolve(pool.opcode, (*words[:at], *words[at + 1 :])).form is not None:
            return (Broken(places[at], ("",), ""),)
        rows = _additions(pool, (*words[:at], *words[at + 1 :]), in_order=True)
        if instead := tuple(row[0] for row in rows if len(row) == 1 and _fits(pool, words, at, row[0])):
            return (Broken(places[at], instead, ""),)
    return ()


def _disordered(pool: _Pool, kept: dict[int, str]) -> tuple[Problem, ...]:
    """Two types, or two state spaces, in the wrong order: all words of a form are there."""
    if not any(sorted(form.words) == sorted(kept.values()) for form in pool.forms):
        return ()
    for sort in (is_type, _is_space):
        for first, place in combinations([place for place, word in kept.items() if sort(word)], 2):
            if _rank(pool, kept[place]) < _rank(pool, kept[first]):
                return (Disordered(place, first),)
    return ()


def _broken(pool: _Pool, kept: dict[int, str]) -> tuple[Problem, ...]:
    """The last qualifier whose replacement makes a legal form, with a constraint's reason if any."""
    places, words = tuple(kept), tuple(kept.values())
    why = next(
        (
            constraint.why
            for _, filling, _ in readings_of(pool.spec, words)
            for constraint in pool.spec.constraints
            if not constraint.lax and not constraint.admits(filling)
        ),
        "",
    )
    for at in reversed(range(len(words))):
        if instead := tuple(other for other in _alternatives(pool, words[at]) if _fits(pool, words, at, other)):
            return (Broken(places[at], instead, why),)
    return ()


def _alternatives(pool: _Pool, word: str) -> Words:
    """The other qualifiers of the slots that a word may fill."""
    rows = (slot.values for line in pool.spec.lines for slot in line.slots if word in slot.values)
    return tuple(dict.fromkeys(other for row in rows for other in row if other != word))


def _fits(pool: _Pool, words: Words, at: int, other: str) -> bool:
    """Whether the words are a form of the manual with another one at a place."""
    form = resolve(pool.opcode, (*words[:at], other, *words[at + 1 :])).form
    return form is not None and not form.laxities
