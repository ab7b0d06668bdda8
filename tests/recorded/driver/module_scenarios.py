"""Scenarios: modules, libraries, links, functions, launches, what a failed kernel leaves behind."""

from __future__ import annotations

import ctypes as ct
import struct
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recorded.driver.calls import PTX, I, N, P, at
from recorded.driver.memory_scenarios import bytes_of
from recorded.driver.stream_scenarios import nothing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recorded.driver.calls import Calls

HEAD: Final = b".version 7.8\n.target sm_80\n.address_size 64\n"
_IMAGES: Final = {
    "nothing": b"",
    "words": b"this is no PTX",
    "a head": HEAD,
    "a version too high": b".version 99.0\n.target sm_80\n.address_size 64\n",
    "a target too high": b".version 8.7\n.target sm_120\n.address_size 64\n.visible .entry k() { ret; }\n",
    "an unknown target": b".version 8.0\n.target sm_99\n.address_size 64\n.visible .entry k() { ret; }\n",
    "a syntax error": HEAD + b".visible .entry k() { ret }\n",
    "an unknown name": HEAD + b".visible .entry k() { mov.u32 %r1, nowhere; ret; }\n",
    "an unknown instruction": HEAD + b".visible .entry k() { frobnicate.u32 1; ret; }\n",
    "something external": HEAD + b".extern .func away();\n.visible .entry k() { call.uni away, (); ret; }\n",
    "an external variable": HEAD
    + b".extern .global .u32 away;\n.visible .entry k() { .reg .u32 %r; ld.global.u32 %r, [away]; ret; }\n",
    "an ELF's first bytes": b"\x7fELF\x02\x01\x01" + b"\x00" * 200,
    "a fatbin's first bytes": struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 0),
    "32 bits": b".version 7.8\n.target sm_80\n.address_size 32\n.visible .entry k() { ret; }\n",
    "two of a name": HEAD + b".visible .entry k() { ret; }\n.visible .entry k() { ret; }\n",
    "too much static shared memory": HEAD
    + b".visible .entry k() { .shared .b8 s[50000]; .reg .u64 %a; mov.u64 %a, s; st.shared.u32 [%a], 1; ret; }\n",
}


def images(t: Calls) -> None:
    """What is no image, or none that can be run."""
    t.begin()
    made = P()
    for about, image in _IMAGES.items():
        t("cuModuleLoadData", ct.byref(made), ct.create_string_buffer(image), about=about)
        log, room = ct.create_string_buffer(2000), (ct.c_int * 2)(5, 6)
        values = (P * 2)(ct.addressof(log), 2000)
        t("cuModuleLoadDataEx", ct.byref(made), ct.create_string_buffer(image), 2, room, values, about=about)
        t(
            "cuLibraryLoadData",
            ct.byref(made),
            ct.create_string_buffer(image),
            None,
            None,
            0,
            None,
            None,
            0,
            about=about,
        )
    t("cuModuleLoadData", None, PTX)
    t("cuModuleLoadData", ct.byref(made), None)
    t("cuModuleLoadFatBinary", ct.byref(made), PTX)
    t("cuModuleLoadDataEx", ct.byref(made), PTX, 1, None, None)
    t("cuModuleLoad", ct.byref(made), b"/nowhere/at/all.ptx")
    t("cuModuleLoad", ct.byref(made), None)
    t("cuModuleLoad", None, b"/nowhere/at/all.ptx")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "k.ptx"
        path.write_bytes(PTX)
        t(
            "cuModuleLoad",
            ct.byref(made),
            P(ct.addressof(kept := ct.create_string_buffer(str(path).encode()))),
            about="a file",
        )
        path.write_bytes(b"")
        t("cuModuleLoad", ct.byref(made), kept, about="an empty file")
        t("cuModuleLoad", ct.byref(made), ct.create_string_buffer(folder.encode()), about="a folder")
    for option, value in (
        (0, 16),
        (0, 0),
        (1, 64),
        (7, 4),
        (7, 9),
        (9, 80),
        (9, 90),
        (9, 30),
        (12, 1),
        (13, 1),
        (14, 1),
        (20, 0),
        (40, 1),
        (99, 1),
        (-1, 0),
    ):
        t(
            "cuModuleLoadDataEx",
            ct.byref(made),
            PTX,
            1,
            (ct.c_int * 1)(option),
            (P * 1)(value),
            about=f"option {option} {value}",
        )
    mode = I()
    t("cuModuleGetLoadingMode", ct.byref(mode))
    t("cuModuleGetLoadingMode", None)


def modules(t: Calls) -> None:
    """What a module holds, by name."""
    t.begin()
    module, found, size, count = t.module(), P(), N(), ct.c_uint()
    for name in (b"fill", b"empty", b"hidden", b"base", b"nothing", b"", b"Fill", None):
        t("cuModuleGetFunction", ct.byref(found), module, name)
    t("cuModuleGetFunction", None, module, b"fill")
    t("cuModuleGetFunction", ct.byref(found), None, b"fill")
    for name in (b"base", b"room", b"steady", b"fill", b"nothing", b"", None):
        t("cuModuleGetGlobal_v2", ct.byref(found), ct.byref(size), module, name, gives=size)
    t("cuModuleGetGlobal_v2", None, ct.byref(size), module, b"room", gives=size)
    t("cuModuleGetGlobal_v2", ct.byref(found), None, module, b"room")
    t("cuModuleGetGlobal_v2", None, None, module, b"room")
    t("cuModuleGetGlobal_v2", None, None, module, b"nothing")
    t("cuModuleGetFunctionCount", ct.byref(count), module, gives=count)
    t("cuModuleGetFunctionCount", None, module)
    functions = (P * 20)()
    for wanted in (0, 1, 3, 20):
        t("cuModuleEnumerateFunctions", functions, wanted, module, gives=lambda: sum(bool(one) for one in functions))
    t("cuModuleEnumerateFunctions", None, 3, module)
    first, second = P(), P()
    t("cuModuleGetFunction", ct.byref(first), module, b"fill")
    t("cuModuleGetFunction", ct.byref(second), module, b"fill", gives=lambda: first.value == second.value)
    start, whole, variable = N(), N(), N()
    t("cuModuleGetGlobal_v2", ct.byref(variable), ct.byref(size), module, b"room", gives=size)
    t("cuMemGetAddressRange_v2", ct.byref(start), ct.byref(whole), variable, about="of a variable")
    t("cuMemFree_v2", variable, about="a variable")
    t("cuMemsetD8_v2", variable, 1, 40)
    t("cuModuleGetGlobal_v2", ct.byref(variable), ct.byref(size), module, b"steady", gives=size)
    t("cuMemsetD8_v2", variable, 1, 4, about="a constant")
    t("cuModuleUnload", None)
    t("cuModuleUnload", module)
    t("cuMemsetD8_v2", variable, 1, 4, about="unloaded")


def unloaded(t: Calls) -> None:
    """A module that is gone, and its functions."""
    t.begin()
    module = t.module()
    kernel = t.function(b"empty", module)
    t("cuModuleUnload", module)
    t("cuModuleGetFunction", ct.byref(P()), module, b"fill")
    t("cuModuleUnload", module, about="twice")
    t("cuFuncGetAttribute", ct.byref(I()), 0, kernel, about="unloaded")
    t("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None, about="unloaded")


def libraries(t: Calls) -> None:
    """Libraries and kernels."""
    t.begin()
    library, kernel, function, module, count, size, found, name = (
        P(),
        P(),
        P(),
        P(),
        ct.c_uint(),
        N(),
        P(),
        ct.c_char_p(),
    )
    t("cuLibraryLoadData", ct.byref(library), PTX, None, None, 0, None, None, 0)
    t("cuLibraryLoadData", None, PTX, None, None, 0, None, None, 0)
    t("cuLibraryLoadData", ct.byref(kernel), None, None, None, 0, None, None, 0)
    t("cuLibraryLoadData", ct.byref(kernel), PTX, None, None, 1, None, None, 0)
    t("cuLibraryLoadData", ct.byref(kernel), PTX, None, None, 0, None, None, 1)
    t("cuLibraryLoadFromFile", ct.byref(kernel), b"/nowhere/at/all", None, None, 0, None, None, 0)
    for option in (0, 1, 2, 9):
        t(
            "cuLibraryLoadData",
            ct.byref(found),
            PTX,
            None,
            None,
            0,
            (ct.c_int * 1)(option),
            (P * 1)(0),
            1,
            about=f"option {option}",
        )
    t("cuLibraryGetKernelCount", ct.byref(count), library, gives=count)
    for wanted in (b"fill", b"hidden", b"nothing", b"", None):
        t("cuLibraryGetKernel", ct.byref(kernel), library, wanted)
    t("cuLibraryGetKernel", None, library, b"fill")
    t("cuLibraryGetKernel", ct.byref(found), None, b"fill")
    t("cuLibraryGetKernel", ct.byref(kernel), library, b"mixed")
    kernels = (P * 20)()
    for wanted in (0, 1, 20):
        t("cuLibraryEnumerateKernels", kernels, wanted, library, gives=lambda: sum(bool(one) for one in kernels))
    t("cuLibraryEnumerateKernels", None, 1, library)
    t("cuLibraryGetModule", ct.byref(module), library)
    t("cuLibraryGetModule", None, library)
    t("cuModuleUnload", module, about="of a library")
    t("cuModuleGetFunction", ct.byref(found), module, b"fill", about="of a library's module")
    t("cuKernelGetFunction", ct.byref(function), kernel)
    t("cuKernelGetFunction", None, kernel)
    t("cuKernelGetName", ct.byref(name), kernel, gives=name)
    t("cuKernelGetName", None, kernel)
    t("cuFuncGetName", ct.byref(name), function, gives=name)
    t("cuFuncGetName", None, function)
    t("cuFuncGetModule", ct.byref(found), function, gives=lambda: found.value == module.value)
    t("cuKernelGetLibrary", ct.byref(found), kernel, gives=lambda: found.value == library.value)
    for name_ in (b"base", b"room", b"steady", b"nothing", b"fill"):
        t("cuLibraryGetGlobal", ct.byref(found), ct.byref(size), library, name_, gives=size)
        t("cuLibraryGetManaged", ct.byref(found), ct.byref(size), library, name_, gives=size)
    t("cuLibraryGetGlobal", None, None, library, b"base")
    t("cuLibraryGetGlobal", ct.byref(found), ct.byref(size), library, None)
    t("cuLibraryGetUnifiedFunction", ct.byref(found), library, b"fill")
    offset, wide = N(), N()
    for index in range(6):
        t("cuKernelGetParamInfo", kernel, index, ct.byref(offset), ct.byref(wide), gives=(offset, wide))
        t("cuFuncGetParamInfo", function, index, ct.byref(offset), ct.byref(wide), gives=(offset, wide))
    t("cuKernelGetParamInfo", kernel, 1, ct.byref(offset), None, gives=offset)
    t("cuKernelGetParamInfo", kernel, 1, None, ct.byref(wide))
    t("cuKernelGetParamInfo", kernel, (1 << 64) - 1, ct.byref(offset), ct.byref(wide))
    t("cuKernelGetParamCount", kernel, ct.byref(offset), gives=offset)
    t("cuFuncGetParamCount", function, ct.byref(offset), gives=offset)
    t("cuFuncGetParamCount", function, None)
    value = I()
    for attribute in range(-1, 20):
        t("cuKernelGetAttribute", ct.byref(value), attribute, kernel, 0)
    t("cuKernelGetAttribute", ct.byref(value), 0, kernel, 5)
    t("cuKernelSetAttribute", 8, 1000, kernel, 0)
    t("cuKernelGetAttribute", ct.byref(value), 8, kernel, 0, gives=value)
    t("cuKernelSetAttribute", 8, 1000, kernel, 5)
    t("cuKernelSetCacheConfig", kernel, 1, 0)
    t("cuKernelSetCacheConfig", kernel, 9, 0)
    t("cuKernelSetCacheConfig", kernel, 1, 5)
    t(
        "cuLaunchKernel",
        kernel,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        None,
        t.pointers(ct.c_uint8(1), N(2), ct.create_string_buffer(20), ct.c_uint16(3)),
        None,
        about="a kernel of a library",
    )
    t("cuCtxSynchronize")
    t("cuFuncIsLoaded", ct.byref(value), function)
    t("cuFuncLoad", function)
    t("cuFuncIsLoaded", ct.byref(value), function, gives=value)
    t("cuLibraryUnload", None)
    t("cuLibraryUnload", library)
    t("cuLibraryUnload", library, about="twice")


def links(t: Calls) -> None:
    """Link, with and without errors."""
    t.begin()
    link, image, size = P(), P(), N()
    t("cuLinkCreate_v2", 0, None, None, None)
    t("cuLinkCreate_v2", 1, None, None, ct.byref(link))
    t("cuLinkCreate_v2", 0, None, None, ct.byref(link))
    t("cuLinkComplete", link, ct.byref(image), ct.byref(size), about="with nothing")
    t("cuLinkDestroy", link)
    t("cuLinkCreate_v2", 0, None, None, ct.byref(link))
    length = len(PTX)
    for kind in (0, 1, 2, 3, 4, 5, 6, 9, -1):
        t("cuLinkAddData_v2", link, kind, b"nonsense", 8, None, 0, None, None)
    t("cuLinkAddData_v2", link, 1, None, length, None, 0, None, None)
    t("cuLinkAddData_v2", link, 1, PTX, 0, None, 0, None, None)
    t("cuLinkAddFile_v2", link, 1, b"/nowhere/at/all", 0, None, None)
    t("cuLinkAddFile_v2", link, 1, None, 0, None, None)
    t("cuLinkAddData_v2", link, 1, PTX, length + 1, b"a text", 0, None, None)
    t("cuLinkComplete", link, None, ct.byref(size))
    t("cuLinkComplete", link, ct.byref(image), None)
    t("cuLinkDestroy", link)
    t("cuLinkCreate_v2", 0, None, None, ct.byref(link))
    t("cuLinkAddData_v2", link, 1, PTX, length + 1, b"a text", 0, None, None)
    t("cuLinkComplete", link, ct.byref(image), ct.byref(size), gives=lambda: size.value > 0)
    t("cuModuleLoadData", ct.byref(P()), image)
    t("cuLinkComplete", link, ct.byref(image), ct.byref(size), about="twice")
    t("cuLinkAddData_v2", link, 1, PTX, length + 1, b"a text", 0, None, None, about="completed")
    t("cuLinkDestroy", link)
    for about, text in (
        ("a syntax error", HEAD + b".visible .entry k() { ret }\0"),
        (
            "something that is nowhere",
            HEAD + b".extern .func away();\n.visible .entry k() { call.uni away, (); ret; }\0",
        ),
    ):
        t("cuLinkCreate_v2", 0, None, None, ct.byref(link))
        t("cuLinkAddData_v2", link, 1, text, len(text), b"a text", 0, None, None, about=about)
        t("cuLinkComplete", link, ct.byref(image), ct.byref(size), about=about)
        t("cuLinkDestroy", link)
    t("cuLinkCreate_v2", 0, None, None, ct.byref(link))
    for _ in range(2):
        t("cuLinkAddData_v2", link, 1, PTX, length + 1, b"a text", 0, None, None, about="the same names")
    t("cuLinkComplete", link, ct.byref(image), ct.byref(size), about="the same names")


_SAID: Final = {0, 1, 2, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15}
"""Attributes whose values do not depend on who compiles."""


def functions(t: Calls) -> None:
    """Attributes of functions, read and set."""
    t.begin()
    module, value = t.module(), I()
    for name in (b"fill", b"mixed", b"empty", b"small", b"exact", b"statically"):
        kernel = t.function(name, module)
        for attribute in (*range(-1, 18), 100):
            t(
                "cuFuncGetAttribute",
                ct.byref(value),
                attribute,
                kernel,
                about=name.decode(),
                gives=value if attribute in _SAID - {5, 6} else (),
            )
    kernel = t.function(b"statically", module)
    t("cuFuncGetAttribute", None, 0, kernel)
    for attribute in (0, 1, 2, 3, 4, 5, 6, 7, 10, 16, 17, 100, -1):
        t("cuFuncSetAttribute", kernel, attribute, 1)
    for attribute, wanted in (
        (8, 0),
        (8, 48128),
        (8, 49152),
        (8, 100_000),
        (8, 231_424),
        (8, 231_425),
        (8, 232_448),
        (8, 1 << 20),
        (8, -1),
        (9, -1),
        (9, 0),
        (9, 100),
        (9, 101),
        (9, -2),
        (11, 2),
        (11, 0),
        (12, 1),
        (13, 1),
        (14, 0),
        (14, 1),
        (14, 5),
        (15, 0),
        (15, 1),
        (15, 2),
        (15, 5),
    ):
        t("cuFuncSetAttribute", kernel, attribute, wanted)
        t("cuFuncGetAttribute", ct.byref(value), attribute, kernel, gives=value)
    for config in (0, 1, 2, 3, 4, -1):
        t("cuFuncSetCacheConfig", kernel, config)
        t("cuFuncSetSharedMemConfig", kernel, config)
    t("cuFuncSetCacheConfig", None, 0)


def occupancy(t: Calls) -> None:
    """How many CTAs fit, and what may not be asked."""
    t.begin()
    module, blocks, grid, size = t.module(), I(), I(), N()
    kernel = t.function(b"empty", module)
    ask = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
    for name in (b"empty", b"small", b"exact", b"statically"):
        one = t.function(name, module)
        for threads in (-1, 0, 1, 31, 32, 33, 64, 65, 128, 256, 512, 1000, 1024, 1025):
            t(ask, ct.byref(blocks), one, threads, 0, about=name.decode(), gives=blocks)
    for shared in (1, 1024, 10_000, 48 << 10, 49_153, 100_000, 227 << 10, 228 << 10, 1 << 30):
        t(ask, ct.byref(blocks), kernel, 64, shared, gives=blocks)
    t("cuFuncSetAttribute", kernel, 8, 100_000)
    for shared in (49_153, 100_000, 100_001):
        t(ask, ct.byref(blocks), kernel, 64, shared, gives=blocks)
    t(ask, None, kernel, 64, 0)
    for flags in (0, 1, 2):
        t(ask + "WithFlags", ct.byref(blocks), kernel, 64, 0, flags, gives=blocks)
        t(
            "cuOccupancyMaxPotentialBlockSizeWithFlags",
            ct.byref(grid),
            ct.byref(blocks),
            kernel,
            None,
            0,
            0,
            flags,
            gives=blocks,
        )
    for shared, limit in (
        (0, 0),
        (0, 100),
        (0, 64),
        (0, 5),
        (0, 2000),
        (0, -1),
        (10_000, 0),
        (90_000, 0),
        (100_001, 0),
    ):
        t(
            "cuOccupancyMaxPotentialBlockSize",
            ct.byref(grid),
            ct.byref(blocks),
            kernel,
            None,
            shared,
            limit,
            gives=blocks,
        )
    t("cuOccupancyMaxPotentialBlockSize", None, ct.byref(blocks), kernel, None, 0, 0)
    for count, threads in ((1, 32), (0, 32), (1, 0), (-1, 32), (2, 1024), (32, 64), (33, 64), (4, 1025), (16, 128)):
        t("cuOccupancyAvailableDynamicSMemPerBlock", ct.byref(size), kernel, count, threads, gives=size)
    t("cuOccupancyAvailableDynamicSMemPerBlock", None, kernel, 1, 32)
    for grid_x, block, attributes in (
        (8, 64, ()),
        (8, 64, (4, 2, 1, 1)),
        (8, 64, (4, 8, 1, 1)),
        (16, 64, (4, 16, 1, 1)),
        (8, 0, ()),
        (8, 2000, ()),
    ):
        config = configuration((grid_x, 1, 1), (block, 1, 1), 0, None, [attributes] if attributes else [])
        t(
            "cuOccupancyMaxPotentialClusterSize",
            ct.byref(blocks),
            kernel,
            config,
            about=str((grid_x, block, attributes)),
            gives=blocks,
        )
        t("cuOccupancyMaxActiveClusters", ct.byref(blocks), kernel, config, about=str((grid_x, block, attributes)))
    t("cuOccupancyMaxPotentialClusterSize", ct.byref(blocks), kernel, None)


_KEPT: Final[list[Any]] = []


def configuration(
    grid: Sequence[int], block: Sequence[int], shared: int, stream: int | None, attributes: Sequence[Sequence[int]]
) -> Any:
    """A `CUlaunchConfig`; attributes are a number and up to 16 words."""
    packed = b"".join(
        struct.pack("<i4x", one[0]) + struct.pack(f"<{len(one) - 1}i", *one[1:]).ljust(64, b"\0") for one in attributes
    )
    room = ct.create_string_buffer(packed, max(len(packed), 1))
    _KEPT.append(room)
    return bytes_of(
        "<7I4xQQI4x", *grid, *block, shared, stream or 0, ct.addressof(room) if attributes else 0, len(attributes)
    )


def launches(t: Calls) -> None:
    """Launches of every wrong shape, with parameters missing."""
    t.begin()
    module, a, stream = t.module(), t.memory(4096), t.stream()
    kernel, empty, small, exact, static = (
        t.function(one, module) for one in (b"fill", b"empty", b"small", b"exact", b"statically")
    )
    for grid, block, shared in (
        ((1, 1, 1), (32, 1, 1), 0),
        ((0, 1, 1), (32, 1, 1), 0),
        ((1, 0, 1), (32, 1, 1), 0),
        ((1, 1, 0), (32, 1, 1), 0),
        ((1, 1, 1), (0, 1, 1), 0),
        ((1, 1, 1), (1, 0, 1), 0),
        ((1, 1, 1), (1, 1, 0), 0),
        ((1, 1, 1), (1025, 1, 1), 0),
        ((1, 1, 1), (1, 1025, 1), 0),
        ((1, 1, 1), (1, 1, 65), 0),
        ((1, 1, 1), (1, 1, 64), 0),
        ((1, 1, 1), (512, 2, 1), 0),
        ((1, 1, 1), (512, 3, 1), 0),
        ((2**31 - 1, 0, 1), (1, 1, 1), 0),
        ((2**31, 1, 1), (1, 1, 1), 0),
        ((1, 65536, 1), (1, 1, 1), 0),
        ((1, 1, 65536), (1, 1, 1), 0),
        ((1, 65535, 1), (1, 1, 1), 0),
        ((1, 1, 1), (32, 1, 1), 48 << 10),
        ((1, 1, 1), (32, 1, 1), (48 << 10) + 1),
        ((1, 1, 1), (32, 1, 1), 1 << 20),
        ((1, 1, 1), (32, 1, 1), 2**32 - 1),
        ((2**32 - 1, 1, 1), (1, 1, 1), 0),
    ):
        t("cuLaunchKernel", empty, *grid, *block, shared, stream, None, None)
    for threads in ((64, 1, 1), (65, 1, 1), (32, 2, 1), (1, 1, 1)):
        t("cuLaunchKernel", small, 1, 1, 1, *threads, 0, stream, None, None, about="at most 64")
    for threads in ((32, 2, 1), (64, 1, 1), (32, 1, 1), (2, 32, 1)):
        t("cuLaunchKernel", exact, 1, 1, 1, *threads, 0, stream, None, None, about="32 by 2")
    to = N(a)
    for shared in (0, 47 << 10, 48 << 10):
        t("cuLaunchKernel", static, 1, 1, 1, 1, 1, 1, shared, stream, t.pointers(to), None, about="1 KiB of its own")
    t("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, stream, None, None, about="no parameters")
    t("cuLaunchKernel", empty, 1, 1, 1, 32, 1, 1, 0, stream, t.pointers(to), None, about="parameters for none")
    t("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, stream, t.pointers(to, ct.c_uint32(8)), None)
    data, size = struct.pack("<QI", a + 256, 8), N(12)
    kept = ct.create_string_buffer(data, len(data))
    extra = (P * 5)(1, ct.addressof(kept), 2, ct.addressof(size), 0)
    t("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, stream, None, extra, about="one buffer")
    t("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, stream, t.pointers(to, ct.c_uint32(8)), extra, about="both")
    for bytes_ in (0, 8, 11, 13, 16, 64):
        long = ct.create_string_buffer(data, 64)
        told = N(bytes_)
        more = (P * 5)(1, ct.addressof(long), 2, ct.addressof(told), 0)
        t("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, stream, None, more, about=f"a buffer of {bytes_}")
    t("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, stream, None, (P * 1)(0), about="an empty list")
    t(
        "cuLaunchKernel",
        kernel,
        1,
        1,
        1,
        32,
        1,
        1,
        0,
        stream,
        None,
        (P * 3)(1, ct.addressof(kept), 0),
        about="a buffer without a size",
    )
    t("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, stream, None, (P * 3)(7, 7, 0), about="an unknown word")
    t("cuStreamSynchronize", stream)
    t("cuMemsetD8_v2", at(a), 0, 4096)
    t("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, stream, t.pointers(to, ct.c_uint32(4)), None)
    t("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, None, t.pointers(N(a + 16), ct.c_uint32(2)), None)
    t.told("words", t.words(a, 8))
    multiprocessors = I()
    t.do("cuDeviceGetAttribute", ct.byref(multiprocessors), 16, 0)
    blocks = multiprocessors.value * 32
    for count, threads in ((1, 1), (blocks // 2, 1), (blocks, 64), (0, 1)):
        t(
            "cuLaunchCooperativeKernel",
            empty,
            P(count),
            1,
            1,
            threads,
            1,
            1,
            0,
            stream,
            None,
            about=f"{count / blocks:.3f} of the device" if count > 1 else str(count),
        )
    t("cuLaunchCooperativeKernel", empty, P(blocks + 1), 1, 1, 64, 1, 1, 0, stream, None, about="one too many")
    t("cuLaunchCooperativeKernel", empty, P(blocks * 40), 1, 1, 64, 1, 1, 0, stream, None, about="far too many")
    t("cuLaunchCooperativeKernel", empty, 1, 1, 1, 1, 1, 1, 0, None, None, about="the default stream")
    t("cuStreamSynchronize", stream)
    t("cuLaunch", empty)
    t("cuLaunchGrid", empty, 1, 1)
    t("cuFuncSetBlockShape", empty, 32, 1, 1)
    t("cuFuncSetSharedSize", empty, 64)
    t("cuParamSetSize", empty, 0)
    t("cuLaunchGridAsync", empty, 1, 1, stream)
    t("cuCtxSynchronize")


def extended(t: Calls) -> None:
    """`cuLaunchKernelEx` with attributes, right and wrong."""
    t.begin()
    module, stream = t.module(), t.stream()
    empty = t.function(b"empty", module)
    event, other = t.event(2), t.stream()

    def low(box: P) -> tuple[int, int]:
        number = box.value or 0
        return number & 0xFFFFFFFF, number >> 32

    tries: dict[str, tuple[tuple[int, ...], ...]] = {
        "none": (),
        "a cluster": ((4, 2, 1, 1),),
        "a cluster of 8": ((4, 8, 1, 1),),
        "a cluster of 16": ((4, 16, 1, 1),),
        "a cluster of 3": ((4, 3, 1, 1),),
        "a cluster of 0": ((4, 0, 1, 1),),
        "a cluster of nothing": ((4, 0, 0, 0),),
        "a cluster of 2 by 2": ((4, 2, 2, 1),),
        "cooperative": ((2, 1),),
        "not cooperative": ((2, 0),),
        "both": ((2, 1), (4, 2, 1, 1)),
        "programmatic": ((6, 1),),
        "priority": ((8, -1),),
        "a priority beyond": ((8, -100),),
        "ignored": ((0,),),
        "unknown 18": ((18, 1),),
        "unknown 50": ((50, 1),),
        "unknown -1": ((-1, 1),),
        "a policy": ((5, 1),),
        "a policy 9": ((5, 9),),
        "shared memory of 50": ((14, 50),),
        "shared memory of 500": ((14, 500),),
        "a window of nothing": ((1,),),
        "memory domain 0": ((9, 0, 1),),
        "memory domains 0, 1": ((9, 0, 1),),
        "a domain 2": ((10, 0),),
        "remote domain": ((10, 1),),
        "domain 9": ((10, 9),),
        "an event": ((7, *low(event), 0, 0),),
        "an event, at its start": ((7, *low(event), 0, 1),),
        "completion": ((12, *low(event), 0),),
        "no event": ((7, 0, 0, 0, 0),),
        "twice a cluster": ((4, 2, 1, 1), (4, 4, 1, 1)),
        "synchronisation": ((3, 1),),
        "preferred cluster": ((4, 2, 1, 1), (11, 4, 1, 1)),
        "preferred without": ((11, 4, 1, 1),),
        "updatable": ((13, 1, 0, 0),),
    }
    for about, attributes in tries.items():
        t(
            "cuLaunchKernelEx",
            configuration((16, 1, 1), (32, 1, 1), 0, stream.value, attributes),
            empty,
            None,
            None,
            about=about,
        )
    t(
        "cuLaunchKernelEx",
        configuration((16, 1, 1), (0, 1, 1), 0, stream.value, ()),
        empty,
        None,
        None,
        about="no threads",
    )
    t("cuLaunchKernelEx", None, empty, None, None)
    t(
        "cuLaunchKernelEx",
        bytes_of("<7I4xQQI4x", 1, 1, 1, 1, 1, 1, 0, 0, 0, 1),
        empty,
        None,
        None,
        about="attributes without any",
    )
    t("cuFuncSetAttribute", empty, 14, 1)
    t(
        "cuLaunchKernelEx",
        configuration((16, 1, 1), (32, 1, 1), 0, stream.value, ((4, 16, 1, 1),)),
        empty,
        None,
        None,
        about="16, allowed",
    )
    t(
        "cuLaunchKernelEx",
        configuration((32, 1, 1), (32, 1, 1), 0, stream.value, ((4, 32, 1, 1),)),
        empty,
        None,
        None,
        about="32, allowed",
    )
    t("cuStreamSynchronize", stream)
    t("cuStreamSynchronize", other)


_FAULTS: Final = {
    "a store to nowhere": "mov.u64 %a, 4096; st.global.u32 [%a], 1;",
    "a store to null": "mov.u64 %a, 0; st.global.u32 [%a], 1;",
    "a load far away": "mov.u64 %a, 0x7000000000000000; ld.global.u32 %x, [%a]; st.shared.u32 [s], %x;",
    "a misaligned store": "ld.param.u64 %a, [to]; add.u64 %a, %a, 2; st.global.u32 [%a], 1;",
    "trap": "trap;",
    "shared memory beyond": "mov.u32 %x, 0x1000000; st.shared.u32 [%x], 1;",
    "a misaligned store to shared memory": "mov.u32 %x, s; add.u32 %x, %x, 1; st.shared.u32 [%x], 1;",
    "an assertion": "{ .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 c; "
    "mov.u64 %a, text; cvta.global.u64 %a, %a; st.param.b64 [m], %a; st.param.b64 [f], %a; st.param.b32 [l], 3; "
    "st.param.b64 [n], %a; st.param.b64 [c], 1; call.uni __assertfail, (m, f, l, n, c); }",
}


def _fault(body: str) -> bytes:
    return (
        HEAD
        + b".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);\n"
        b".global .align 1 .b8 text[2] = {65, 0};\n.visible .entry k(.param .u64 to) "
        b"{ .reg .b64 %a; .reg .b32 %x; .shared .align 4 .b8 s[64];\n" + body.encode() + b" ret; }\n"
    )


def _sticky(body: str) -> Callable[[Calls], None]:
    """What every kind of call answers after a kernel has failed."""

    def scenario(t: Calls) -> None:
        t.begin()
        a, stream, event, module = t.memory(4096), t.stream(), t.event(), t.module(_fault(body))
        kernel, graph, made, number, own = t.function(b"k", module), t.graph(), P(), N(), ct.create_string_buffer(64)
        other, pinned = P(), P()
        t.do("cuMemAllocHost_v2", ct.byref(pinned), 64)
        t("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, stream, t.pointers(N(a)), None)
        t("cuStreamSynchronize", stream)
        t("cuStreamQuery", stream)
        t("cuCtxSynchronize")
        t("cuStreamSynchronize", None)
        t("cuLaunchKernel", kernel, 1, 1, 1, 1, 1, 1, 0, stream, t.pointers(N(a)), None, about="again")
        for name, arguments in {
            "cuMemAlloc_v2": (ct.byref(number), 64),
            "cuMemcpyDtoH_v2": (own, at(a), 16),
            "cuMemcpyHtoDAsync_v2": (at(a), own, 16, stream),
            "cuMemsetD8_v2": (at(a), 0, 16),
            "cuMemAllocHost_v2": (ct.byref(made), 64),
            "cuMemGetInfo_v2": (ct.byref(number), ct.byref(N())),
            "cuMemGetAddressRange_v2": (ct.byref(number), ct.byref(N()), at(a)),
            "cuMemAllocAsync": (ct.byref(number), 64, stream),
            "cuPointerGetAttribute": (ct.byref(number), 2, at(a)),
            "cuStreamCreate": (ct.byref(made), 0),
            "cuStreamGetFlags": (stream, ct.byref(number)),
            "cuStreamWaitEvent": (stream, event, 0),
            "cuStreamIsCapturing": (stream, ct.byref(number)),
            "cuStreamBeginCapture_v2": (stream, 2),
            "cuEventCreate": (ct.byref(made), 0),
            "cuEventRecord": (event, stream),
            "cuEventQuery": (event,),
            "cuEventSynchronize": (event,),
            "cuEventElapsedTime_v2": (ct.byref(ct.c_float()), event, event),
            "cuModuleLoadData": (ct.byref(made), PTX),
            "cuModuleGetFunction": (ct.byref(made), module, b"k"),
            "cuModuleGetGlobal_v2": (ct.byref(number), ct.byref(N()), module, b"text"),
            "cuFuncGetAttribute": (ct.byref(number), 0, kernel),
            "cuFuncSetAttribute": (kernel, 8, 100),
            "cuOccupancyMaxActiveBlocksPerMultiprocessor": (ct.byref(number), kernel, 32, 0),
            "cuLibraryLoadData": (ct.byref(made), PTX, None, None, 0, None, None, 0),
            "cuGraphCreate": (ct.byref(made), 0),
            "cuGraphAddEmptyNode": (ct.byref(made), graph, None, 0),
            "cuGraphInstantiateWithFlags": (ct.byref(made), graph, 0),
            "cuLaunchHostFunc": (stream, nothing, None),
            "cuCtxGetCurrent": (ct.byref(made),),
            "cuCtxGetDevice": (ct.byref(number),),
            "cuCtxGetFlags": (ct.byref(number),),
            "cuCtxGetLimit": (ct.byref(number), 0),
            "cuCtxSetLimit": (0, 2048),
            "cuCtxGetApiVersion": (t.context, ct.byref(number)),
            "cuCtxPushCurrent_v2": (t.context,),
            "cuCtxPopCurrent_v2": (ct.byref(made),),
            "cuCtxSetCurrent": (t.context,),
            "cuDeviceGetCount": (ct.byref(number),),
            "cuDeviceGetAttribute": (ct.byref(number), 75, 0),
            "cuDeviceTotalMem_v2": (ct.byref(number), 0),
            "cuDevicePrimaryCtxGetState": (0, ct.byref(number), ct.byref(I())),
            "cuDevicePrimaryCtxRetain": (ct.byref(made), 0),
            "cuDevicePrimaryCtxRelease_v2": (0,),
            "cuDeviceGetDefaultMemPool": (ct.byref(made), 0),
            "cuLinkCreate_v2": (0, None, None, ct.byref(made)),
            "cuMemFree_v2": (at(a),),
            "cuMemFreeHost": (pinned,),
            "cuEventDestroy_v2": (event,),
            "cuStreamDestroy_v2": (stream,),
            "cuModuleUnload": (module,),
            "cuGraphDestroy": (graph,),
            "cuInit": (0,),
            "cuDriverGetVersion": (ct.byref(number),),
            "cuCtxCreate_v2": (ct.byref(other), 0, 0),
        }.items():
            t(name, *arguments)
        t("cuMemAlloc_v2", ct.byref(number), 64, about="in the new context")
        t("cuCtxSetCurrent", t.context)
        t("cuDevicePrimaryCtxReset_v2", 0)
        t("cuMemAlloc_v2", ct.byref(number), 64, about="after the reset")
        t("cuDevicePrimaryCtxRetain", ct.byref(made), 0)
        t("cuCtxSetCurrent", made)
        t("cuMemAlloc_v2", ct.byref(number), 64, about="after the reset, retained again")

    return scenario


SCENARIOS: Final[dict[str, Callable[[Calls], None]]] = {
    **{
        one.__name__: one
        for one in (
            images,
            modules,
            unloaded,
            libraries,
            links,
            functions,
            occupancy,
            launches,
            extended,
        )
    },
    **{f"after {name}": _sticky(body) for name, body in _FAULTS.items()},
}
