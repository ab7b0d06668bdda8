"""The PTX in compiled kernels of other packages: Triton's, Numba's, cuda.core's, the CuTe DSL's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from ptxloom.diagnostics import UsageError
from ptxloom.files.errors import UnreadableFile
from ptxloom.files.written import InThisProcess
from ptxloom.source import Source, title

_HELD: Final = (
    "`.asm['ptx']` (Triton), `.inspect_asm()` (Numba), `.__ptx__` (the CuTe DSL), or a `.code` that is PTX (cuda.core)"
)


def ptx_of(kernel: object) -> Source:
    """The PTX of a compiled kernel.

    Args:
        kernel: A kernel compiled by Triton, Numba, cuda.core or the CuTe DSL.

    Raises:
        UsageError: It contains no PTX.
        UnreadableFile: It contains several texts.
    """
    held = _held(kernel)
    found = [text.decode("utf-8", "replace") if isinstance(text, bytes) else text for text in held]
    texts = [text for text in found if isinstance(text, str) and text.strip()]
    name = f"<{type(kernel).__module__.partition('.')[0]} {_name_of(kernel)}>"
    if len(texts) > 1:
        raise UnreadableFile(f"{title(name)} was compiled for {len(texts)} signatures; give one of them")
    if not texts:
        raise UsageError("path", kernel, f"a path, or hold PTX: {_HELD}")
    return Source(texts[0].rstrip("\0"), name, InThisProcess())


def _name_of(kernel: object) -> str:
    return str(getattr(kernel, "__name__", None) or getattr(kernel, "name", None) or type(kernel).__qualname__)


def _held(kernel: Any) -> list[object]:
    """The objects that may be PTX, where each package stores it."""
    asm: object = getattr(kernel, "asm", None)
    if asm is not None and hasattr(asm, "__getitem__") and "ptx" in cast("Mapping[str, object]", asm):
        return [cast("Mapping[str, object]", asm)["ptx"]]
    inspect = getattr(kernel, "inspect_asm", None)
    if callable(inspect):
        said = inspect()
        return list(cast("Mapping[object, object]", said).values()) if isinstance(said, Mapping) else [said]
    if getattr(kernel, "code_type", "") == "ptx":
        return [getattr(kernel, "code", None)]
    return [getattr(kernel, "__ptx__", None)]
