"""Acceptance on what compilers write: hundreds of files from CCCL, CUTLASS, the CuTe DSL and Triton, read and judged.

`python tools/corpus/acceptance.py generate [PATTERN]` compiles into `build/acceptance` what is not there yet (it takes
hours of one core in full, and may be stopped and started again). CUTLASS's headers come from `pip install --no-deps
nvidia-cutlass nvidia-curand`, or from the folder that `CUTLASS` names.

`python tools/corpus/acceptance.py prepare [PATTERN]` asks the machine for every kernel of these files and of the
corpus, up to its machine code, and says which it refuses and why; nothing is launched.

`python tools/corpus/acceptance.py check [--assemble] [PATTERN]` reads every file there and in the corpus with ptxloom
and compares: nothing unread, as many instructions as a count of the text finds, each of them bound to a form, the same
tree from the printed text, no error from the checker and, with `--assemble`, the same machine code from the printed
text (`ptxas -O0`, which keeps every instruction).
"""

from __future__ import annotations

import fnmatch
import importlib.util
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import toolchain

if TYPE_CHECKING:
    from corpus_files import CorpusFile

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "acceptance"
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

ARCHITECTURES = ("sm_80", "sm_90a", "sm_100a", "sm_120a")
TYPES = ("int", "float", "double", "unsigned char", "unsigned long long", "__half")
# Header and call; `in`, `out` and `out2` are arrays of T, `count` an int array, n a number.
CUB = {
    "reduce": ("device_reduce", "cub::DeviceReduce::Sum(space, bytes, in, out, n)"),
    "argmin": ("device_reduce", "cub::DeviceReduce::ArgMin(space, bytes, in, out, (long long *)count, n)"),
    "scan": ("device_scan", "cub::DeviceScan::ExclusiveSum(space, bytes, in, out, n)"),
    "radix_sort": ("device_radix_sort", "cub::DeviceRadixSort::SortKeys(space, bytes, in, out, n)"),
    "radix_pairs": (
        "device_radix_sort",
        "cub::DeviceRadixSort::SortPairsDescending(space, bytes, in, out, out, out2, n)",
    ),
    "merge_sort": ("device_merge_sort", "cub::DeviceMergeSort::SortKeys(space, bytes, out, n, Less{})"),
    "select": ("device_select", "cub::DeviceSelect::If(space, bytes, in, out, count, n, Positive{})"),
    "unique": ("device_select", "cub::DeviceSelect::Unique(space, bytes, in, out, count, n)"),
    "partition": ("device_partition", "cub::DevicePartition::If(space, bytes, in, out, count, n, Positive{})"),
    "run_length": (
        "device_run_length_encode",
        "cub::DeviceRunLengthEncode::Encode(space, bytes, in, out, count, count, n)",
    ),
    "histogram": (
        "device_histogram",
        "cub::DeviceHistogram::HistogramEven(space, bytes, in, count, 17, T(0), T(64), n)",
    ),
    "segmented_reduce": (
        "device_segmented_reduce",
        "cub::DeviceSegmentedReduce::Max(space, bytes, in, out, n, count, count + 1)",
    ),
    "segmented_sort": (
        "device_segmented_sort",
        "cub::DeviceSegmentedSort::SortKeys(space, bytes, in, out, n, n, count, count + 1)",
    ),
    "difference": (
        "device_adjacent_difference",
        "cub::DeviceAdjacentDifference::SubtractLeftCopy(space, bytes, in, out, n)",
    ),
    "reduce_by_key": (
        "device_reduce",
        "cub::DeviceReduce::ReduceByKey(space, bytes, in, out, out, out2, count, cuda::maximum<>{}, n)",
    ),
}
CUB_SOURCE = """#include <cuda_fp16.h>
#include <cub/device/{header}.cuh>
#include <cuda/functional>
using T = {type};
struct Less {{ __host__ __device__ bool operator()(T a, T b) const {{ return a < b; }} }};
struct Positive {{ __host__ __device__ bool operator()(T a) const {{ return a > T(0); }} }};
void run(void *space, size_t &bytes, T *in, T *out, T *out2, int *count, int n) {{ {call}; }}
"""
THRUST = {
    "sort": ("sort", "thrust::sort(thrust::device, p, p + n)"),
    "transform": ("transform", "thrust::transform(thrust::device, p, p + n, q, q, thrust::plus<T>())"),
    "inner_product": ("inner_product", "thrust::inner_product(thrust::device, p, p + n, q, T(0))"),
    "remove": ("remove", "thrust::remove(thrust::device, p, p + n, T(3))"),
    "set_union": ("set_operations", "thrust::set_union(thrust::device, p, p + n, q, q + n, r)"),
    "lower_bound": ("binary_search", "thrust::lower_bound(thrust::device, p, p + n, q, q + n, r)"),
}
THRUST_SOURCE = """#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/{header}.h>
using T = {type};
void run(T *a, T *b, T *c, int n) {{
    auto p = thrust::device_pointer_cast(a), q = thrust::device_pointer_cast(b), r = thrust::device_pointer_cast(c);
    {call};
}}
"""
# The example's number says which: its sources are compiled for each of these targets.
CUTLASS = {
    "sm_80": "00 04 05 06 08 09 12 14 15 16 17 18 19 22 23 24 25 26 27 28 29 30 31 32 33 35 36 37 38 42 43 46 47",
    "sm_90a": "48 49 50 54 55 56 57 61 62 63 67 68 69 88",
    "sm_100a": "70 71 72 73 74 75 76 77 78 81 83 84 86 92",
    "sm_120a": "79 80 87",
}
TRITON_NUMBERS = (75, 80, 86, 89, "90a", "100a", "103a", "110a", "120a")
# Kernel: element types, targets.
DSL = {
    "scale_add": ("Float16 BFloat16 Float32 Int32", "sm_80 sm_89 sm_90a sm_100a sm_120a"),
    "row_softmax": ("Float16 Float32", "sm_80 sm_89 sm_90a sm_100a sm_103a sm_110a sm_120a"),
    "warp_gemm": ("Float16 BFloat16", "sm_80 sm_86 sm_89 sm_90a sm_100a sm_120a"),
    "hopper_gemm": ("Float16 BFloat16", "sm_90a"),
    "blackwell_gemm": ("Float16 BFloat16", "sm_100a sm_103a sm_110a"),
}


@dataclass(frozen=True, slots=True)
class Job:
    """One file to compile.

    Args:
        name: The PTX file's name without suffix.
        architecture: The target.
        source: A file, or nothing where `text` is the source.
        text: CUDA source.
        kernel: The kernel of a source in Triton or the CuTe DSL.
        includes: Folders of headers.
        element: The tensors' type, of a kernel in the CuTe DSL.
    """

    name: str
    architecture: str
    source: Path | None = None
    text: str = ""
    kernel: str = ""
    includes: tuple[Path, ...] = ()
    element: str = ""

    def compile(self) -> str:
        """The PTX.

        Raises:
            ToolError: The compiler refused it.
        """
        if self.source and self.element:
            return toolchain.cute_dsl(self.source, self.kernel, self.element, self.architecture)
        if self.source and self.kernel:
            return toolchain.triton(self.source, self.kernel, self.architecture)
        options = ("--expt-relaxed-constexpr", "-w", *(f"-I{folder}" for folder in self.includes))
        if self.source:
            return toolchain.nvcc(self.source, self.architecture, (*options, f"-I{self.source.parent}"))
        return toolchain.nvcc_text(self.text, self.architecture, options)


def _cutlass_folder() -> Path | None:
    if named := os.environ.get("CUTLASS"):
        return Path(named)
    spec = importlib.util.find_spec("cutlass_library")
    return Path(spec.origin).parent / "source" if spec and spec.origin else None


def _cutlass_jobs() -> list[Job]:
    root = _cutlass_folder()
    if root is None:
        print("CUTLASS is not installed; its share is left out", file=sys.stderr)
        return []
    includes = (root / "include", root / "tools" / "util" / "include", root / "examples" / "common")
    return [
        Job(f"cutlass_{source.stem}-{architecture}", architecture, source, includes=includes)
        for architecture, numbers in CUTLASS.items()
        for number in numbers.split()
        for source in sorted((root / "examples").glob(f"{number}_*/*.cu"))
    ]


def _dsl_jobs() -> list[Job]:
    if importlib.util.find_spec("cutlass") is None:
        print("the CuTe DSL is not installed; its share is left out", file=sys.stderr)
        return []
    source = ROOT / "tools" / "corpus" / "dsl_kernels.py"
    return [
        Job(f"dsl_{kernel}-{element}-{architecture}", architecture, source, kernel=kernel, element=element)
        for kernel, (elements, architectures) in DSL.items()
        for element in elements.split()
        for architecture in architectures.split()
    ]


def jobs() -> tuple[Job, ...]:
    """Everything that `generate` compiles."""
    found: list[Job] = []
    for kind, source, algorithms in (("cub", CUB_SOURCE, CUB), ("thrust", THRUST_SOURCE, THRUST)):
        for name, (header, call) in algorithms.items():
            for number, scalar in enumerate(TYPES):
                architecture = ARCHITECTURES[(number + len(name)) % len(ARCHITECTURES)]
                title = f"{kind}_{name}-{scalar.replace(' ', '_').strip('_')}-{architecture}"
                found.append(Job(title, architecture, text=source.format(header=header, call=call, type=scalar)))
    for source in sorted((ROOT / "tests").glob("*/src/triton_kernels.py")):
        for kernel in toolchain.triton_kernels(source):
            found += [
                Job(f"triton_{source.parents[1].name}_{kernel}-sm_{number}", f"sm_{number}", source, kernel=kernel)
                for number in TRITON_NUMBERS
            ]
    return (*found, *_dsl_jobs(), *_cutlass_jobs())


def _reason(error: toolchain.ToolError) -> str:
    said = [line for line in str(error).splitlines() if "error" in line.lower()]
    return (said or str(error).splitlines())[0][:200]


def generate(pattern: str = "*") -> int:
    """Compile what matches the pattern and is not there yet; what a compiler refuses is reported and left out."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for job in jobs():
        path = FOLDER / f"{job.name}.ptx"
        if path.exists() or not fnmatch.fnmatch(job.name, pattern):
            continue
        start = time.perf_counter()
        try:
            text = job.compile()
        except toolchain.ToolError as error:
            print(f"{job.name}: refused: {_reason(error)}", file=sys.stderr, flush=True)
            continue
        path.write_text(text)
        print(f"{job.name}: {len(text)} bytes, {time.perf_counter() - start:.0f} s", flush=True)
    return 0


def _complaints(text: str, name: str, assemble: bool) -> tuple[int, list[str]]:
    """How many instructions a file has, and what is wrong with how ptxloom reads it."""
    from corpus_files import count_instructions  # noqa: PLC0415 - the tests' folder is put on the path above
    from oracle.cubin import machine_code  # noqa: PLC0415 - likewise
    from ptxloom.checker import check  # noqa: PLC0415 - likewise
    from ptxloom.syntax import instructions, parse  # noqa: PLC0415 - likewise
    from ptxloom.syntax.bind import bind  # noqa: PLC0415 - likewise

    module = parse(text, name=name)
    spelled = {(it.opcode, it.qualifiers, len(it.operands)): it for it in instructions(module)}
    said = [f"{finding.span.line}: {finding.message}" for finding in module.diagnostics]
    said += [f"{it.span.line}: no form: {it}" for it in spelled.values() if bind(it).form is None]
    found = sum(1 for _ in instructions(module))
    if found != (wanted := count_instructions(text)):
        said.append(f"{found} instructions instead of {wanted}")
    printed = str(module)
    if parse(printed).statements != module.statements:
        said.append("the printed text reads differently")
    said += [f"{e.span.line}: {e.rule}: {e.message}" for e in check(module) if e.severity == "error"]
    target = next(part for part in module.target if part.startswith("sm_"))
    if assemble and machine_code(text, target, "-O0") != machine_code(printed, target, "-O0"):
        said.append("the printed text assembles to other machine code")
    return found, said


def _files(pattern: str) -> tuple[CorpusFile, ...]:
    from corpus_files import CorpusFile, corpus_files  # noqa: PLC0415 - the tests' folder is put on the path above

    files = (*corpus_files(), *(CorpusFile(path) for path in sorted(FOLDER.glob("*.ptx"))))
    return tuple(file for file in files if fnmatch.fnmatch(file.path.name, pattern))


def prepare_files(pattern: str) -> int:
    """Prepare every kernel of the files that match; 1 if the machine refuses any."""
    from ptxloom.diagnostics import PtxloomError  # noqa: PLC0415 - the sources are put on the path above
    from ptxloom.machine import kernel  # noqa: PLC0415 - likewise
    from ptxloom.syntax import parse  # noqa: PLC0415 - likewise

    refused = total = 0
    for file in _files(pattern):
        module = parse(file.read(), name=file.path.name)
        for name in [name for name, function in module.functions.items() if function.kind == "entry"]:
            total += 1
            try:
                kernel(module, name)
            except PtxloomError as error:
                refused += 1
                print(f"{file.path.name}: {name}: {error}", flush=True)
    print(f"{total - refused} of {total} kernels can be prepared")
    return 1 if refused else 0


def check_files(pattern: str, *, assemble: bool) -> int:
    """Read every file that matches; 1 if anything is wrong with any."""
    files = _files(pattern)
    total = total_bytes = failed = 0
    start = time.perf_counter()
    for file in files:
        text = file.read()
        count, said = _complaints(text, file.path.name, assemble)
        total, total_bytes, failed = total + count, total_bytes + len(text), failed + bool(said)
        for complaint in said[:5]:
            print(f"{file.path.name}: {complaint}")
    seconds = time.perf_counter() - start
    read = f"{len(files)} files, {total_bytes / 1e6:.1f} MB, {total} instructions"
    print(f"{read}, {failed} files with complaints, {seconds:.0f} s")
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    """The command line."""
    match arguments:
        case ["generate", *rest]:
            return generate(*rest[:1])
        case ["prepare", *rest]:
            return prepare_files(*(rest[:1] or ["*"]))
        case ["check", *rest]:
            named = [each for each in rest if each != "--assemble"]
            return check_files(named[0] if named else "*", assemble="--assemble" in rest)
        case _:
            print(__doc__)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
