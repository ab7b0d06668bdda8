"""What a value works out when it is first asked for, without a lock; and names that are imported when they are.

`functools.cached_property` holds one lock for all instances of a class before Python 3.12. A process that is forked
while another thread works such a property out has a child that waits for ever; and threads wait for each other's value.
"""

from __future__ import annotations

import functools
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - it stands for that one
        """As Python 3.12 has it: two threads may both work the value out, and both get the one that was kept first."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """The value of an instance."""
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


def later(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package whose names are imported when they are first asked for (PEP 562).

    Type checkers and the contracts of the layers see the same imports in its `if TYPE_CHECKING`.

    Args:
        package: Its name.
        modules: By module, the names that are taken from there, with a space between two.

    Returns:
        A function of a name.
    """
    places = {name: module for module, names in modules.items() for name in names.split()}

    def __getattr__(name: str) -> object:  # noqa: N807 - what it is called there
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(places[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return __getattr__


__all__ = ["cached_property", "later"]
