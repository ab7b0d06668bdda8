"""Arrays of other libraries are arguments as they come: no copy, every type; a reason for each that is refused."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any, Final

import ml_dtypes
import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnostics import UsageError
from ptxloom.machine.memory import foreign_arrays
from ptxloom.machine.memory.foreign_arrays import host_array

ADD_ONE: Final = pl.parse("""
.version 8.0 .target sm_80 .address_size 64
.entry add_one(.param .u64 x, .param .u32 n) {
    .reg .u64 %a; .reg .u32 %v, %t; .reg .pred %p;
    mov.u32 %t, %tid.x; ld.param.u32 %v, [n]; setp.ge.u32 %p, %t, %v; @%p ret;
    ld.param.u64 %a, [x]; mad.wide.u32 %a, %t, 4, %a;
    ld.global.u32 %v, [%a]; add.u32 %v, %v, 1; st.global.u32 [%a], %v; ret;
}
""")


def add_one(x: object, n: object = 4) -> pl.LaunchResult:
    return pl.kernel(ADD_ONE, "add_one").launch(1, 32, [x, n])


def ended_by(x: object) -> str:
    """What ends the kernel, as its report begins."""
    with pytest.raises(pl.LaunchError) as caught:
        add_one(x)
    return str(caught.value.hazards[0]).partition("\n")[0]


class Lent:
    """A library's array: NumPy's memory, given away by DLPack alone."""

    def __init__(self, array: np.ndarray[Any, Any], device: int = 1, *, knows_versions: bool = True) -> None:
        self._array = array
        self._device = device
        self.knows_versions = knows_versions
        self.shape, self.dtype = array.shape, array.dtype

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device, 0

    def __dlpack__(self, **asked: object) -> object:
        if asked and not self.knows_versions:
            raise TypeError("unexpected keyword argument")
        return self._array.__dlpack__(**asked)  # pyright: ignore[reportCallIssue, reportArgumentType]


class Said:
    """An array of a DLTensor that says what a test wants."""

    shape = (3,)
    dtype = "whatever"

    def __init__(
        self, data: Any, code: int, bits: int, *, lanes: int = 1, strides: tuple[int, ...] = (), flags: int | None = 0,
        count: int = 3,
    ) -> None:  # fmt: skip
        self._shape = (ctypes.c_int64 * 1)(count)
        self._strides = (ctypes.c_int64 * len(strides))(*strides) if strides else None
        tensor = foreign_arrays._Tensor(
            ctypes.addressof(data), (1, 0), 1, code, bits, lanes, self._shape, self._strides, 0
        )  # fmt: skip
        self._keep = data
        self._versioned = flags is not None
        self._managed = foreign_arrays._Versioned(1, 0, None, None, flags or 0, tensor) if self._versioned else tensor

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **_asked: object) -> object:
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
            ("PyCapsule_New", ctypes.pythonapi)
        )
        name = b"dltensor_versioned" if self._versioned else b"dltensor"
        return make(ctypes.addressof(self._managed), name, None)


@pytest.mark.parametrize("knows_versions", [True, False])
def test_the_kernel_works_in_the_memory_of_a_dlpack_array(knows_versions: bool) -> None:
    theirs = np.arange(4, dtype=np.int32)
    result = add_one(Lent(theirs, knows_versions=knows_versions))
    assert not result.hazards
    assert theirs.tolist() == [1, 2, 3, 4]


def test_the_kernel_works_in_the_memory_of_an_array_interface() -> None:
    theirs = np.arange(4, dtype=np.int32)
    add_one(SimpleNamespace(__array_interface__=theirs.__array_interface__))
    assert theirs.tolist() == [1, 2, 3, 4]


def test_the_bounds_are_the_arrays_own() -> None:
    told = ended_by(Lent(np.zeros(3, np.uint32)))
    assert told == "memcheck.out-of-bounds: read of 4 bytes at args[0]+0xc is out of bounds: args[0] has 12 bytes"


LOOKS: Final = pl.parse("""
.version 8.0 .target sm_80 .address_size 64
.entry looks(.param .u64 x) {
    .reg .u64 %a; .reg .u32 %v; .reg .pred %p;
    ld.param.u64 %a, [x]; ld.global.u32 %v, [%a]; setp.eq.u32 %p, %v, 0; @%p ret; st.global.u32 [%a], 1; ret;
}
""")


def test_uninitialised_arrays_are_known_by_themselves() -> None:
    theirs = Lent(np.zeros(4, np.int32))
    kernel = pl.kernel(LOOKS, "looks")
    checks = ["memcheck", "initcheck:global"]
    assert not kernel.launch(1, 32, [theirs], checks=checks).hazards
    for named in (theirs, 0):
        (found,) = kernel.launch(1, 32, [theirs], checks=checks, uninitialised=[named]).hazards
        assert found.rule.startswith("initcheck."), found


def test_an_array_lives_as_long_as_it_is_seen() -> None:
    seen = host_array(Lent(np.arange(1000, dtype=np.float32)), "x", "x")
    assert seen is not None
    assert seen.tolist() == list(range(1000))


TYPES: Final = [
    (0, 16, "int16"), (1, 8, "uint8"), (2, 16, "float16"), (2, 64, "float64"), (4, 16, "bfloat16"),
    (5, 64, "complex64"), (6, 8, "bool"), (7, 8, "float8_e3m4"), (8, 8, "float8_e4m3"), (9, 8, "float8_e4m3b11fnuz"),
    (10, 8, "float8_e4m3fn"), (11, 8, "float8_e4m3fnuz"), (12, 8, "float8_e5m2"), (13, 8, "float8_e5m2fnuz"),
    (14, 8, "float8_e8m0fnu"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "bits", "name"), TYPES)
@pytest.mark.parametrize("flags", [None, 0])
def test_every_type_is_known(code: int, bits: int, name: str, flags: int | None) -> None:
    data = (ctypes.c_uint8 * 64)(*range(64))
    seen = host_array(Said(data, code, bits, flags=flags), "x", "x")
    assert seen is not None
    assert (seen.dtype.name, seen.shape, seen.ctypes.data) == (name, (3,), ctypes.addressof(data))
    assert seen.tobytes() == bytes(range(3 * bits // 8))
    assert seen.flags.writeable


def test_what_has_no_name_in_numpy_is_bytes() -> None:
    data = (ctypes.c_uint8 * 64)()
    pairs = host_array(Said(data, 17, 4, lanes=2), "x", "x")  # float4_e2m1fn, two in a byte
    assert pairs is not None
    assert (pairs.itemsize, pairs.shape) == (1, (3,))
    with pytest.raises(UsageError, match="elements of whole bytes"):
        host_array(Said(data, 17, 4), "x", "x")


def test_steps_and_what_may_not_be_written_are_seen() -> None:
    data = (ctypes.c_float * 16)(*range(16))
    seen = host_array(Said(data, 2, 32, strides=(2,), flags=1), "x", "x")
    assert seen is not None
    assert (seen.tolist(), seen.flags.writeable) == ([0, 2, 4], False)
    nothing = host_array(Said(data, 2, 32, count=0), "x", "x")
    assert nothing is not None
    assert nothing.shape == (0,)


def test_what_is_read_only_may_be_read_and_not_written() -> None:
    theirs = np.arange(4, dtype=np.int32)
    theirs.flags.writeable = False
    told = ended_by(SimpleNamespace(__array_interface__=theirs.__array_interface__))
    assert told == "memcheck.read-only: write of 4 bytes at args[0], which is read-only"
    assert theirs.tolist() == [0, 1, 2, 3]


class Refusing(Lent):
    def __dlpack__(self, **asked: object) -> object:
        raise BufferError("Can't export tensors with the conjugate bit set.\nAnd more.")


class WithGradient(Lent):
    requires_grad = True


INTS: Final = np.zeros(4, np.int32)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (Lent(INTS, device=2), r"args\[0\] is .*int32 array of shape .4,.'; it must be an array in host memory"),
        (Lent(INTS, device=2), r"for x, a \.u64: it is on a GPU; copy it first"),
        (SimpleNamespace(__cuda_array_interface__={}), "it is on a GPU"),
        (WithGradient(INTS), r"without gradients for x, a \.u64: `\.detach\(\)` returns one, in the same memory"),
        (Refusing(INTS), r"memory can be shared, for x, a \.u64 \(Can't export .* conjugate bit set\)"),
        (Lent(INTS[::2]), r"it must be a C-contiguous array for x, a \.u64"),
        (SimpleNamespace(__array_interface__=INTS.astype(">i4").__array_interface__), "machine's byte order"),
        (np.array([None]), "an array of plain values"),
    ],
)  # fmt: skip
def test_what_cannot_be_shared_is_said_in_a_sentence(value: object, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        add_one(value)
    assert "\n" not in str(caught.value)


def test_an_array_is_no_number() -> None:
    says = r"args\[1\] is .*it must be a number for n, a \.u32, not an array; `\.item\(\)` takes one out"
    for one in (Lent(np.array(4, np.int32)), np.array(4, np.int32)):
        with pytest.raises(UsageError, match=says):
            add_one(INTS, one)


POINTER_IN_STRUCTURE: Final = pl.parse("""
.version 8.0 .target sm_80 .address_size 64
.entry k(.param .align 8 .b8 s[16]) {
    .reg .u64 %a; ld.param.u64 %a, [s+8]; st.global.u32 [%a], 7; ret;
}
""")


def test_structures_hold_them_too() -> None:
    theirs = np.zeros(1, np.uint32)
    kernel = pl.kernel(POINTER_IN_STRUCTURE, "k")
    assert not kernel.launch(1, 1, [{8: Lent(theirs)}]).hazards
    assert theirs[0] == 7
    with pytest.raises(UsageError, match=r"args\[0\]\[8\] is .* C-contiguous array for a pointer of the structure"):
        kernel.launch(1, 1, [{8: np.zeros(8, np.uint32)[::2]}])


def test_maps_and_textures_and_surfaces_are_made_of_them() -> None:
    theirs = np.zeros((32, 64), ml_dtypes.bfloat16)
    raw = (ctypes.c_uint8 * theirs.nbytes).from_address(theirs.ctypes.data)
    shared = Said(raw, 4, 16, count=64)
    assert pl.tensor_map(shared, (64,)).map.data_type == "BFLOAT16"  # pyright: ignore[reportArgumentType]
    image = np.zeros((4, 8), np.float32)
    assert pl.texture(Lent(image), "2d").levels[0].ctypes.data == image.ctypes.data  # pyright: ignore[reportArgumentType]
    assert pl.surface(Lent(image), "2d").array.ctypes.data == image.ctypes.data  # pyright: ignore[reportArgumentType]
    for make in (lambda: pl.tensor_map("x", (1,)), lambda: pl.texture(3, "2d"), lambda: pl.surface(None, "2d")):  # pyright: ignore[reportArgumentType]
        with pytest.raises(
            UsageError, match=r"array is .*; it must be a NumPy array, or one that another library shares"
        ):
            make()


def test_tensors_of_torch() -> None:
    torch: Any = pytest.importorskip("torch")
    ints = torch.arange(4, dtype=torch.int32)
    assert not add_one(ints).hazards
    assert ints.tolist() == [1, 2, 3, 4]
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float16", "bool", "int64", "complex64"):
        tensor = torch.zeros(6, dtype=getattr(torch, name))
        seen = host_array(tensor, "x", "x")
        assert seen is not None
        assert (seen.dtype.name, seen.ctypes.data) == (name, tensor.data_ptr())
    refused = {
        "without gradients": torch.zeros(4, requires_grad=True),
        "memory can be shared": torch.zeros(4, device="meta"),
        "C-contiguous": torch.zeros(4, 4).T,
        r"memory can be shared, for x.*layout": torch.eye(3).to_sparse(),
    }
    for says, tensor in refused.items():
        with pytest.raises(UsageError, match=says):
            add_one(tensor)


def test_arrays_of_jax_are_read_and_not_written() -> None:
    made: Any = pytest.importorskip("jax.numpy")
    ints = made.arange(4, dtype="int32")
    assert ended_by(ints) == "memcheck.read-only: write of 4 bytes at args[0], which is read-only"
    assert ints.tolist() == [0, 1, 2, 3]
    assert host_array(made.zeros(3, "bfloat16"), "x", "x").dtype == ml_dtypes.bfloat16  # pyright: ignore[reportOptionalMemberAccess]
