"""Rules about a module's head: `.version` and `.target` are there, are known, and go together (PTX ISA 11.1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ptxloom.checker.core.context import Platform
from ptxloom.checker.core.lacking import needs_version
from ptxloom.checker.findings.report import error
from ptxloom.diagnostics import Diagnostic, Fix, Severity, UsageError
from ptxloom.isa.pages.words import directives
from ptxloom.isa.spelling import near_misses
from ptxloom.isa.target import OPTIONS, Target, targets
from ptxloom.isa.version import NEWEST, PtxVersion, versions
from ptxloom.source import Span
from ptxloom.syntax.tree import AddressSize, Loc, LocIntermediate, Malformed, Version
from ptxloom.syntax.tree import Target as TargetDirective
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.syntax.module import Module
    from ptxloom.syntax.tree import Statement


_HEAD: Mapping[type, tuple[str, str]] = {
    Version: ("version", "11.1.1"),
    TargetDirective: ("target", "11.1.2"),
    AddressSize: ("address_size", "11.1.3"),
}
_UNREAD = re.compile(r"\.(version|target|address_size)\b")
_ADDRESS_SIZES = (32, 64)
_LOCS: Mapping[type, str] = {Loc: "loc", LocIntermediate: "loc_intermediate"}


def platform_of(module: Module, target: Target | str | None, ptx_version: PtxVersion | str | None) -> Platform:
    """The target and version that a module is checked for: the caller's, else those of its own directives.

    Raises:
        UsageError: The caller's target or version is misspelled.
    """
    version_here = next((one for one in module.statements if isinstance(one, Version)), None)
    target_here = next((one for one in module.statements if isinstance(one, TargetDirective)), None)
    version = PtxVersion(version_here.major, version_here.minor) if version_here else None
    architecture, target_span = _architecture(target_here)
    version_span = version_here.span if version_here else None
    if ptx_version is not None:
        version, version_span = PtxVersion.of(ptx_version), None
    if target is not None:
        architecture, target_span = Target.of(target), None
    return Platform(version, architecture, version_span, target_span, "texmode_independent" in module.target)


def head(module: Module, platform: Platform) -> Iterator[Diagnostic]:
    """The findings about a module's head."""
    yield from _present(module, platform)
    yield from _version_known(platform)
    yield from _targets_known(module)
    yield from _together(module, platform)
    yield from _in_order(module)
    yield from _places(module, platform)


def _architecture(directive: TargetDirective | None) -> tuple[Target | None, Span | None]:
    for name in directive.names if directive else ():
        try:
            return Target.parse(name), _name_span(directive, name) if directive else None
        except UsageError:
            continue
    return None, None


def _name_span(directive: TargetDirective, name: str) -> Span:
    start = directive.source.text.find(name, directive.start, directive.end)
    return directive.span if start < 0 else Span(directive.source, start, start + len(name))


def _present(module: Module, platform: Platform) -> Iterator[Diagnostic]:
    start = Span(module.source, 0, 0)
    kinds = {type(one) for one in module.statements}
    unread = {_unread(one) for one in module.statements}
    if platform.version is None and Version not in unread:
        fix = Fix("begin with the version", start, f".version {NEWEST}\n")
        yield error("missing-directive", "the module states no `.version`", start, "11.1.1", fix=fix)
    if platform.target is None and TargetDirective not in kinds | unread:
        yield error("missing-directive", "the module states no `.target`", start, "11.1.2")


def _unread(statement: Statement) -> type | None:
    """The directive of the head that an unreadable statement was probably meant to be."""
    match = _UNREAD.match(statement.text) if isinstance(statement, Malformed) else None
    return next((kind for kind, (word, _) in _HEAD.items() if match and match[1] == word), None)


def _version_known(platform: Platform) -> Iterator[Diagnostic]:
    version, where = platform.version, platform.version_span
    if version is None or where is None or version.released:
        return
    if version.beyond_known:
        message = f"PTX {version} is newer than the versions that ptxloom knows, the last of which is {NEWEST}"
        yield Diagnostic("unknown-version", Severity.WARNING, message, where, section="11.1.1")
        return
    around = [each for each in versions() if each > version][:1]
    hint = f"the next one is {around[0]}" if around else ""
    fix = Fix(f"write `.version {around[0]}`", where, f".version {around[0]}") if around else None
    yield error("unknown-version", f"there is no PTX {version}", where, "11.1.1", label=hint, fix=fix)


def _targets_known(module: Module) -> Iterator[Diagnostic]:
    for directive in module.statements:
        if not isinstance(directive, TargetDirective):
            continue
        for name in directive.names:
            if name not in OPTIONS:
                yield from _target_known(name, _name_span(directive, name))


def _target_known(name: str, where: Span) -> Iterator[Diagnostic]:
    known = {str(target) for target in targets()}
    if name in known:
        return
    try:
        newer = Target.parse(name).beyond_known
    except UsageError:
        newer = False
    if newer:
        message = f"`{name}` is newer than the targets that ptxloom knows"
        yield Diagnostic("unknown-target", Severity.WARNING, message, where, section="11.1.2")
        return
    near = near_misses(name, (*(str(target) for target in targets()), *OPTIONS))
    fix = Fix(f"write `{near[0]}`", where, near[0]) if near else None
    label = f"did you mean `{near[0]}`?" if near else ""
    yield error("unknown-target", f"`{name}` is not a target", where, "11.1.2", label=label, fix=fix)


def _together(module: Module, platform: Platform) -> Iterator[Diagnostic]:
    version, target = platform.version, platform.target
    since = target.since if target else None
    if version is None or target is None or since is None or since <= version or not version.released:
        return
    where = platform.target_span or platform.version_span or Span(module.source, 0, 0)
    says = platform.version_span
    yield error(
        "target-version",
        f"`{target}` needs PTX {since} or later; {'the module says' if says else 'it is checked for'} {version}",
        where,
        "11.1.2",
        fix=Fix(f"write `.version {since}`", says, f".version {since}") if says else None,
        first=says if says != where else None,
        said="the version is stated here",
    )


def _in_order(module: Module) -> Iterator[Diagnostic]:
    """`.version`, `.target` and `.address_size` come first, in this order, once each."""
    seen: dict[type, Statement] = {}
    place = -1
    for at, statement in enumerate(module.statements):
        kind = _unread(statement) or type(statement)
        if kind not in _HEAD:
            continue
        word, section = _HEAD[kind]
        place += 1
        first = seen.setdefault(kind, statement)
        if first is not statement and type(module.statements[at - 1]) is TargetDirective is kind:
            continue  # more than one in a row may be
        if first is not statement:
            message, said = f"`.{word}` is stated already", "first stated here"
            yield error("misplaced-directive", message, statement.span, section, first=first.span, said=said)
        elif at > place or [one for one in _HEAD if one in seen] != list(seen):
            message = f"`.{word}` is out of place: a module begins with `.version`, `.target` and `.address_size`"
            yield error("misplaced-directive", message, statement.span, section)
        yield from _in_itself(statement)


def _places(module: Module, platform: Platform) -> Iterator[Diagnostic]:
    """`.loc` and `.loc_intermediate` stand in functions, the latter since a version of PTX."""
    for statement in module.statements:
        if isinstance(statement, Loc | LocIntermediate):
            word = _LOCS[type(statement)]
            yield error("misplaced-directive", f"`.{word}` stands in a function", statement.span, "11.5")
    words = directives()["loc_intermediate"]
    since = words.needs.version
    if platform.version is None or platform.version >= since or ".loc_intermediate" not in module.source.text:
        return
    for node in walk(module):
        if isinstance(node, LocIntermediate):
            yield needs_version(".loc_intermediate", since, platform, node.span, words.section)


def _in_itself(directive: Statement) -> Iterator[Diagnostic]:
    """Check the address size, and that the architecture comes before options that do not exclude each other."""
    if isinstance(directive, AddressSize) and directive.bits not in _ADDRESS_SIZES:
        message = f"addresses have 32 or 64 bits, not {directive.bits}"
        yield error("misplaced-directive", message, directive.span, "11.1.3")
    if isinstance(directive, TargetDirective):
        names = directive.names
        if names and names[0] in OPTIONS:
            where = _name_span(directive, names[0])
            yield error("misplaced-directive", "`.target` names the architecture first", where, "11.1.2")
        if {"texmode_unified", "texmode_independent"} <= set(names):
            message = "`texmode_unified` and `texmode_independent` exclude each other"
            yield error("misplaced-directive", message, directive.span, "11.1.2")
