"""What a value works out when it is first asked for, without a lock.

`functools.cached_property` holds one lock for all instances of a class before Python 3.12. A process that is forked
while another thread works such a property out has a child that waits for ever; and threads wait for each other's value.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property  # noqa: TID251 - the one place
else:

    class cached_property(functools.cached_property):  # noqa: N801, TID251 - it stands for that one
        """As Python 3.12 has it: two threads may both work the value out, and both get the one that was kept first."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            """The value of an instance."""
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))


__all__ = ["cached_property"]
