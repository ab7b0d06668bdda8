"""Accesses of hot code: inline where they are usual, else calls, which find their registers in the warp."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.runtime.memory import quick_access

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from ptxloom.machine.hot.accesses import Warpwide
    from ptxloom.machine.hot.forms import Forms
    from ptxloom.machine.hot.moves import Moves


class Inline:
    """Writes accesses, and notes the functions of their inline paths.

    Args:
        forms: Where unusual accesses continue.
        asks: For the first of several loads that are checked at once, how far they reach (`hot/questions.py`).
        strong: The sites of accesses that have no inline path.
        moves: How registers move.
        edge: The label that enters the second form at a block.
    """

    def __init__(
        self,
        forms: Forms,
        asks: Mapping[str, int],
        strong: frozenset[int],
        moves: Moves,
        edge: Callable[[str], str],
    ) -> None:
        self._forms = forms
        self._asks = asks
        self._strong = strong
        self._moves = moves
        self._edge = edge
        self._quick: dict[str, str] = {}

    @property
    def functions(self) -> list[str]:
        """The lines of the functions of inline paths."""
        return [line for text in self._quick.values() for line in text.splitlines()]

    def access(self, one: Warpwide, label: str) -> Generator[str, None, str]:
        """An access; returns the label of the block in which it ends.

        Args:
            one: The access.
            label: The block in which it begins.
        """
        done, seldom = self._moves.label(), self._moves.label()
        if not quick_access.has_quick(one.name) or one.site in self._strong or one.result in self._forms.called:
            yield from self._called(one, one.result)
            return label
        other = self._forms.other.get(one.result)
        yield from self._tried(one, done, seldom if other is None else self._edge(other))
        if other is not None:
            yield f"{done}:"
            yield f"{one.result} = add i32 0, 0"
        else:
            failed = f"{one.result}.failed"
            yield f"{seldom}:"
            yield from self._called(one, failed)
            yield f"br label %{done}"
            yield f"{done}:"
            yield f"{one.result} = phi i32 [ 0, %{label} ], [ {failed}, %{seldom} ]"
        yield from self._loaded_home(one)
        return done

    def _tried(self, one: Warpwide, done: str, other: str) -> Iterator[str]:
        """The inline path of an access; jumps to `other` if it is unusual."""
        quick, self._quick[one.name] = quick_access.quick_access(one.name)
        if one.result in self._asks:
            yield from self._ask(one, self._asks[one.result], other)
        tried = f"{one.result}.quick"
        yield f"{tried} = call i32 @{quick}({', '.join(one.arguments)})"
        yield f"{tried}.good = icmp eq i32 {tried}, 0"
        yield f"br i1 {tried}.good, label %{done}, label %{other}"

    def _ask(self, one: Warpwide, offset: int, other: str) -> Iterator[str]:
        """Check several loads at once; if they are unusual, continue in the second form."""
        reach, self._quick[f"{one.name} reach"] = quick_access.reach_of(one.name)
        asked, on = f"{one.result}.reach", self._moves.label()
        given = (*one.arguments[:2], f"i64 {offset}", *one.arguments[3:6])
        yield f"{asked} = call i32 @{reach}({', '.join(given)})"
        yield f"{asked}.good = icmp eq i32 {asked}, 0"
        yield f"br i1 {asked}.good, label %{on}, label %{other}"
        yield f"{on}:"

    def _called(self, one: Warpwide, failed: str) -> Iterator[str]:
        """The call of an access, with its registers in the warp meanwhile; `failed` is its result."""
        given, into = list(one.arguments), list[tuple[str, str, str]]()
        for number, (place, argument) in enumerate(zip(one.places, (1, *range(6, len(given))), strict=True)):
            at = self._moves.held(place)
            if at is None:
                continue
            home = f"{one.result}.home{number}"
            yield f"{home} = {self._moves.at_home(at)}"
            given[argument] = f"ptr {home}"
            type_ = self._moves.type_of(at, one.sizes[number])
            if not self._moves.goes_home(at) and (not number or one.stores or not one.is_whole):
                yield from self._moves.moved(type_, place, home)
            if number and not one.stores:
                into.append((type_, home, place))
        yield f"{failed} = call i32 @{one.name}({', '.join(given)})"
        for way in into:
            yield from self._moves.moved(*way)

    def _loaded_home(self, one: Warpwide) -> Iterator[str]:
        """After an inline load, write its result home if the home must always be up to date."""
        for place, size in zip(one.places[1:], one.sizes[1:], strict=True):
            at = self._moves.held(place)
            if not one.stores and at is not None and self._moves.goes_home(at):
                yield from self._moves.moved(self._moves.type_of(at, size), place, at)
