from typing import Any

nvidia: Any
