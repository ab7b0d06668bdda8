"""Images that lie about how long they are, each where the memory that can be read ends: errors, and no byte beyond.

What a call is about to be given is printed before, so that a crash is known by its last line.
"""

import ctypes
import mmap
import struct
from ctypes import byref, c_int, c_size_t, c_void_p

import driver_calls as cuda

PAGE = mmap.PAGESIZE
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = c_void_p
ROOM = LIBC.mmap(None, c_size_t(3 * PAGE), 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, c_size_t(0))
LIBC.mprotect(c_void_p(ROOM + PAGE), c_size_t(PAGE), 0)
LIBC.munmap(c_void_p(ROOM + 2 * PAGE), c_size_t(PAGE))
END = ROOM + PAGE


def at_end(data: bytes) -> int:
    """Where bytes lie that end where nothing can be read."""
    ctypes.memmove(END - len(data), data, len(data))
    return END - len(data)


def elf(sections: int, count: int = 1, each: int = 64) -> bytes:
    """The header of a cubin."""
    return struct.pack(
        "<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 2, 190, 1, 0, 0, sections, 0, 64, 0, 0, each, count, 0
    )


def section(at: int, size: int, kind: int = 1) -> bytes:
    """The header of a section."""
    return struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, at, size, 0, 0, 0, 0)


def fatbin(size: int, head: int = 16, room: bytes = b"") -> bytes:
    """The header of a fatbin, and what follows."""
    return struct.pack("<IHHQ", 0xBA55ED50, 1, head, size) + room


def wrapper(image: int) -> bytes:
    """What nvcc puts around a fatbin."""
    return struct.pack("<IIQQ", 0x466243B1, 1, image, 0)


IMAGES = {
    **{f"sections at {at:#x}": elf(at) for at in (1 << 30, 1 << 40, 1 << 46, (1 << 63) + 64, 2**64 - 64, 64)},
    "65,535 sections": elf(64, 65535) + section(64, 0),
    "65,535 sections of 65,535 bytes": elf(64, 65535, 65535) + section(64, 0),
    "no room for a section": elf(64, 1, 8),
    **{
        f"a section of {size:#x}": elf(64) + section(64, size) for size in (65, 1 << 39, 1 << 62, 2**64 - 64, 2**64 - 1)
    },
    **{f"a section at {at:#x}": elf(64) + section(at, 1) for at in (128, 1 << 39, 2**64 - 1)},
    "a part of a header": elf(64)[:40],
    **{f"a fatbin of {size:#x}": fatbin(size) for size in (1, PAGE, 1 << 31, 1 << 39, 1 << 40, 2**64 - 16, 2**64 - 1)},
    "a fatbin with a long head": fatbin(0, 65535),
    "a part of a fatbin's head": fatbin(0)[:12],
    **{f"a wrapper of {at:#x}": wrapper(at) for at in (0, 8, END, END - 2, 2**64 - 8, 1 << 63)},
    "a part of a wrapper": wrapper(END)[:12],
    "a text without an end": b".version 8.0\n.target sm_80\n",
    "three bytes of a text": b".ve",
}
ADDRESSES = {"nothing": 8, "what cannot be read": END, "no memory": END + PAGE, "the kernel": 2**64 - 8}


def loads(image: int) -> list[int]:
    """What the functions answer that take an image without its length."""
    made, given = c_void_p(), c_void_p(image)
    nothing = None, None, 0
    return [
        cuda.answer("cuModuleLoadData", byref(made), given),
        cuda.answer("cuModuleLoadDataEx", byref(made), given, 0, None, None),
        cuda.answer("cuModuleLoadFatBinary", byref(made), given),
        cuda.answer("cuLibraryLoadData", byref(made), given, *nothing, *nothing),
    ]


def add(size: int) -> int:
    """What a linker answers to as many bytes."""
    link = c_void_p()
    cuda.call("cuLinkCreate_v2", 0, None, None, byref(link))
    told = cuda.answer(
        "cuLinkAddData_v2", link, c_int(3), c_void_p(at_end(fatbin(1))), c_size_t(size), None, 0, None, None
    )
    cuda.call("cuLinkDestroy", link)
    return told


cuda.begin()
for name, data in IMAGES.items():
    print(name, flush=True)
    print({*loads(at_end(data))}, flush=True)
for name, address in ADDRESSES.items():
    print(name, flush=True)
    print({*loads(address)}, flush=True)
print("a link", flush=True)
print({add(size) for size in (17, 1 << 30, 1 << 39)}, flush=True)
array = cuda.allocate(8)
made = c_void_p()
cuda.call("cuModuleLoadData", byref(made), c_void_p(at_end(cuda.PTX + b"\0")))
cuda.launch(cuda.function(made), array, 2)
print(cuda.read(array, 2))
