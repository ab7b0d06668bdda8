"""Pools of memory of the device, of the host and managed."""

import ctypes
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p

import driver_calls as cuda

ON_DEVICE, ON_HOST, ON_HOST_NODE = 1, 2, 3
TO_FILE = 1
PINNED, MANAGED = 1, 2
MEMORY_TYPE, IS_MANAGED, POOL_OF = 2, 8, 17
USED = 7


class Properties(ctypes.Structure):
    """CUmemPoolProps."""

    _fields_ = (
        ("type", c_int),
        ("handles", c_int),
        ("where", c_int * 2),
        ("security", c_void_p),
        ("most", c_size_t),
        ("reserved", ctypes.c_ubyte * 56),
    )


def pool_of(kind: int, where: int) -> c_void_p:
    """A new pool."""
    made = c_void_p()
    cuda.call("cuMemPoolCreate", byref(made), byref(Properties(kind, 0, (c_int * 2)(where, 0))))
    return made


def attribute(of: c_uint64, which: int, kind: type[c_int | ctypes.c_bool | c_uint64]) -> int:
    """What is known of an address."""
    found = kind()
    cuda.call("cuPointerGetAttribute", byref(found), which, of)
    return int(found.value)


def used(pool: c_void_p) -> int:
    """The bytes that are taken from a pool."""
    found = c_uint64()
    cuda.call("cuMemPoolGetAttribute", pool, USED, byref(found))
    return found.value


cuda.begin()
kernel = cuda.function(cuda.module())
for kind, where, free in (
    (PINNED, ON_DEVICE, "cuMemFreeAsync"),
    (PINNED, ON_HOST, "cuMemFreeAsync"),
    (MANAGED, ON_DEVICE, "cuMemFree_v2"),
    (MANAGED, ON_HOST, "cuMemFree_v2"),
):
    pool, data, flags = pool_of(kind, where), c_uint64(), c_int()
    cuda.call("cuMemAllocFromPoolAsync", byref(data), c_size_t(40), pool, None)
    cuda.launch(kernel, data, 3)
    host = (c_int * 2)(ON_HOST, 0)
    cuda.call("cuMemPoolGetAccess", byref(flags), pool, byref(host))
    told = attribute(data, MEMORY_TYPE, c_int), attribute(data, IS_MANAGED, ctypes.c_bool)
    print(cuda.read(data, 3), *told, attribute(data, POOL_OF, c_uint64) == pool.value, flags.value, used(pool))
    print(cuda.answer("cuMemFreeHost", data), end=" ")
    cuda.call(free, data, *([None] if free.endswith("Async") else []))
    print(used(pool), cuda.answer("cuMemPoolDestroy", pool))

host, first, second = (c_int * 2)(ON_HOST, 0), c_void_p(), c_void_p()
cuda.call("cuMemGetDefaultMemPool", byref(first), byref(host), PINNED)
print(cuda.answer("cuMemPoolDestroy", first), cuda.answer("cuDeviceSetMemPool", 0, first))
mine = pool_of(PINNED, ON_HOST)
cuda.call("cuMemSetMemPool", byref(host), PINNED, mine)
cuda.call("cuMemGetMemPool", byref(second), byref(host), PINNED)
print(second.value == mine.value, cuda.answer("cuMemSetMemPool", byref(host), MANAGED, mine))
print(cuda.answer("cuMemPoolCreate", byref(first), byref(Properties(PINNED, 0, (c_int * 2)(0, 0)))))
empty = c_uint64(1)
cuda.call("cuMemAllocFromPoolAsync", byref(empty), c_size_t(0), mine, None)
print(empty.value, cuda.answer("cuMemFreeAsync", empty, None))

wanted = Properties(PINNED, TO_FILE, (c_int * 2)(ON_HOST, 0))
print(cuda.answer("cuMemPoolCreate", byref(first), byref(wanted)), end=" ")
wanted.where[0] = ON_HOST_NODE
cuda.call("cuMemPoolCreate", byref(first), byref(wanted))
file, data, again, name, flags = c_int(), c_uint64(), c_uint64(), ctypes.create_string_buffer(64), c_int()
cuda.call("cuMemPoolExportToShareableHandle", byref(file), first, TO_FILE, c_uint64(0))
cuda.call("cuMemPoolImportFromShareableHandle", byref(second), c_void_p(file.value), TO_FILE, c_uint64(0))
cuda.call("cuMemAllocFromPoolAsync", byref(data), c_size_t(40), first, None)
cuda.call("cuMemPoolExportPointer", name, data)
cuda.call("cuMemPoolImportPointer", byref(again), second, name)
cuda.call("cuMemPoolGetAccess", byref(flags), second, byref(host))
print(again.value == data.value, flags.value)
