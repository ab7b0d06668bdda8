"""Rules about the texturing mode (PTX ISA 9.7.10.1): whether a sampler stands beside the texture or belongs to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.checker.core.classify import see
from ptxloom.checker.core.operand_kind import What
from ptxloom.diagnostics import Fix
from ptxloom.source import Span
from ptxloom.syntax.tree import Address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Site
    from ptxloom.diagnostics import Diagnostic

_LOOKUPS: Final = frozenset(("tex", "tld4"))
_BOTH: Final = 2  # what follows the texture in brackets: the sampler and the place
_MODE: Final = "`texmode_independent` in `.target`"


def texturing_mode(site: Site) -> Iterator[Diagnostic]:
    """The brackets hold a sampler if the target states `texmode_independent`, and only then."""
    if site.bound.form is None or not (site.opcode in _LOOKUPS or site.opcode == "txq"):
        return
    place = next((one for one in site.instruction.operands if isinstance(one, Address)), None)
    if place is None:
        return
    if site.opcode == "txq":
        yield from _queried(site, place)
    elif site.platform.independent and len(place.extra) < _BOTH:
        message = f"`{site.opcode}` needs a sampler after the texture: the target states `texmode_independent`"
        yield site.error("texturing-mode", message, site.span(place), label="`[texture, sampler, place]`")
    elif not site.platform.independent and len(place.extra) == _BOTH:
        yield _superfluous(site, place)


def _superfluous(site: Site, place: Address) -> Diagnostic:
    """A sampler where the texture has its own: ptxas takes some forms, and rejects or chokes on the others."""
    sampler = site.span(place.extra[0])
    gap = Span(sampler.source, sampler.start, site.span(place.extra[1]).start)
    fix = Fix("leave the sampler out", gap, "")
    message = f"a sampler of its own, `{sampler.text}`, needs {_MODE}; else it belongs to the texture"
    if _passes(site):
        return site.warning("texturing-mode", f"{message}; ptxas lets it pass", sampler, fix=fix)
    return site.error("texturing-mode", message, sampler, fix=fix)


def _passes(site: Site) -> bool:
    """Whether ptxas lets a superfluous sampler pass."""
    given = site.bound.qualifiers
    geometry, level, grad = given.get("geom"), bool(given.get("level")), bool(given.get("grad"))
    names = site.bound.operands
    match geometry:
        case "1d":
            return not (level and given.get("ctype") == "s32")
        case "2d":
            clash = (level and ("offset" in names or given.get("ctype") == "s32")) or (grad and "depth" in names)
            return not clash
        case "3d":
            return not (level or grad)
        case "cube":
            return level
        case _:
            return False


def _queried(site: Site, place: Address) -> Iterator[Diagnostic]:
    """Check `txq` about samplers: by the sampler if it is separate, else through its texture."""
    asked = site.bound.qualifiers.get("squery")
    it = see(place.base, site.scope)
    if asked and site.platform.independent and it.what is What.VARIABLE and it.type == "texref":
        message = f"`txq.{asked}` asks about a sampler, which no texture has: the target states `texmode_independent`"
        yield site.error("texturing-mode", message, site.span(place.base), label="name the sampler")
