from contextvars import ContextVar
from typing import Any

_allocator: ContextVar[Any]
_profile_allocator: ContextVar[Any]
