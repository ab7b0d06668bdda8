"""Rules about availability: the module's PTX version and target have the features that a form uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.checker.core.classify import see
from ptxloom.checker.core.lacking import needs_target, needs_version
from ptxloom.checker.core.operand_kind import What
from ptxloom.isa.target import Target
from ptxloom.isa.types import element_type, is_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Site
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.isa.spec import Feature
    from ptxloom.isa.version import PtxVersion
    from ptxloom.source import Span


def version_suffices(site: Site) -> Iterator[Diagnostic]:
    """The module's PTX version has every feature of the form; only the most demanding one is named."""
    version = site.platform.version
    if version is None or site.bound.form is None:
        return
    needed = [(_version_of(feature, site.platform.target), feature) for feature in site.bound.features]
    least, feature = max(needed, key=lambda pair: pair[0])
    if least > version:
        yield needs_version(_name(site, feature), least, site.platform, _place(site, feature), site.spec.section)


def registers_suffice(site: Site) -> Iterator[Diagnostic]:
    """The module's PTX version lets registers of their types stand where the operands are."""
    version, form = site.platform.version, site.bound.form
    if version is None or form is None:
        return
    for slot, operand in zip(form.operands(len(site.instruction.operands)), site.instruction.operands, strict=False):
        rule = site.spec.operands[slot.name]
        if rule.since is None or rule.since <= version:
            continue
        found = see(operand, site.scope)
        if found.what is What.REGISTER and is_type(found.type) and _bits(found.type) == _bits(rule.type):
            place, used = site.span(operand), f" with `{rule.name}` in a register of {_bits(rule.type)} bits"
            yield needs_version(site.name, rule.since, site.platform, place, site.spec.section, used=used)


def target_suffices(site: Site) -> Iterator[Diagnostic]:
    """The module's target has every feature of the form; only the last one that is lacking is named."""
    target = site.platform.target
    if target is None or site.bound.form is None:
        return
    lacking = [feature for feature in site.bound.features if not _has(feature, target)]
    if lacking:
        feature = lacking[-1]
        ranges = ", or ".join(dict.fromkeys(str(need.targets) for need in feature.needs if need.targets))
        place, better = _place(site, feature), _suffixed(feature, target)
        yield needs_target(_name(site, feature), ranges, site.platform, place, site.spec.section, better=better)


def still_there(site: Site) -> Iterator[Diagnostic]:
    """The module's version and target have not lost a feature of the form."""
    version, target = site.platform.version, site.platform.target
    if version is None or target is None or site.bound.form is None:
        return
    for feature in site.bound.features:
        if feature.gone is not None and feature.gone.met(version, target):
            message = f"`{_name(site, feature)}` is gone in {str(feature.gone).replace(' or later', '', 1)}"
            yield site.error("needs-version", message, _place(site, feature), label=feature.name)


def _bits(type_: str) -> int:
    return element_type(type_).bits


def _version_of(feature: Feature, target: Target | None) -> PtxVersion:
    """The least version that has a feature for a target; for any target if this one never has it."""
    here = [need.version for need in feature.needs if target is None or need.targets is None or target in need.targets]
    return min(here or [need.version for need in feature.needs])


def _has(feature: Feature, target: Target) -> bool:
    return any(need.targets is None or target in need.targets for need in feature.needs)


def _suffixed(feature: Feature, target: Target) -> Target | None:
    """The same architecture with a suffix, if that has the feature."""
    other = Target(target.number, "a")
    return other if other != target and other.since is not None and _has(feature, other) else None


def _name(site: Site, feature: Feature) -> str:
    """What needs the feature: the opcode with the qualifiers that ask for it."""
    asking = {name for name, _ in feature.when.allowed}
    written = site.bound.qualifiers
    return ".".join((site.opcode, *(written[name] for name in written if name in asking)))


def _place(site: Site, feature: Feature) -> Span:
    """The first qualifier that asks for the feature; the opcode, where the instruction itself does."""
    wanted = {value for _, values in feature.when.allowed for value in values if value}
    places = [place for place, word in enumerate(site.instruction.qualifiers) if word in wanted]
    return site.bound.qualifier_span(places[0] if places else -1)
