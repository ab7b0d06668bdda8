"""Rules about declarations: where they may stand, which types, sizes and alignments they may have (PTX ISA 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.binding.sizes import OPAQUE
from ptxloom.checker.findings.report import error, name_span, word_span
from ptxloom.checker.module.initial_values import initial_value
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import Fix
from ptxloom.isa.spelling import near_misses
from ptxloom.isa.types import Kind, element_type, is_type
from ptxloom.source import Span
from ptxloom.syntax.tree import Block, Declaration, Function, Instruction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Platform
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.module import Module
    from ptxloom.syntax.tree import Declarator, Statement

_WIDEST: Final = 128  # bits of a vector
_MOST_ALIGNED: Final = 128  # bytes, of a parameter of a call
_DECLARED: Final = frozenset(
    ("pred", "f16", "f16x2", "f32", "f64", "b128", *(f"{kind}{bits}" for kind in "sub" for bits in (8, 16, 32, 64)))
)
_KNOWN_ELSEWHERE: Final = {f"i{bits}": f"s{bits}" for bits in (8, 16, 32, 64)}
"""The names of the types in LLVM."""
_ATTRIBUTES: Final = frozenset(("managed", "unified"))
_PACKED: Final = frozenset(("f16x2",))
_WHERE: Final = {
    "module": frozenset(("global", "const", "shared")),
    "body": frozenset(("global", "const", "shared", "local", "reg", "param")),
    "entry": frozenset(("param",)),
    "func": frozenset(("param", "reg")),
}
_GONE: Final = {
    "sreg": "special registers are predefined",
    "tex": "a texture is a `.global .texref` since PTX 1.5",
}
_PLACES: Final = {
    "module": "at module level",
    "body": "in a function",
    "entry": "as a parameter of a kernel",
    "func": "as a parameter of a function",
}


@dataclass(frozen=True, slots=True)
class _Site:
    """A declared name and where it is declared: "module", "body", or as a parameter of an "entry" or a "func"."""

    declaration: Declaration
    declarator: Declarator
    place: str

    @property
    def span(self) -> Span:
        """Where the name stands."""
        return name_span(self.declaration, self.declarator)


def variables(module: Module, _: Platform) -> Iterator[Diagnostic]:
    """The findings about everything that a module declares."""
    if "texmode_independent" not in module.target:
        yield from _samplers(module)
    known: set[str] = set()
    for statement in module.statements:
        if isinstance(statement, Declaration):
            yield from _declaration(statement, "module", known)
        elif isinstance(statement, Function):
            known.add(statement.name)
            yield from _parameters(statement)
            if statement.body is not None:
                yield from _body(statement.body.statements, known)


def _samplers(module: Module) -> Iterator[Diagnostic]:
    for statement in module.statements:
        if isinstance(statement, Declaration) and statement.type == "samplerref" and statement.space == "global":
            message = "a `.samplerref` of its own needs `texmode_independent` in `.target`"
            yield error("declaration-type", message, word_span(statement, ".samplerref"), "5.3")


def _body(statements: tuple[Statement, ...], known: set[str]) -> Iterator[Diagnostic]:
    waiting = [statements]
    while waiting:
        for one in waiting.pop():
            if type(one) is Instruction:
                continue
            if isinstance(one, Declaration):
                yield from _declaration(one, "body", known)
            elif isinstance(one, Block):
                waiting.append(one.statements)


def _parameters(function: Function) -> Iterator[Diagnostic]:
    last = len(function.params) - 1
    for place, parameter in enumerate((*function.params, *function.returns)):
        yield from _declaration(parameter, function.kind, set())
        for declarator in parameter.declarators:
            site, name = _Site(parameter, declarator, function.kind), declarator.name
            open_ended = not all(declarator.dimensions)
            if open_ended and (place != last or function.kind == "entry"):
                why = "only the last parameter of a function may leave its size open"
                yield _bad("incomplete-type", f"`{name}` needs a size", site, "7.1", why)
            if place > last and function.kind == "entry":
                yield _bad("declaration-place", f"`{name}` is a result, and kernels have none", site, "7.1")
            elif place > last and len(function.returns) > 1 and parameter.space != "reg":
                why = "several results are registers"
                yield _bad("declaration-place", f"`{name}` cannot be one of several results", site, "7.1", why)


def _declaration(declaration: Declaration, place: str, known: set[str]) -> Iterator[Diagnostic]:
    told: set[str] = set()
    for declarator in declaration.declarators:
        site = _Site(declaration, declarator, place)
        for rule in (_space, _type, _size, _alignment, _linkage):
            for finding in rule(site):
                if finding.message not in told:  # an error of all of them is reported for the first
                    told.add(finding.message)
                    yield finding
        if declarator.initializer is not None:
            yield from initial_value(declaration, declarator, known)
        if declaration.space in {"global", "const", "shared"}:
            known.add(declarator.name if declaration.space != "shared" else f"shared {declarator.name}")


def _bad(rule: str, message: str, site: _Site, section: str, label: str = "") -> Diagnostic:
    return error(rule, message, site.span, section, label=label)


def _space(site: _Site) -> Iterator[Diagnostic]:
    space = site.declaration.space
    allowed = _WHERE[site.place]
    if space in _GONE:
        yield _bad("declaration-place", f"`.{space}` cannot be declared: {_GONE[space]}", site, "5.1")
    elif not space:
        message = f"`{site.declarator.name}` names no state space"
        at = Span(site.declaration.source, site.declaration.start, site.declaration.start)
        fix = Fix("add `.param`", at, ".param ") if site.place == "entry" else None
        yield error("declaration-place", message, site.span, "5.1", fix=fix)
    elif space not in allowed:
        message = f"`.{space}` cannot be declared {_PLACES[site.place]}"
        words = ", ".join(f"`.{one}`" for one in ("global", "const", "shared", "param", "reg") if one in allowed)
        yield _bad("declaration-place", message, site, "5.1", f"here: {words}")
    elif site.declaration.type in OPAQUE and (site.place in {"body", "func"} or space in {"const", "shared", "local"}):
        message = f"`.{site.declaration.type}` is declared at module level in `.global`, or as a parameter of a kernel"
        yield _bad("declaration-place", message, site, "5.3")


def _type(site: _Site) -> Iterator[Diagnostic]:
    declaration, name = site.declaration, site.declarator.name
    if not is_type(declaration.type):
        if declaration.type not in OPAQUE:
            yield _no_type(site)
        return
    kind = element_type(declaration.type)
    if declaration.type not in _DECLARED:
        bits = kind.container_bits * (1 if kind.count == 1 else kind.count)
        why = f"declare `.b{bits}`" if bits in {16, 32, 64, 128} else ""
        yield _bad(
            "declaration-type", f"`.{declaration.type}` is a type of instructions, not of variables", site, "5.2", why
        )
        return
    width = (declaration.vector or 1) * kind.storage_bits
    if kind.kind is Kind.PREDICATE:
        if declaration.space != "reg":
            message = f"`{name}` is a predicate, and predicates live in registers only"
            yield error("declaration-type", message, site.span, "5.2", fix=_in_registers(site))
        elif declaration.vector or site.declarator.dimensions:
            yield _bad("declaration-type", f"`{name}` is a predicate: it has no parts", site, "5.2")
    elif declaration.vector and width > _WIDEST:
        message = f"`.v{declaration.vector} .{declaration.type}` has {width} bits, and a vector has at most {_WIDEST}"
        yield _bad("declaration-type", message, site, "5.4.2")
    elif declaration.space == "param" and (declaration.vector or declaration.type in _PACKED):
        why = "declare an array of bytes with the same alignment"
        yield _bad("declaration-type", f"`{name}` cannot be a parameter: it is a vector", site, "5.4.2", why)


def _no_type(site: _Site) -> Diagnostic:
    """The finding that a word is not a type at all."""
    word = site.declaration.type
    if not word:
        return _bad("declaration-type", f"`{site.declarator.name}` has no type", site, "5.2", "such as `.b8` or `.u32`")
    span = word_span(site.declaration, f".{word}")
    near = _KNOWN_ELSEWHERE.get(word) or next(iter(near_misses(word, sorted(_DECLARED))), "")
    fix = Fix(f"write `.{near}`", span, f".{near}") if near else None
    label = f"did you mean `.{near}`?" if near else ""
    return error("declaration-type", f"`.{word}` is not a type", span, "5.2", label=label, fix=fix)


def _in_registers(site: _Site) -> Fix | None:
    if site.place != "body":
        return None
    span = word_span(site.declaration, f".{site.declaration.space}")
    return Fix("make it a register", span, ".reg")


def _size(site: _Site) -> Iterator[Diagnostic]:
    declaration, declarator = site.declaration, site.declarator
    sizes, name = declarator.dimensions, declarator.name
    complete = declaration.linkage == "extern" or declarator.initializer is not None
    if declaration.space == "reg":
        if sizes and declaration.type != "pred":
            message = f"`{name}` is a register: there are no arrays of them"
            yield error("declaration-type", message, site.span, "5.1.1", fix=_as_series(site))
    elif None in sizes[1:]:
        yield _bad("incomplete-type", f"only the first size of `{name}` may be left open", site, "5.4.3")
    elif site.place in {"module", "body"} and not complete and not all(sizes):
        why = "only an `.extern` variable, or one with initial values, may leave its size open"
        yield _bad("incomplete-type", f"`{name}` needs a size", site, "5.4.3", why)


def _as_series(site: _Site) -> Fix | None:
    """`a[4]` as `a<4>`."""
    declarator, source = site.declarator, site.declaration.source
    end = source.text.find("]", declarator.start, site.declaration.end) + 1
    count = declarator.dimensions[0]
    if not end or not count or len(declarator.dimensions) > 1:
        return None
    return Fix("declare a series", Span(source, declarator.start, end), f"{declarator.name}<{count}>")


def _alignment(site: _Site) -> Iterator[Diagnostic]:
    declaration = site.declaration
    pointer = declaration.pointer
    written = [declaration.alignment] if _says_align(declaration) else []
    pointed = [pointer.alignment] if pointer and ".align" in pointer.span_in(declaration.source).text else []
    for alignment in (*written, *pointed):
        if alignment <= 0 or alignment & alignment - 1:
            near = 1 << max(0, alignment - 1).bit_length()
            where = word_span(declaration, ".align")
            message = f"an alignment is a power of two, and {alignment} is not"
            yield error("alignment", message, where, "5.4.5", label=f"the next one is {near}")
    if declaration.space == "param" and site.place != "entry" and declaration.alignment > _MOST_ALIGNED:
        message = f"a call's parameter is aligned to at most {_MOST_ALIGNED} bytes, not to {declaration.alignment}"
        yield error("alignment", message, word_span(declaration, ".align"), "5.4.5")


def _says_align(declaration: Declaration) -> bool:
    if declaration.alignment:
        return True
    first = declaration.declarators[0].start
    return ".align" in declaration.source.text[declaration.start : first] and declaration.pointer is None


def _linkage(site: _Site) -> Iterator[Diagnostic]:
    declaration, name = site.declaration, site.declarator.name
    if declaration.linkage == "common" and declaration.space in {"shared", "const"}:
        yield _only_global("common", site, "11.6.5")
    elif declaration.linkage and site.place == "body":
        message = f"`.{declaration.linkage}` is for variables at module level, and `{name}` does not"
        yield _bad("declaration-place", message, site, "11.6")
    for attribute in declaration.attributes:
        if attribute.name not in _ATTRIBUTES:
            span = attribute.span_in(declaration.source)
            yield error("unknown-directive", f"`.{attribute.name}` is not an attribute of a variable", span, "5.4.8")
        elif attribute.name == "managed" and declaration.space != "global":
            yield _only_global("managed", site, "5.4.8")


def _only_global(word: str, site: _Site, section: str) -> Diagnostic:
    message = f"`.{word}` is for `.global` variables, and `{site.declarator.name}` is `.{site.declaration.space}`"
    return _bad("declaration-place", message, site, section)
