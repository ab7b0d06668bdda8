"""Write `names.txt` of the CUDA runtime: functions, errors, and where each property of a device lies.

    python tools/runtime_names.py INCLUDE_FOLDER > src/ptxloom/cuda_driver/libcudart/names.txt

The folder is a CUDA toolkit's (`cuda_runtime_api.h`, `driver_types.h`, `cuda_gl_interop.h` and their like). Names,
numbers and offsets are taken, no text. It takes a C compiler, which preprocesses the headers and lays out the
structure.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD = """\
# The runtime's names, written by tools/runtime_names.py: of functions, of symbols that stand for another one, of
# errors; and the properties of a device: offset and bytes in the structure, number of the device's attribute."""

# What compilers of CUDA C++ put into programs; undocumented functions are none of them.
_OF_COMPILERS: Final = (
    "__cudaGetKernel",
    "__cudaInitModule",
    "__cudaLaunchKernel",
    "__cudaPopCallConfiguration",
    "__cudaPushCallConfiguration",
    "__cudaRegisterFatBinary",
    "__cudaRegisterFatBinaryEnd",
    "__cudaRegisterFunction",
    "__cudaRegisterManagedVar",
    "__cudaRegisterVar",
    "__cudaUnregisterFatBinary",
)

# Members of cudaDeviceProp whose attribute is called otherwise, by element.
_OTHERWISE: Final[dict[str, tuple[str, ...]]] = {
    "sharedMemPerBlock": ("MaxSharedMemoryPerBlock",),
    "regsPerBlock": ("MaxRegistersPerBlock",),
    "memPitch": ("MaxPitch",),
    "maxThreadsDim": ("MaxBlockDimX", "MaxBlockDimY", "MaxBlockDimZ"),
    "maxGridSize": ("MaxGridDimX", "MaxGridDimY", "MaxGridDimZ"),
    "totalConstMem": ("TotalConstantMemory",),
    "major": ("ComputeCapabilityMajor",),
    "minor": ("ComputeCapabilityMinor",),
    "deviceOverlap": ("GpuOverlap",),
    "kernelExecTimeoutEnabled": ("KernelExecTimeout",),
    "maxTexture1D": ("MaxTexture1DWidth",),
    "maxTexture1DMipmap": ("MaxTexture1DMipmappedWidth",),
    "maxTexture1DLinear": ("MaxTexture1DLinearWidth",),
    "maxTexture2D": ("MaxTexture2DWidth", "MaxTexture2DHeight"),
    "maxTexture2DMipmap": ("MaxTexture2DMipmappedWidth", "MaxTexture2DMipmappedHeight"),
    "maxTexture2DLinear": ("MaxTexture2DLinearWidth", "MaxTexture2DLinearHeight", "MaxTexture2DLinearPitch"),
    "maxTexture2DGather": ("MaxTexture2DGatherWidth", "MaxTexture2DGatherHeight"),
    "maxTexture3D": ("MaxTexture3DWidth", "MaxTexture3DHeight", "MaxTexture3DDepth"),
    "maxTexture3DAlt": ("MaxTexture3DWidthAlt", "MaxTexture3DHeightAlt", "MaxTexture3DDepthAlt"),
    "maxTextureCubemap": ("MaxTextureCubemapWidth",),
    "maxTexture1DLayered": ("MaxTexture1DLayeredWidth", "MaxTexture1DLayeredLayers"),
    "maxTexture2DLayered": ("MaxTexture2DLayeredWidth", "MaxTexture2DLayeredHeight", "MaxTexture2DLayeredLayers"),
    "maxTextureCubemapLayered": ("MaxTextureCubemapLayeredWidth", "MaxTextureCubemapLayeredLayers"),
    "maxSurface1D": ("MaxSurface1DWidth",),
    "maxSurface2D": ("MaxSurface2DWidth", "MaxSurface2DHeight"),
    "maxSurface3D": ("MaxSurface3DWidth", "MaxSurface3DHeight", "MaxSurface3DDepth"),
    "maxSurface1DLayered": ("MaxSurface1DLayeredWidth", "MaxSurface1DLayeredLayers"),
    "maxSurface2DLayered": ("MaxSurface2DLayeredWidth", "MaxSurface2DLayeredHeight", "MaxSurface2DLayeredLayers"),
    "maxSurfaceCubemap": ("MaxSurfaceCubemapWidth",),
    "maxSurfaceCubemapLayered": ("MaxSurfaceCubemapLayeredWidth", "MaxSurfaceCubemapLayeredLayers"),
    "memoryBusWidth": ("GlobalMemoryBusWidth",),
    "persistingL2CacheMaxSize": ("MaxPersistingL2CacheSize",),
    "sharedMemPerMultiprocessor": ("MaxSharedMemoryPerMultiprocessor",),
    "regsPerMultiprocessor": ("MaxRegistersPerMultiprocessor",),
    "sharedMemPerBlockOptin": ("MaxSharedMemoryPerBlockOptin",),
    "maxBlocksPerMultiProcessor": ("MaxBlocksPerMultiprocessor",),
    "accessPolicyMaxWindowSize": ("MaxAccessPolicyWindowSize",),
    "reservedSharedMemPerBlock": ("ReservedSharedMemoryPerBlock",),
    "singleToDoublePrecisionPerfRatio": ("SingleToDoublePrecisionPerfRatio",),
    "ipcEventSupported": ("IpcEventSupport",),
    "deviceNumaConfig": ("NumaConfig",),
    "deviceNumaId": ("NumaId",),
}

# Members that no attribute tells: zero in every structure, or told by a function of their own.
_WITHOUT: Final = frozenset(
    {"name", "uuid", "luid", "luidDeviceNodeMask", "totalGlobalMem", "unifiedFunctionPointers", "reserved"}
)


def main(include: Path) -> None:
    """Print the file."""
    print(_HEAD)
    api = (include / "cuda_runtime_api.h").read_text()
    version = re.search(r"#define CUDART_VERSION\s+(\d+)", api)
    print(f"version {version[1] if version else 0}")
    text = _preprocessed(include)
    symbols = {*re.findall(r"(?:cudaError_t|const char\s*\*)\s+(cuda\w+)\s*\(", text), *_OF_COMPILERS}
    for symbol in sorted(symbols):
        print(f"function {symbol}")
    streams = {*re.findall(r"#define \w+\s+__CUDART_API_(PTSZ|PTDS)\((\w+)\)", api), ("PTSZ", "__cudaLaunchKernel")}
    for suffix, symbol in sorted(streams, key=lambda found: found[1]):
        print(f"alias {symbol}_{suffix.lower()} {symbol}")
    for name, number in re.findall(r"(cuda(?:Success|Error\w+))\s*=\s*(\d+)", text):
        print(f"error {number} {name}")
    for line in _properties(include, text):
        print(line)


def _preprocessed(include: Path) -> str:
    """The declarations of all headers, with nothing in those of graphics libraries."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("GL/gl.h", "EGL/egl.h", "EGL/eglext.h", "vdpau/vdpau.h"):
            (Path(folder) / name).parent.mkdir(exist_ok=True)
            (Path(folder) / name).touch()
        headers = ("cuda_runtime_api", "cuda_gl_interop", "cuda_egl_interop", "cuda_vdpau_interop")
        command = [
            "cc",
            "-E",
            "-P",
            f"-I{include}",
            f"-I{folder}",
            *(f"-include{include / name}.h" for name in headers),
        ]
        return subprocess.run([*command, "-xc", "/dev/null"], capture_output=True, text=True, check=True).stdout


def _properties(include: Path, text: str) -> Iterator[str]:
    numbers = {name.lower(): int(number) for name, number in re.findall(r"cudaDevAttr(\w+)\s*=\s*(\d+)", text)}
    body = text[text.index("struct cudaDeviceProp") :]
    members = re.findall(r"\b(\w+)(?:\[(\d+)\])?;", body[: body.index("};")])
    of_all = "struct cudaDeviceProp"
    print_members = "".join(
        f'printf("{name} %zu %zu\\n", offsetof({of_all}, {name}), sizeof((({of_all} *)0)->{name}));\n'
        for name, _ in members
    )
    source = f"#include <stdio.h>\n#include <cuda_runtime_api.h>\nint main(void) {{ {print_members}\n"
    source += 'printf("all 0 %zu\\n", sizeof(struct cudaDeviceProp)); }'
    with tempfile.TemporaryDirectory() as work:
        program = Path(work, "layout")
        command = ["cc", f"-I{include}", "-x", "c", "-", "-o", str(program)]
        subprocess.run(command, input=source, text=True, check=True)
        layout = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    counts = {name: int(count or 1) for name, count in members}
    for name, offset, size in (line.split() for line in layout.splitlines()):
        if name in {"all", "uuid", "totalGlobalMem"}:
            yield f"member {name} {offset} {size}"
        if name == "all" or name in _WITHOUT:
            continue
        bytes_each = int(size) // counts[name]
        for i, attribute in enumerate(_OTHERWISE.get(name, (name,))):
            yield f"property {int(offset) + i * bytes_each} {bytes_each} {numbers[attribute.lower()]} {name}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
