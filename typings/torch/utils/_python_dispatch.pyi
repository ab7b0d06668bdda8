from typing import Any

TorchDispatchMode: Any

def _disable_current_modes() -> Any: ...
