"""Every function that is written, called with what no program should: an error comes back, the process goes on.

Arguments are read off the C sources: pointers get NULL or zeros, handles and addresses whatever, sizes the edges of 64
bits. What a function is about to be called with is printed before, so that a crash is known by its last line.

    hostile.py LIBCUDA_SOURCES [LIBCUDART_SOURCES]

With two folders it is the runtime's functions. What it passes on has the arguments of the driver's function; copies
are left out, whose host memory cannot be judged.
"""

import ctypes
import random
import re
import sys
from ctypes import byref, c_void_p
from pathlib import Path

import driver_calls as cuda

ROUNDS = 25
OF_DRIVER, *OF_RUNTIME = map(Path, sys.argv[1:])
LIBRARY = ctypes.CDLL("libcudart.so") if OF_RUNTIME else cuda.LIBRARY
HANDLES = {
    *("handle", "stream", "where", "event", "first", "last", "module", "library", "function", "kernel", "link"),
    *("graph", "exec", "node", "pool", "context", "peer", "child", "to_context", "from_context"),
    *("array", "mipmap", "of", "to", "from", "reference"),
}
WAITING = {"cuStreamWaitValue32_v2", "cuStreamWaitValue64_v2"}  # for a value, which is what they are for
EDGES = (0, 1, 2, 3, 7, 8, 31, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 512, 2**64 - 1)

cuda.begin()
kernel = cuda.function(cuda.module())
array = cuda.allocate(4096)
stream, graph, event = c_void_p(), c_void_p(), c_void_p()
cuda.call("cuStreamCreate", byref(stream), 1)
cuda.call("cuGraphCreate", byref(graph), 0)
cuda.call("cuEventCreate", byref(event), 0)
image, mipmap = c_void_p(), c_void_p()
about = (ctypes.c_uint64 * 5)(16, 8, 0, 0x20 | 1 << 32, 0)  # floats: CUDA_ARRAY3D_DESCRIPTOR
cuda.call("cuArray3DCreate_v2", byref(image), about)
cuda.call("cuMipmappedArrayCreate", byref(mipmap), about, 3)
REAL = [one.value for one in (kernel, stream, graph, event, image, mipmap)]
MAPPED = [line.split()[0].split("-") for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()]
NOWHERE = [one for one in EDGES if not any(int(start, 16) <= one < int(end, 16) for start, end in MAPPED)]
"""Where nothing lies: a sanitizer's own memory may begin early."""

STRUCTURES = {"dim3": 12, "extent": 24, "pitched_pointer": 32, "ipc_handle": 64}  # given by value, in bytes
COPIES = re.compile(r"const (void|char) \*from|char \*linear|\bword ")  # and what does not say what it points to


def functions(sources: Path) -> dict[str, list[str]]:
    """The parameters of every function, as C has them."""
    found: dict[str, list[str]] = {}
    for path in sorted(sources.rglob("*.c")):
        text = path.read_text(encoding="utf-8")
        for name, parameters in re.findall(r"EXPORTED int (cu\w+)\(((?:[^()]|\([^()]*\))*)\)\s*\{", text):
            found[name] = [one.strip() for one in re.split(r",(?![^(]*\))", " ".join(parameters.split()))]
        found |= {name: found[target] for name, target in re.findall(r"^SAME\((cu\w+), (\w+)\)", text, re.MULTILINE)}
    return found


def of_runtime(sources: Path) -> dict[str, list[str]]:
    """The runtime's functions, those that it passes on as the driver's are."""
    passed_on = functions(OF_DRIVER)
    rows = re.findall(
        r"^FORWARD\(\d, (\w+), (\w+)\)", (sources / "forwards.c").read_text(encoding="utf-8"), re.MULTILINE
    )
    found = {name: passed_on[target] for name, target in rows if target in passed_on} | functions(sources)
    return {
        name: told for name, told in found.items() if name.startswith("cuda") and not COPIES.search(", ".join(told))
    }


def _bytes(count: int, draw: random.Random) -> ctypes.Structure:
    """A structure of some numbers."""
    made = type("Given", (ctypes.Structure,), {"_fields_": [("words", ctypes.c_uint32 * (count // 4))]})()
    made.words[:] = [draw.choice([0, 1, 3, 2**31, 2**32 - 1]) for _ in range(count // 4)]
    return made


def anything(draw: random.Random) -> c_void_p:
    """What may stand where a handle should."""
    return c_void_p(draw.choice([0, 1, 2, 0x1234, 2**64 - 16, draw.getrandbits(64), *REAL]))


def value(parameter: str, draw: random.Random) -> tuple[object, object]:
    """An argument, and what has to live as long as the call."""
    name = re.findall(r"\w+", parameter)[-1]
    if "(*" in parameter or parameter == "void":
        return None, None
    by_value = re.match(r"struct (\w+) \w+$", parameter)
    if by_value and by_value[1] in STRUCTURES:
        return _bytes(STRUCTURES[by_value[1]], draw), None
    if re.match(r"handle \w+$|const void \*(function|symbol)$", parameter):
        return anything(draw), None
    if "*" in parameter and not re.match(r"(const )?char \*address$", parameter):
        if parameter.count("*") == 1 and parameter.startswith("void *") and name in HANDLES:
            return anything(draw), None
        room = ctypes.create_string_buffer(1 << 16)
        return (None, None) if draw.random() < 0.4 else (ctypes.cast(room, c_void_p), room)
    return _number(draw, of_device=parameter.startswith("device_pointer") or "*" in parameter), None


def _number(draw: random.Random, *, of_device: bool) -> ctypes.c_uint64:
    """An address on the device or near it, or a size."""
    start = array.value
    if of_device:
        return ctypes.c_uint64(draw.choice([*NOWHERE, start, start + 4095, start + 4096, start - 1, start + (1 << 40)]))
    return ctypes.c_uint64(draw.choice([*EDGES, draw.getrandbits(64), draw.randrange(4096)]))


asked = of_runtime(*OF_RUNTIME) if OF_RUNTIME else functions(OF_DRIVER)
for name, parameters in asked.items():
    if name in WAITING or parameters == ["void"]:
        continue
    for turn in range(ROUNDS):
        draw = random.Random(f"{name} {turn}")
        chosen = [value(one, draw) for one in parameters]
        sys.stdout.write(f"{name} {turn}\n")
        sys.stdout.flush()
        getattr(LIBRARY, name)(*(one for one, _ in chosen))
        if turn % 5 == 0:  # whatever was destroyed or pushed
            cuda.answer("cuDevicePrimaryCtxReset_v2", 0)
            if cuda.answer("cuCtxGetCurrent", byref(now := c_void_p())) or not now.value:
                cuda.begin()
sys.stdout.write("done\n")
