"""Textures: look-ups and queries (PTX ISA 9.7.10).

ptxas brings directions to about 1 before a cube is looked up, and has f16 results rounded from f32; so do we.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.program.symbols import Register, Variable
from ptxloom.machine.runtime.structs import texture
from ptxloom.machine.runtime.textures import fetch, queries
from ptxloom.meaning.arithmetic import numbers
from ptxloom.meaning.arithmetic.approximate import unit
from ptxloom.syntax import print_operand, tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

family: Final = Family()

GEOMETRIES: Final = {
    "1d": texture.ONE,
    "2d": texture.TWO,
    "3d": texture.THREE,
    "a1d": texture.LAYERED_ONE,
    "a2d": texture.LAYERED_TWO,
    "cube": texture.CUBE,
    "acube": texture.LAYERED_CUBE,
}
_DIMENSIONS: Final = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 3, "acube": 3}
_COMPONENTS: Final = ("r", "g", "b", "a")
_BASE_LEVEL: Final = 0xC2000000  # -32, which ptxas asks for where no level is named
_OFFSET_BITS: Final = 4


@family("tex")
def tex(b: Builder, op: Op) -> None:
    """Look up a texture at a place given by floats, or by integers."""
    if op.has("grad"):
        raise op.unsupported("levels found by gradients are not supported")
    geometry = op.one_of(tuple(GEOMETRIES))
    if geometry not in GEOMETRIES:
        raise op.unsupported("textures with several samples are not supported")
    target, where, *rest = op.operands
    is_fetch = op.types[-1].name == "s32"
    level = b.constant(vector("i32"), 0 if is_fetch else _BASE_LEVEL)
    if op.has("level"):
        level = b.read(rest.pop(0), "b32")
    form = GEOMETRIES[geometry] | fetch.INTEGERS * is_fetch | fetch.LEVELS * op.has("level")
    _look_up(b, op, where, rest, level=level, form=form)
    values = [b.load(vector("i32"), b.scratch(scratch.VALUES + 128 * n), 64) for n in range(4)]
    _write(b, op, target, values)


@family("tld4")
def tld4(b: Builder, op: Op) -> None:
    """Read one component of the four texels that a filter would combine."""
    geometry = op.one_of(tuple(GEOMETRIES))
    if geometry not in {"2d", "a2d"}:
        raise op.unsupported("gathering from cubes is not supported")
    target, where, *rest = op.operands
    component = _COMPONENTS.index(op.one_of(_COMPONENTS))
    form = GEOMETRIES[geometry] | fetch.GATHERS | component << fetch.COMPONENT_SHIFT
    _look_up(b, op, where, rest, level=b.constant(vector("i32"), 0), form=form)
    _write(b, op, target, [b.load(vector("i32"), b.scratch(scratch.VALUES + 128 * n), 64) for n in range(4)])


def handles(b: Builder, op: Op, where: tree.Operand) -> Value:
    """Store the objects that lanes name in the scratch: a register's contents, or a variable's address."""
    assert isinstance(where, tree.Address)
    found = b.find(where.base.text) if isinstance(where.base, tree.Name) else None
    if isinstance(found, Variable):
        named = b.address_of(found)
    elif isinstance(found, Register) and found.type.bits == 64:
        named = b.read(where.base, "b64")
    else:
        raise op.unsupported(f"`{print_operand(where.base)}` is not a texture or surface")
    b.store(named, b.scratch(scratch.ADDRESSES), 64)
    return b.scratch(scratch.ADDRESSES)


def _look_up(b: Builder, op: Op, where: tree.Operand, rest: Sequence[tree.Operand], *, level: Value, form: int) -> None:
    assert isinstance(where, tree.Address)
    if len(where.extra) != 1:
        raise op.unsupported("samplers apart from textures are not supported")
    geometry = op.one_of(tuple(GEOMETRIES))
    offsets: Sequence[Value] = ()
    if len(rest) > 1 or (rest and not isinstance(rest[0], tree.Vector)):
        raise op.unsupported("comparing depths is not supported")
    if rest:
        offsets = [_offset(b, value) for value in b.read_all(rest[0], "b32")[: _DIMENSIONS[geometry]]]
    place = coordinates(b, op, where.extra[0], geometry)
    none = b.constant(vector("i32"), 0)
    values = [*place, level, *offsets] + [none] * (3 - len(offsets))
    at = handles(b, op, where)
    for number, value in enumerate(values):
        b.store(value, b.scratch(scratch.VALUES + 128 * number), 64)
    b.check(b.runtime(fetch.look_up, W, b.active_mask, at, b.scratch(scratch.VALUES), form, op.site))


def _offset(b: Builder, value: Value) -> Value:
    """The low four bits of a step, with their sign."""
    by = b.constant(value.type, 32 - _OFFSET_BITS)
    return b.apply("ashr", b.apply("shl", value, by), by)


def coordinates(b: Builder, op: Op, operand: tree.Operand, geometry: str) -> list[Value]:
    """Three numbers, 0 where there are fewer, and the layer."""
    given = list(b.read_all(operand, "b32"))
    none = b.constant(vector("i32"), 0)
    layer = given.pop(0) if geometry[0] == "a" else none
    given = given[: _DIMENSIONS[geometry]]
    if len(given) < _DIMENSIONS[geometry]:
        raise op.unsupported(f"a place in .{geometry} takes {_DIMENSIONS[geometry]} numbers")
    if geometry.endswith("cube"):
        given = _direction(b, given)
    return [*given, *[none] * (3 - len(given)), layer]


def _direction(b: Builder, given: Sequence[Value]) -> list[Value]:
    """A direction whose largest coordinate is about 1."""
    floats = [numbers.as_float(b, value) for value in given]
    none = b.constant(given[0].type, 0)
    sizes = [numbers.magnitude(b, value, "f32") for value in given]
    sizes = [b.select(numbers.is_nan(b, n), none, size) for n, size in zip(floats, sizes, strict=True)]
    largest = b.intrinsic("llvm.umax", b.intrinsic("llvm.umax", *sizes[:2]), sizes[2])
    inverse = unit(b, "rcp", numbers.as_float(b, largest))
    return [numbers.bits_of(b, b.apply("fmul", value, inverse)) for value in floats]


def _write(b: Builder, op: Op, target: tree.Operand, values: Sequence[Value]) -> None:
    """Write four components, as f32 or integers, or as halves."""
    if isinstance(target, tree.Pair):
        b.write_mask(target.second, b.constant("i32", -1))
        target = target.first
    kind = op.types[0].name
    if kind not in {"f16", "f16x2"}:
        b.write_all(target, tuple(values))
        return
    halves = [numbers.narrow(b, numbers.as_float(b, value), "f16") for value in values]
    if kind == "f16":
        b.write_all(target, tuple(halves))
        return
    wide = [b.resize(half, 32) for half in halves]
    shift = b.constant(vector("i32"), 16)
    pairs = (b.apply("or", low, b.apply("shl", high, shift)) for low, high in zip(wide[::2], wide[1::2], strict=True))
    b.write_all(target, tuple(pairs))


@family("txq", "suq")
def query(b: Builder, op: Op) -> None:
    """The size of a texture, of one of its levels, or of a surface."""
    asked = op.one_of(tuple(queries.QUERIES))
    if asked not in queries.QUERIES:
        raise op.unsupported("of what can be asked about a texture or a surface, only the sizes are known")
    target, where, *rest = op.operands
    at = handles(b, op, where)
    level = b.read(rest[0], "b32") if rest else b.constant(vector("i32"), 0)
    b.store(level, b.scratch(scratch.VALUES), 64)
    kind = texture.TEXTURE if op.opcode == "txq" else texture.SURFACE
    facts = (kind, queries.QUERIES[asked], op.site)
    b.check(b.runtime(queries.ask, W, b.active_mask, at, b.scratch(scratch.VALUES), *facts))
    b.write(target, b.load(vector("i32"), b.scratch(scratch.VALUES), 64))


@family("istypep")
def istypep(b: Builder, op: Op) -> None:
    """Whether a number is the address of a module's texture, sampler or surface."""
    kind = op.one_of(("texref", "samplerref", "surfref"))
    found = b.find(op.operands[1].text) if isinstance(op.operands[1], tree.Name) else None
    if isinstance(found, Variable):
        b.write_mask(op.operands[0], b.constant("i32", -int(found.type == kind)))
        return
    named = b.read(op.operands[1], "b64")
    b.store(named, b.scratch(scratch.ADDRESSES), 64)
    number = {"texref": texture.TEXTURE, "surfref": texture.SURFACE}.get(kind, 0)
    mask = b.runtime(queries.are_references, W, b.active_mask, b.scratch(scratch.ADDRESSES), number)
    b.write_mask(op.operands[0], mask)
