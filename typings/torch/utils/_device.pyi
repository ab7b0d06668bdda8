from typing import Any

CURRENT_DEVICE: Any

def _device_constructors() -> Any: ...
