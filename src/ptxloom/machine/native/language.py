"""A small typed subset of Python that compiles to LLVM IR: the language of the machine's run-time.

A native function is plain Python over fixed-width integers, structs and pointers; pyright checks it as Python and
`translate` turns its syntax tree into IR. Supported: assignment, `if`, `while`, `for _ in range(...)`, `break`,
`continue`, `return`, calls of other native functions, integer arithmetic and comparison, `and`/`or`/`not`, conditional
expressions, struct fields and pointer elements. A struct variable is a pointer to the struct. Integer types never mix
silently: write `u64(x)`; literals take the type of the other side.

Every pointer has a bound, as with Clang's `-fbounds-safety`: an array its length, a table of a struct the count that
its annotation names among the other fields, `Ptr` one element per lane, a `Slice` its own. An index beyond traps, and
LLVM removes the checks that it can prove. Only the modules in `writer.MAKERS` may make a pointer from a number.
"""

from __future__ import annotations

import ast
import ctypes
import inspect
import sys
from functools import cache
from typing import Final, Generic, TypeAlias, TypeVar, cast

from ptxloom.dataclass import dataclass

T = TypeVar("T")

i8: TypeAlias = int  # noqa: PYI042 - as LLVM and the PTX manual write them
u8: TypeAlias = int  # noqa: PYI042 - as LLVM and the PTX manual write them
i16: TypeAlias = int  # noqa: PYI042 - as LLVM and the PTX manual write them
u16: TypeAlias = int  # noqa: PYI042 - as LLVM and the PTX manual write them
i32: TypeAlias = int  # noqa: PYI042 - as LLVM and the PTX manual write them
u32: TypeAlias = int  # noqa: PYI042 - as LLVM and the PTX manual write them
i64: TypeAlias = int  # noqa: PYI042 - as LLVM and the PTX manual write them
u64: TypeAlias = int  # noqa: PYI042 - as LLVM and the PTX manual write them
f32: TypeAlias = float  # noqa: PYI042 - as LLVM and the PTX manual write them
f64: TypeAlias = float  # noqa: PYI042 - as LLVM and the PTX manual write them
Code: TypeAlias = int  # the address of machine code: 64 bits, never computed by arithmetic


class Slice(Generic[T]):
    """Contiguous elements of type `T`, and their count: `s[i]` reads or writes one (for a struct, its address).

    A field of a struct is written `Annotated[Slice[u32], "columns"]`: the number of its elements is in that
    field. So is a parameter passed by code outside native functions, in terms of the others.
    """

    def __getitem__(self, index: int) -> T:
        """The element at `index`."""
        raise NotImplementedError

    def __setitem__(self, index: int, value: T) -> None:
        """Store an element."""
        raise NotImplementedError


class Sealed:
    """A struct into which only the modules in `writer.MAKERS` store."""


class Ptr(Slice[T]):
    """A pointer to 32 elements, one per lane."""


class Array(Slice[T]):
    """Elements inside a struct; written `Annotated[Array[u32], 32]`."""


def pointer(kind: type[T], address: int, count: int) -> Slice[T]:
    """`count` elements of `kind` at an address; unchecked."""
    raise NotImplementedError(kind, address, count)


def part(elements: Slice[T], start: int, count: int) -> Slice[T]:
    """`count` elements from `start` on; a trap if there are fewer."""
    raise NotImplementedError(elements, start, count)


def view(kind: type[T], elements: object) -> Slice[T]:
    """The bytes of a slice, an array or a struct as elements of another type."""
    raise NotImplementedError(kind, elements)


def lanes(elements: Slice[T]) -> Ptr[T]:
    """The first 32 elements, one per lane; a trap if there are fewer."""
    raise NotImplementedError(elements)


def nothing(kind: type[T]) -> Slice[T]:
    """No elements, at address 0."""
    raise NotImplementedError(kind)


def null(kind: type[T]) -> T:
    """A null pointer to a struct."""
    raise NotImplementedError(kind)


def length(elements: Slice[T]) -> int:
    """The number of elements, 64 bits."""
    raise NotImplementedError(elements)


def address(place: object) -> int:
    """The address in a pointer or struct variable."""
    raise NotImplementedError(place)


def invoke(code: Code, argument: object) -> int:
    """Call machine code, a function of one pointer that returns a u32."""
    raise NotImplementedError(code, argument)


def cycles() -> u64:
    """The processor's counter of cycles; 0 if programs cannot read one."""
    raise NotImplementedError


def popcount(value: int) -> int:
    """The number of one bits."""
    raise NotImplementedError(value)


def trailing_zeros(value: int) -> int:
    """The number of zero bits below the lowest one bit; the width for zero."""
    raise NotImplementedError(value)


def leading_zeros(value: int) -> int:
    """The number of zero bits above the highest one bit; the width for zero."""
    raise NotImplementedError(value)


def atomic(operation: str, place: T, value: T) -> T:
    """One `atomicrmw` of a field or an element by LLVM's name ("add", "xchg", ...); returns the old value."""
    raise NotImplementedError(operation, place, value)


def compare_exchange(place: T, expected: T, value: T) -> T:
    """Store `value` if a field or an element holds `expected`, atomically; returns the old value."""
    raise NotImplementedError(place, expected, value)


def copy(target: object, source: object, size: int) -> None:
    """Copy `size` bytes between slices, arrays or structs; a trap if either has fewer."""
    raise NotImplementedError(target, source, size)


def fill(target: object, value: int) -> None:
    """Set all bytes of a slice, an array or a struct to the byte `value`."""
    raise NotImplementedError(target, value)


def lowest(values: Slice[u32], lanes: u32) -> u32:
    """The smallest of 32 values among the lanes of a mask; 0xffffffff if the mask is empty."""
    raise NotImplementedError(values, lanes)


def lanes_equal(values: Slice[u32], value: u32) -> u32:
    """The mask of lanes whose value is `value`."""
    raise NotImplementedError(values, value)


def lanes_above(values: Slice[u32], value: u32) -> u32:
    """The mask of lanes whose value is larger than `value`."""
    raise NotImplementedError(values, value)


def set_lanes(values: Slice[u32], lanes: u32, value: u32) -> None:
    """Set the values of the lanes of a mask."""
    raise NotImplementedError(values, lanes, value)


# -- types


@dataclass(frozen=True, slots=True)
class NativeType:
    """A type of the native language: a number, a pointer (`element` set), or an inline array (`count` set).

    Attributes:
        bound: For a pointer in memory or passed by other code, the number of elements, as an expression.
    """

    name: str
    bits: int = 0
    signed: bool = False
    element: NativeType | None = None
    struct: type | None = None
    count: int = 0
    bound: str = ""

    @property
    def llvm(self) -> str:
        """Its spelling in LLVM IR."""
        if self.name == "Slice" and not self.bound:
            return "{ ptr, i64 }"
        if self.element is not None or self.struct is not None:
            return "ptr"
        if self.name[0] == "f":
            return {32: "float", 64: "double"}[self.bits]
        return f"i{self.bits}" if self.bits else "void"

    @property
    def size(self) -> int:
        """Its size in memory, in bytes."""
        if self.count:
            assert self.element is not None
            return self.count * self.element.stride
        return 8 if self.llvm == "ptr" else max(self.bits // 8, 1)

    @property
    def stride(self) -> int:
        """The stride of an array of it, in bytes."""
        return record(self.struct).size if self.struct is not None else self.size

    @property
    def alignment(self) -> int:
        """Its alignment in bytes."""
        if self.count:
            assert self.element is not None
            return record(self.element.struct).alignment if self.element.struct is not None else self.element.size
        return self.size


SCALARS: Final = {
    f"{letter}{bits}": NativeType(f"{letter}{bits}", bits, letter == "i")
    for letter, widths in (("i", (8, 16, 32, 64)), ("u", (8, 16, 32, 64)), ("f", (32, 64)))
    for bits in widths
}
BOOL = NativeType("bool", 1)
CODE = NativeType("Code", 64)
VOID = NativeType("None")
LITERAL = NativeType("literal")
_NAMED: Final = {**SCALARS, "bool": BOOL, "Code": CODE}
U32, U64, U8 = SCALARS["u32"], SCALARS["u64"], SCALARS["u8"]


@dataclass(frozen=True, slots=True)
class StructLayout:
    """The layout of a struct's fields."""

    name: str
    offsets: dict[str, int]
    kinds: dict[str, NativeType]
    size: int
    alignment: int


@cache
def record(struct: type | None) -> StructLayout:
    """The layout of a struct class: its annotated fields in order, naturally aligned."""
    assert struct is not None
    names = vars(sys.modules[struct.__module__])
    offsets: dict[str, int] = {}
    kinds: dict[str, NativeType] = {}
    at = 0
    alignment = 8
    for field, text in inspect.get_annotations(struct).items():
        kind = kind_said(str(text), names)
        if kind.element is not None and not kind.count and not kind.bound:
            raise TypeError(f"{struct.__name__}.{field} does not declare the number of elements")
        at = -(-at // kind.alignment) * kind.alignment
        offsets[field], kinds[field] = at, kind
        at += kind.size
    return StructLayout(struct.__name__, offsets, kinds, -(-at // alignment) * alignment, alignment)


@cache
def structure(struct: type) -> type[ctypes.Structure]:
    """The same struct for ctypes; pointers are plain 64-bit addresses."""

    def plain(kind: NativeType) -> object:
        if kind.count:
            assert kind.element is not None
            inner = structure(kind.element.struct) if kind.element.struct is not None else plain(kind.element)
            return cast("type[ctypes.c_uint32]", inner) * kind.count
        if kind.llvm == "ptr":
            return ctypes.c_uint64
        letter = {"i": "int", "u": "uint", "C": "uint"}[kind.name[0]]
        return vars(ctypes)[f"c_{letter}{kind.bits}"]

    fields = [(name, plain(kind)) for name, kind in record(struct).kinds.items()]
    short = type(struct.__name__, (ctypes.Structure,), {"_fields_": fields})
    padding = record(struct).size - ctypes.sizeof(short)  # ctypes pads to the fields' alignment only
    if not padding:
        return short
    return type(struct.__name__, (ctypes.Structure,), {"_fields_": [*fields, ("_padding", ctypes.c_uint8 * padding)]})


def kind_said(text: str, names: dict[str, object]) -> NativeType:
    """The type of an annotation, by the names of its module.

    Raises:
        TypeError: It is not a native type.
    """
    return _named(text, names) or kind_of(_parsed(text), names)  # most are names, which need no parser


@cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _named(name: str, names: dict[str, object]) -> NativeType | None:
    """The type with a name; None if there is none."""
    if name in _NAMED:
        return _NAMED[name]
    struct = names.get(name)
    return NativeType(name, struct=struct) if isinstance(struct, type) else None


def _length(size: ast.expr, names: dict[str, object]) -> int:
    """The number of elements of an array, from an expression: most are numbers."""
    if isinstance(size, ast.Constant) and isinstance(size.value, int):
        return size.value
    return eval(compile(ast.Expression(size), "<size>", "eval"), dict(names))  # noqa: S307 - our own source


def kind_of(node: ast.expr, names: dict[str, object]) -> NativeType:
    """The type of an annotation, by the names of its module.

    Raises:
        TypeError: It is not a native type.
    """
    match node:
        case ast.Constant(value=None):
            return VOID
        case ast.Constant(value=str(text)):
            return kind_said(text, names)
        case ast.Name(id=name) if (kind := _named(name, names)) is not None:
            return kind
        case ast.Subscript(value=ast.Name(id="Ptr" | "Array" | "Slice" as name), slice=element):
            return NativeType(name, element=kind_of(element, names))
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[array, size])):
            inner = kind_of(array, names)
            if isinstance(size, ast.Constant) and isinstance(size.value, str):
                return NativeType(inner.name, element=inner.element, bound=size.value)
            return NativeType("Array", element=inner.element, count=_length(size, names))
        case _:
            pass
    raise TypeError(f"{ast.unparse(node)} is not a native type")
