"""Scenarios whose rows hold values: what a driver says of functions, images, pointers, places in memory, clusters."""

from __future__ import annotations

import ctypes as ct
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recorded.driver.calls import PTX, I, N, P, at
from recorded.driver.module_scenarios import configuration

if TYPE_CHECKING:
    from collections.abc import Callable

    from recorded.driver.calls import Calls

IMAGES: Final = Path(__file__).with_name("values")
ATTRIBUTES: Final = range(16)
"""Of a function: `CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK` and those behind it."""
_NAMES: Final = (b"fill", b"mixed", b"empty", b"small", b"exact", b"statically", b"trap")
_HEAD: Final = ".version {version}\n.target {target}\n.address_size 64\n"
_KERNELS: Final = {
    "plain": "",
    "at most 256": ".maxntid 256, 1, 1",
    "at most 16 x 8 x 4": ".maxntid 16, 8, 4",
    "exactly 64 x 2": ".reqntid 64, 2, 1",
    "two per multiprocessor": ".maxntid 512, 1, 1 .minnctapersm 2",
    "registers": ".maxnreg 40",
}
_CLUSTERS: Final = {
    "no cluster": "",
    "clusters of 2": ".reqnctapercluster 2, 1, 1",
    "clusters of 2 x 2": ".explicitcluster .reqnctapercluster 2, 2, 1",
    "explicit": ".explicitcluster",
    "at most 4": ".maxclusterrank 4",
    "at most 16": ".maxclusterrank 16",
}
_BODIES: Final = {
    "nothing": "",
    "static shared": ".shared .align 4 .b8 s[{size}]; .reg .b32 %x; "
    "mov.u32 %x, %tid.x; st.volatile.shared.u32 [s], %x;",
    "local": ".local .align 16 .b8 l[{size}]; .shared .align 4 .b8 s[4]; .reg .b32 %x; .reg .b64 %a, %l; "
    "mov.u32 %x, %tid.x; mul.wide.u32 %a, %x, 4; mov.u64 %l, l; add.u64 %a, %a, %l; st.local.u32 [%a], %x; "
    "mov.u32 %x, %ntid.x; mul.wide.u32 %a, %x, 4; add.u64 %a, %a, %l; ld.local.u32 %x, [%a]; "
    "st.volatile.shared.u32 [s], %x;",
    "constant": ".shared .align 4 .b8 s[4]; .reg .b32 %x; ld.const.u32 %x, [c]; st.volatile.shared.u32 [s], %x;",
}


def _said(t: Calls, function: P, about: str) -> None:
    value = I()
    for attribute in ATTRIBUTES:
        t("cuFuncGetAttribute", ct.byref(value), attribute, function, about=about, gives=value)


def _kernel(t: Calls, module: P, name: bytes = b"k") -> P:
    """A kernel, or a null handle where a replay goes the way of a driver that loaded what ours does not."""
    found = P()
    t.quietly("cuModuleGetFunction", ct.byref(found), module, name)
    return found


def _entry(module: str, body: str = "", directives: str = "", version: str = "8.0", target: str = "sm_90") -> bytes:
    head = _HEAD.format(version=version, target=target) + module
    return f"{head}\n.visible .entry k() {directives}\n{{ {body} ret; }}\n".encode()


def functions_valued(t: Calls) -> None:
    """All attributes of functions, of modules and of libraries."""
    t.begin()
    module, library, kernel, value = t.module(), P(), P(), I()
    for name in _NAMES:
        _said(t, t.function(name, module), name.decode())
    t.do("cuLibraryLoadData", ct.byref(library), PTX, None, None, 0, None, None, 0)
    for name in (b"mixed", b"small", b"statically"):
        t.do("cuLibraryGetKernel", ct.byref(kernel), library, name)
        for attribute in ATTRIBUTES:
            t("cuKernelGetAttribute", ct.byref(value), attribute, kernel, 0, about=name.decode(), gives=value)


def function_versions(t: Calls) -> None:
    """Attributes of one function from PTX of every version and target, compiled as options say."""
    t.begin()
    for version, target in (
        ("4.0", "sm_50"), ("4.1", "sm_52"), ("6.0", "sm_60"), ("6.0", "sm_70"), ("6.3", "sm_75"), ("7.0", "sm_75"),
        ("7.0", "sm_80"), ("7.8", "sm_80"), ("8.0", "sm_80"), ("9.0", "sm_80"), ("7.1", "sm_86"), ("7.8", "sm_89"),
        ("7.8", "sm_90"), ("9.0", "sm_90"), ("8.0", "sm_90a"), ("9.0", "sm_90a"),
    ):  # fmt: skip
        text, made = _entry("", version=version, target=target), P()
        if t("cuModuleLoadData", ct.byref(made), text, about=f"{version} {target}") == 0:
            _said(t, _kernel(t, made), f"{version} {target}")
    for option, number in ((0, 16), (0, 40), (9, 80), (9, 90), (7, 0), (7, 4), (11, 1), (12, 1), (15, 1)):
        options, values = (ct.c_int * 1)(option), (P * 1)(number)
        about, made = f"option {option} {number}", P()
        if t("cuModuleLoadDataEx", ct.byref(made), PTX, 1, options, values, about=about) == 0:
            _said(t, _kernel(t, made, b"fill"), about)


def function_directives(t: Calls) -> None:
    """Attributes of functions that say how they are launched."""
    t.begin()
    for about, directives in {**_KERNELS, **_CLUSTERS}.items():
        made = P()
        text = _entry("", directives=directives)
        if t("cuModuleLoadData", ct.byref(made), text, about=about) == 0:
            _said(t, _kernel(t, made), about)


def function_memory(t: Calls) -> None:
    """Attributes of functions with memory of their own."""
    t.begin()
    for about, body in _BODIES.items():
        for size in (4, 1000, 4096, 40_000, 49_152):
            made = P()
            constant = f".const .align 4 .b8 c[{size}];" if about == "constant" else ""
            text = _entry(constant, body.format(size=size) if "{size}" in body else body)
            if t("cuModuleLoadData", ct.byref(made), text, about=f"{about} {size}") == 0:
                _said(t, _kernel(t, made), f"{about} {size}")
    for about, module in {
        "dynamic shared": ".extern .shared .align 16 .b8 d[];",
        "shared of the module": ".shared .align 16 .b8 d[2000];",
        "global of the module": ".visible .global .align 4 .b8 d[2000];",
        "constants that nothing reads": ".const .align 4 .b8 d[2000];",
    }.items():
        made = P()
        if t("cuModuleLoadData", ct.byref(made), _entry(module), about=about) == 0:
            _said(t, _kernel(t, made), about)


def images_taken(t: Calls) -> None:
    """Which of the images in a fatbin is taken, and what is reported of it."""
    t.begin()
    to = t.memory(4)
    for path in sorted(IMAGES.glob("*.fatbin")):
        image, made, found = ct.create_string_buffer(path.read_bytes()), P(), P()
        t.do("cuMemsetD32_v2", at(to), 0, 1)
        if t("cuModuleLoadData", ct.byref(made), image, about=path.stem):
            continue
        function = _kernel(t, made, b"which")
        t("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, t.pointers(N(to)), None, about=path.stem)
        t.told(f"which {path.stem}", t.words(to, 1))
        _said(t, function, path.stem)
        t("cuLibraryLoadData", ct.byref(found), image, None, None, 0, None, None, 0, about=path.stem)


_SIZES: Final = (
    1, 4, 100, 256, 257, 511, 512, 513, 4095, 4096, 4097, 1 << 15, 1 << 16, (1 << 16) + 1, 1 << 19, (1 << 20) - 1,
    1 << 20, (1 << 20) + 1, (1 << 21) - 1, 1 << 21, (1 << 21) + 1, 3 << 20, 1 << 22, 5 << 20, 1 << 24, (1 << 24) + 1,
)  # fmt: skip


def _aligned(address: int, most: int = 1 << 21) -> int:
    """What an address is a multiple of, a power of two."""
    return min(address & -address, most) if address else 0


def places(t: Calls) -> None:
    """Of what addresses are multiples: of several allocations of each size, as the first may lie well by chance."""
    t.begin()
    stream, pitch, made = t.stream(), N(), N()
    for size in _SIZES:
        t.told(f"cuMemAlloc of {size}", min(_aligned(t.memory(size)) for _ in range(9)))
    calls: dict[str, Callable[[int], Any]] = {
        "cuMemAllocManaged": lambda size: t.do("cuMemAllocManaged", ct.byref(made), size, 1),
        "cuMemAllocAsync": lambda size: t.do("cuMemAllocAsync", ct.byref(made), size, stream),
        "cuMemAllocHost": lambda size: t.do("cuMemAllocHost_v2", ct.byref(made), size),
        "cuMemHostAlloc": lambda size: t.do("cuMemHostAlloc", ct.byref(made), size, 2),
    }
    for name, call in calls.items():
        for size in _SIZES:
            least = 1 << 21
            for _ in range(9):
                call(size)
                least = min(least, _aligned(made.value))
            t.told(f"{name} of {size}", least)
    for width in (1, 32, 100, 512, 513, 4000, 70_000):
        t.do("cuMemAllocPitch_v2", ct.byref(made), ct.byref(pitch), width, 5, 4)
        t.told(f"cuMemAllocPitch of {width}", pitch.value, _aligned(made.value, 512))
    start, whole = N(), N()
    for size in _SIZES:
        address = t.memory(size)
        t("cuMemGetAddressRange_v2", ct.byref(start), ct.byref(whole), at(address), about=str(size), gives=whole)


_POINTER_ATTRIBUTES: Final = {2: 4, 8: 1, 9: 4, 10: 1, 14: 8, 16: 4, 5: 8, 18: 4, 19: 1, 21: 8}
"""With their widths in bytes; those that are addresses stand elsewhere."""


def pointers_valued(t: Calls) -> None:
    """Attributes of pointers to memory of every kind."""
    t.begin()
    made, stream, size = N(), t.stream(), N()
    own = ct.create_string_buffer(8192)
    variable = P()
    t.do("cuModuleGetGlobal_v2", ct.byref(variable), ct.byref(size), t.module(), b"room")
    places: dict[str, int] = {"device": t.memory(1000), "variable": variable.value or 0, "plain": ct.addressof(own)}
    for name, arguments in {
        "managed": ("cuMemAllocManaged", 1000, 1),
        "managed for the host": ("cuMemAllocManaged", 1000, 2),
        "pool": ("cuMemAllocAsync", 1000, stream),
        "host": ("cuMemAllocHost_v2", 1000),
        "host mapped": ("cuMemHostAlloc", 1000, 2),
        "host written only": ("cuMemHostAlloc", 1000, 7),
    }.items():
        call, *rest = arguments
        t.do(call, ct.byref(made), *rest)
        places[name] = made.value
    for name, address in places.items():
        for attribute, width in _POINTER_ATTRIBUTES.items():
            data = ct.create_string_buffer(b"\x5a" * 64, 64)

            def value(data: Any = data, width: int = width) -> int:
                return int.from_bytes(data.raw[:width], "little")

            t("cuPointerGetAttribute", data, attribute, at(address), about=name, gives=value)


def clusters_valued(t: Calls) -> None:
    """How many clusters, and how large ones, a device holds."""
    t.begin()
    made, count = P(), I()
    t.do("cuModuleLoadData", ct.byref(made), _entry(""))
    kernel = _kernel(t, made)
    t.do("cuFuncSetAttribute", kernel, 8, 200_000)
    t.do("cuFuncSetAttribute", kernel, 14, 1)
    for shared in (0, 1000, 50_000, 100_000, 200_000):
        for block in (32, 128, 384, 1024):
            for cluster in (0, 1, 2, 4, 8, 16, 32):
                about = f"{shared} {block} {cluster}"
                asked = [(4, cluster, 1, 1)] if cluster else []
                config = configuration((max(cluster, 1) * 64, 1, 1), (block, 1, 1), shared, None, asked)
                t("cuOccupancyMaxActiveClusters", ct.byref(count), kernel, config, about=about, gives=count)
            config = configuration((64, 1, 1), (block, 1, 1), shared, None, [])
            about = f"{shared} {block}"
            t("cuOccupancyMaxPotentialClusterSize", ct.byref(count), kernel, config, about=about, gives=count)


def contexts_valued(t: Calls) -> None:
    """Versions, modes and properties."""
    t.begin()
    value, flag, number = ct.c_uint(), I(), N()
    t("cuCtxGetApiVersion", None, ct.byref(value), gives=value)
    t("cuCtxGetApiVersion", t.context, ct.byref(value), gives=value)
    t("cuModuleGetLoadingMode", ct.byref(flag), gives=flag)
    t("cuDriverGetVersion", ct.byref(flag), gives=flag)
    t("cuDeviceGetAttribute", ct.byref(flag), 16, 0, about="multiprocessors", gives=flag)
    text = ct.create_string_buffer(56)  # 14 numbers, of which the recording has the first ten
    t("cuDeviceGetProperties", text, 0, gives=lambda: list(struct.unpack("<10i", text.raw[:40])))
    t("cuDeviceComputeCapability", ct.byref(flag), ct.byref(value), 0, gives=(flag, value))
    kernel = t.function(b"empty")
    t("cuFuncIsLoaded", ct.byref(flag), kernel, gives=flag)
    for kind in range(2):
        t("cuDeviceGetExecAffinitySupport", ct.byref(flag), kind, 0, gives=flag)
    for form, channels in ((1, 1), (2, 2), (3, 4), (0x20, 1), (0x20, 4), (0x10, 2)):
        about = f"{form} {channels}"
        t("cuDeviceGetTexture1DLinearMaxWidth", ct.byref(number), form, channels, 0, about=about, gives=number)
    operations = (ct.c_int * 13)(*range(13))
    said = (ct.c_uint * 13)()
    t("cuDeviceGetHostAtomicCapabilities", said, operations, 13, 0, gives=lambda: list(said))
    stream = t.stream()
    data = ct.create_string_buffer(64)
    for attribute in range(1, 10):
        t("cuStreamGetAttribute", stream, attribute, data, gives=lambda: data.raw[:16].hex())  # noqa: PLW0108 - read after the call


def graphics(t: Calls) -> None:
    """Doors to graphics, where there are none."""
    t.begin()
    made, count, devices = P(), ct.c_uint(7), (I * 4)()
    t("cuGraphicsGLRegisterBuffer", ct.byref(made), 1, 0)
    t("cuGraphicsGLRegisterImage", ct.byref(made), 1, 0x0DE1, 0)
    t("cuGraphicsGLRegisterBuffer", None, 1, 0)
    t("cuGLGetDevices_v2", ct.byref(count), devices, 4, 1, gives=count)
    t("cuGraphicsEGLRegisterImage", ct.byref(made), None, 0)
    t("cuGraphicsVDPAURegisterVideoSurface", ct.byref(made), 0, 0)
    t("cuEGLStreamConsumerConnect", ct.byref(made), None)
    t("cuDevResourceDestroyDesc", None)
    t("cuGraphicsUnregisterResource", None)
    t("cuGraphicsMapResources", 0, None, None)
    t("cuGLInit")


_COPY: Final = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u32 skew, .param .u32 bytes, .param .u32 x)
{
    .shared .align 128 .b8 room[4096];
    .shared .align 8 .b64 bar;
    .reg .b64 %m; .reg .b32 %b, %r, %n, %s, %x, %y; .reg .pred %p; .reg .b64 %state;
    mov.u32 %b, bar; mov.u32 %r, room; ld.param.u32 %s, [skew]; ld.param.u32 %n, [bytes]; ld.param.u32 %x, [x];
    add.u32 %r, %r, %s; mov.u32 %y, 0;
    mov.b64 %m, map; cvta.param.u64 %m, %m;
    mbarrier.init.shared.b64 [%b], 1;
    fence.proxy.async;
    mbarrier.arrive.expect_tx.shared.b64 %state, [%b], %n;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r], [%m, {%x, %y}], [%b];
WAIT:
    mbarrier.try_wait.shared.b64 %p, [%b], %state;
    @!%p bra WAIT;
    ret;
}
"""


def _map(t: Calls, address: int) -> Any:
    """A map of 64 rows of 16 words at an address, in boxes of 16 by 8."""
    raw = ct.create_string_buffer(256)
    start = -ct.addressof(raw) % 64
    place = P(ct.addressof(raw) + start)
    t.kept.append(raw)
    extents, strides = (ct.c_uint64 * 2)(16, 64), (ct.c_uint64 * 1)(64)
    boxes, steps = (ct.c_uint32 * 2)(16, 8), (ct.c_uint32 * 2)(1, 1)
    t.do("cuTensorMapEncodeTiled", place, 7, 2, N(address), extents, strides, boxes, steps, 0, 0, 0, 0)
    return (ct.c_ubyte * 128).from_address(place.value or 0)


def _copy_ends(name: str, skew: int, change: Callable[[bytearray], None] | None) -> Callable[[Calls], None]:
    def scenario(t: Calls) -> None:
        t.begin()
        made = P()
        t.do("cuModuleLoadData", ct.byref(made), _COPY.encode())
        tensor = bytearray(_map(t, t.memory(1 << 16)))
        if change:
            change(tensor)
        given = (ct.c_ubyte * 128)(*tensor)
        kernel = _kernel(t, made)
        arguments = t.pointers(given, ct.c_uint32(skew), ct.c_uint32(512), ct.c_uint32(0))
        t("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, None, arguments, None, about=name)
        t("cuCtxSynchronize", about=name)

    return scenario


def _zeroed(tensor: bytearray) -> None:
    tensor[:] = bytes(128)


def _wild(tensor: bytearray) -> None:
    tensor[:8] = struct.pack("<Q", 0x7000_0000_0000)


def _odd(tensor: bytearray) -> None:
    tensor[0] |= 8


COPIES: Final = {
    "tensor copy, right": _copy_ends("right", 0, None),
    "tensor copy to a place that is not aligned": _copy_ends("not aligned", 8, None),
    "tensor copy by a map of zeros": _copy_ends("zeros", 0, _zeroed),
    "tensor copy from nowhere": _copy_ends("nowhere", 0, _wild),
    "tensor copy from an odd address": _copy_ends("odd", 0, _odd),
}
"""How illegal copies of tensors end."""

SCENARIOS: Final[dict[str, Callable[[Calls], None]]] = {
    **{
        one.__name__: one
        for one in (
            functions_valued,
            function_versions,
            function_directives,
            function_memory,
            images_taken,
            places,
            pointers_valued,
            clusters_valued,
            contexts_valued,
            graphics,
        )
    },
    **COPIES,
}
