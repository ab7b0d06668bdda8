"""The qualifiers that are legal here, given the written ones and the module's target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.checker.module.head import platform_of
from ptxloom.dataclass import dataclass
from ptxloom.isa import instruction_spec
from ptxloom.isa.pages.meanings import meaning, value_meaning
from ptxloom.isa.pages.rule_words import needs
from ptxloom.isa.resolution.completions import following

if TYPE_CHECKING:
    from ptxloom.checker.core.context import Platform
    from ptxloom.isa.resolution.completions import Next
    from ptxloom.isa.spec import Feature
    from ptxloom.lsp.document import Document


@dataclass(frozen=True, slots=True)
class Continuation:
    """A qualifier that may be written next, and a few words about it."""

    word: str
    detail: str


def qualifiers(opcode: str, written: tuple[str, ...], document: Document) -> tuple[Continuation, ...]:
    """The qualifiers that may follow: those next in the manual's order first, those that the target lacks last."""
    settings = document.settings
    platform = platform_of(document.module, settings.target, settings.ptx_version)
    spec = instruction_spec(opcode)
    ranked: list[tuple[bool, bool, Continuation]] = []
    for each in following(opcode, written):
        lacking = _lacking(each, platform)
        says = value_meaning(each.slot, each.word) or meaning(spec, each.slot)
        detail = f"needs {needs(lacking)}; {says}" if lacking else says
        ranked.append((lacking is not None, not each.due, Continuation(each.word, detail)))
    return tuple(continuation for *_, continuation in sorted(ranked, key=lambda row: row[:2]))


def _lacking(each: Next, platform: Platform) -> Feature | None:
    """A feature that every form needs and the module's version and target lack; None if some form is available."""
    version, target = platform.version, platform.target
    if version is None or target is None:
        return None
    first: Feature | None = None
    for form in each.forms:
        missing = next((one for one in form.features if not one.available(version, target)), None)
        if missing is None:
            return None
        first = first or missing
    return first
