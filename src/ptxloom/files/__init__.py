"""Files to PTX: the kind of a file, and the PTX texts in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.files.errors import CompileError, UnreadableFile
from ptxloom.lazy import later

if TYPE_CHECKING:
    from ptxloom.files.reading import one_text, only, texts, texts_of

__all__ = ["CompileError", "UnreadableFile", "one_text", "only", "texts", "texts_of"]

__getattr__ = later(__name__, {"ptxloom.files.reading": "one_text only texts texts_of"})
