"""Forms of what JSON holds: a result that somebody else may have written is looked at before it is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_args, get_origin, get_type_hints

from ptxloom.records import Record

if TYPE_CHECKING:
    from collections.abc import Callable


def fits(value: object, form: Any) -> bool:
    """Whether a value has a form.

    Args:
        value: A value of JSON.
        form: A type, or some of them (`int | float`); a list of one form, which each element has; a tuple of forms, one
            an element; a dictionary of forms, one a key.

    Example:
        >>> fits({"at": [1, 2], "who": ["a"]}, {"at": (int, int), "who": [str]})
        True
        >>> fits({"at": [1, "2"], "who": []}, {"at": (int, int), "who": [str]})
        False
    """
    match form:
        case dict():
            given, fields = cast("dict[str, object]", value), cast("dict[str, Any]", form)
            return (
                isinstance(value, dict)
                and {*given} == {*fields}
                and all(fits(given[key], fields[key]) for key in fields)
            )
        case [*forms]:
            items = cast("list[object]", value)
            if not isinstance(value, list):
                return False
            wanted = forms * len(items) if isinstance(form, list) else forms
            return len(items) == len(wanted) and all(map(fits, items, wanted))
        case _:
            return isinstance(value, form)


def form_of(hint: Any) -> Any:
    """The form of what a record is printed as, from the types of its members; for `fits`.

    Args:
        hint: A record's class, or the type of a member.
    """
    inner: tuple[Any, ...] = get_args(hint)
    found: Any = hint
    if get_origin(hint) is Annotated:
        found = form_of(inner[0])
    elif get_origin(hint) is Literal:
        found = inner[0].__class__
    elif get_origin(hint) is tuple:
        found = [form_of(inner[0])] if inner[-1] is ... else tuple(map(form_of, inner))
    elif isinstance(hint, type) and issubclass(hint, Record):
        found = {name: form_of(member) for name, member in get_type_hints(hint, include_extras=True).items()}
    return found


def in_form(form: Any) -> Callable[[str, Any], Any]:
    """What reads a result of a form (`Shards.done`): it raises ValueError at any other."""

    def read(id_: str, told: Any) -> Any:
        if not fits(told, form):
            raise ValueError(id_)
        return told

    return read
