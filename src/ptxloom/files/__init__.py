"""Files to PTX: what a file is, and the text or texts in it."""

from __future__ import annotations

from ptxloom.files.errors import CompileError, UnreadableFile
from ptxloom.files.reading import one_text, only, texts, texts_of

__all__ = ["CompileError", "UnreadableFile", "one_text", "only", "texts", "texts_of"]
