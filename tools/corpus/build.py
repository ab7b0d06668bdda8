"""Build the corpus: `python tools/corpus/build.py [PATTERN]` compiles `tests/corpus/src` into `tests/corpus/*.ptx`.

Each file must be accepted by ptxas for its target and name no folder of the building machine. `manifest.toml` records
the compilers and, for each file, its source, target, options and digest. Files over 64 KiB are kept as `.ptx.xz`.
"""

from __future__ import annotations

import fnmatch
import lzma
import sys
from dataclasses import dataclass
from pathlib import Path

import toolchain

CORPUS = Path(__file__).resolve().parents[2] / "tests" / "corpus"
LARGE_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Build:
    """One file of the corpus.

    Args:
        source: File name under `src`.
        architecture: The target, "sm_90a".
        options: Extra options for nvcc.
        kernel: The kernel of a Triton source.
    """

    source: str
    architecture: str
    options: tuple[str, ...] = ()
    kernel: str = ""

    @property
    def name(self) -> str:
        """The file's name without suffix: source or kernel, target, options."""
        stem = Path(self.source).stem if not self.kernel else f"triton_{self.kernel}"
        return "-".join([stem, self.architecture, *(option.strip("-").replace("=", "_") for option in self.options)])

    def text(self) -> str:
        """The PTX.

        Raises:
            ToolError: A compiler refused the source.
        """
        path = CORPUS / "src" / self.source
        if self.kernel:
            return toolchain.triton(path, self.kernel, self.architecture)
        if path.suffix == ".ptx":
            return path.read_text()
        return toolchain.nvcc(path, self.architecture, self.options)


def _cuda(source: str, architectures: str, *options: str) -> list[Build]:
    return [Build(f"{source}.cu", architecture, options) for architecture in architectures.split()]


def _triton(kernel: str, numbers: str) -> list[Build]:
    return [Build("triton_kernels.py", f"sm_{number}", kernel=kernel) for number in numbers.split()]


BUILDS: tuple[Build, ...] = (
    *_cuda("matrix_moves", "sm_75 sm_80 sm_90 sm_90a sm_100a sm_100f sm_120a"),
    *_cuda("mma", "sm_75 sm_80 sm_89 sm_90 sm_120a"),
    *_cuda("wmma", "sm_75 sm_80 sm_120"),
    *_cuda("wgmma", "sm_90a"),
    *_cuda("tma", "sm_90 sm_90a sm_100a sm_120a"),
    *_cuda("cluster", "sm_90 sm_90a sm_120"),
    *_cuda("tcgen05", "sm_100a sm_103a"),
    *_cuda("textures", "sm_75 sm_90"),
    *_cuda("printing", "sm_80 sm_120"),
    *_cuda("functions", "sm_75 sm_90"),
    *_cuda("functions", "sm_80", "-lineinfo"),
    *_cuda("functions", "sm_80", "-rdc=true"),
    *_cuda("atomics", "sm_75 sm_80 sm_90 sm_120"),
    *_cuda("video", "sm_75 sm_90"),
    *_cuda("integers", "sm_75 sm_90 sm_100"),
    *_cuda("floats", "sm_75 sm_89 sm_90 sm_100a"),
    *_cuda("halves", "sm_75 sm_90"),
    *_cuda("narrow", "sm_80 sm_89 sm_100a sm_120a"),
    *_cuda("groups", "sm_75 sm_80 sm_90"),
    *_cuda("sync", "sm_75 sm_80 sm_90"),
    *_cuda("asynchronous", "sm_80 sm_90"),
    *_cuda("memory", "sm_75 sm_90 sm_100"),
    *_cuda("control", "sm_75 sm_90"),
    *_cuda("control", "sm_80", "-lineinfo"),
    *_cuda("control", "sm_80", "-G"),
    *_cuda("math", "sm_80"),
    *_cuda("math", "sm_90", "-use_fast_math"),
    *_cuda("sorting", "sm_80 sm_120"),
    *_cuda("thrusted", "sm_90"),
    *_cuda("listing", "sm_80 sm_120", "-G"),
    *_cuda("listing", "sm_90", "-lineinfo"),
    Build("directives.ptx", "sm_90"),
    *_triton("softmax", "75 90a"),
    *_triton("layer_norm", "80 100a"),
    *_triton("matmul", "75 80 90a 100a 120a"),
    *_triton("matmul_fp8", "89 90a 100a 120a"),
    *_triton("matmul_int8", "80 90a"),
    *_triton("attention", "80 89 90a 100a 120a"),
    *_triton("scans", "80"),
    *_triton("atomics", "80 90a"),
    *_triton("gelu_dropout", "80 120a"),
)


def _write(build: Build, text: str) -> Path:
    plain, packed = CORPUS / f"{build.name}.ptx", CORPUS / f"{build.name}.ptx.xz"
    plain.unlink(missing_ok=True)
    packed.unlink(missing_ok=True)
    if len(text) <= LARGE_BYTES:
        plain.write_text(text)
        return plain
    packed.write_bytes(lzma.compress(text.encode()))
    return packed


def _ptxas_options(text: str) -> tuple[str, ...]:
    """Modules with functions left open assemble as objects; some want `-c` only."""
    return ("-c",) if ".extern .func" in text else ()


def _manifest(entries: dict[str, tuple[Build, str]]) -> str:
    lines = ["# Written by tools/corpus/build.py.", "[tools]"]
    lines += [f'{tool} = "{version}"' for tool, version in sorted(toolchain.versions().items())]
    for name, (build, digest) in sorted(entries.items()):
        lines += ["", f'["{name}"]', f'source = "{build.source}"', f'target = "{build.architecture}"']
        lines += [f'kernel = "{build.kernel}"'] if build.kernel else []
        lines += [f"options = [{', '.join(repr(option) for option in build.options)}]"] if build.options else []
        lines += [f'sha256 = "{digest}"']
    return "\n".join(lines) + "\n"


def main(pattern: str = "*") -> int:
    """Build what matches the pattern; 1 if anything was refused or names a folder of this machine."""
    failed = 0
    entries: dict[str, tuple[Build, str]] = {}
    for build in BUILDS:
        if not fnmatch.fnmatch(build.name, pattern):
            continue
        try:
            text = build.text()
            toolchain.ptxas(text, build.architecture, _ptxas_options(text))
        except toolchain.ToolError as error:
            print(f"{build.name}: {error}", file=sys.stderr)
            failed = 1
            continue
        if paths := toolchain.paths_in(text):
            print(f"{build.name}: the PTX names {', '.join(paths)}", file=sys.stderr)
            failed = 1
        path = _write(build, text)
        entries[path.name] = (build, toolchain.digest(text))
        print(f"{path.name}: {len(text)} bytes")
    if pattern == "*" and not failed:
        (CORPUS / "manifest.toml").write_text(_manifest(entries))
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
