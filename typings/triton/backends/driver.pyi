from collections.abc import Callable, Iterable
from typing import Any

class DriverBase:
    def __init__(self) -> None: ...
    @classmethod
    def is_active(cls) -> bool: ...

def expand_signature(signature: Iterable[Any], tensordesc_meta: Any, descriptor_type: str) -> list[Any]: ...
def wrap_handle_tensordesc_impl(
    launcher: Callable[..., None],
    signature: dict[Any, Any],
    tensordesc_meta: Any,
    make_tensordesc_arg: Callable[[Any, Any, Any], list[Any]],
) -> Callable[..., None]: ...
