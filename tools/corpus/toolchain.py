"""The compilers behind our PTX: nvcc and ptxas from the package index, Triton and the CuTe DSL; none needs a GPU.

Everything written here is free of the building machine: sources are copied into a fresh folder and compiled from
within it, so that line tables name files by their names alone, and what is left of absolute paths is cut off.
"""

from __future__ import annotations

import ast
import contextlib
import fcntl
import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator

_FILE_DIRECTIVE = re.compile(r'(?m)^(\s*\.file\s+\d+\s+")([^"]*)(")')
_BYTES = re.compile(r"\.b8\s+(\d+(?:\s*,\s*\d+)*)")
_COMMA = re.compile(r",(?![^\[]*\])")  # that no brackets hold
_BETWEEN = r"(\s*,\s*|[ \t]*(?://[^\n]*)?\n\s*\.b8\s+)"


class ToolError(Exception):
    """A compiler refused its input; the message is what it printed."""


def _tool(name: str) -> Path:
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations or () if spec else ():
        for candidate in sorted(Path(root).glob(f"cu*/bin/{name}"), reverse=True):
            return candidate
    found = shutil.which(name)
    if found is None:
        raise ToolError(f"{name} is not installed: `pip install nvidia-cuda-nvcc nvidia-cuda-cccl` brings it")
    return Path(found)


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def versions() -> dict[str, str]:
    """Names and versions of the compilers in use."""
    found: dict[str, str] = {}
    for name in ("nvcc", "ptxas"):
        found[name] = re.findall(r"V(\d+\.\d+\.\d+)", _run([str(_tool(name)), "--version"], Path.cwd()))[0]
    if importlib.util.find_spec("triton"):
        found["triton"] = importlib.metadata.version("triton")
    return found


def nvcc(source: Path, architecture: str, options: tuple[str, ...] = ()) -> str:
    """PTX of a CUDA source for `architecture` ("sm_90a").

    Raises:
        ToolError: The compiler refused the source.
    """
    with _fixed_folder() as folder:
        for sibling in source.parent.glob("*.cu*"):
            shutil.copy(sibling, folder)
        command = [str(_tool("nvcc")), "-ptx", f"-arch={architecture}", "-std=c++17", *options]
        _run([*command, "-o", "out.ptx", source.name], folder)
        return without_paths((folder / "out.ptx").read_text(), folder)


def nvcc_text(text: str, architecture: str, options: tuple[str, ...] = ()) -> str:
    """PTX of CUDA source in a string.

    Raises:
        ToolError: The compiler refused it.
    """
    with tempfile.TemporaryDirectory(prefix="ptxloom") as name:
        source = Path(name) / "source.cu"
        source.write_text(text)
        return nvcc(source, architecture, options)


@contextlib.contextmanager
def _fixed_folder() -> Generator[Path]:
    """A fresh folder of a fixed name, one user at a time: nvcc mangles a hash of its source's path into names."""
    folder = Path(tempfile.gettempdir()) / "ptxloom-nvcc"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


def triton(source: Path, kernel: str, architecture: str) -> str:
    """PTX of a Triton kernel for `architecture` ("sm_80").

    The source module says how: `SIGNATURES[kernel]` is a comma-separated list as `triton.tools.compile` takes it
    (types, `:16` behind what is divisible by 16, constants), `OPTIONS.get(kernel)` holds compile options.

    Raises:
        ToolError: Triton refused the kernel.
    """
    compiler: Any = importlib.import_module("triton.compiler")
    backends: Any = importlib.import_module("triton.backends.compiler")
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    with contextlib.chdir(source.parent), tempfile.TemporaryDirectory(prefix="ptxloom") as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        module: dict[str, Any] = {"__name__": source.stem}
        # The bare file name is what the kernel's line table says.
        exec(compile(source.read_text(), source.name, "exec"), module)  # noqa: S102 - our own file
        function = module[kernel]
        types, constants, hints = _signature(module["SIGNATURES"][kernel], function.arg_names)
        what = compiler.ASTSource(fn=function, signature=types, constexprs=constants, attrs=hints)
        target = backends.GPUTarget("cuda", int(re.sub(r"\D", "", architecture)), 32)
        options = module.get("OPTIONS", {}).get(kernel, {})
        try:
            text = str(compiler.compile(what, target=target, options=options).asm["ptx"])
        except Exception as error:
            raise ToolError(f"triton: {source.name}: {kernel}: {error}") from error
    return without_paths(text, source.parent)


def cute_dsl(source: Path, kernel: str, element: str, architecture: str) -> str:
    """PTX of a kernel in the CuTe DSL, in a process of its own; `element` names the type of its tensors.

    Raises:
        ToolError: The DSL refused the kernel.
    """
    with tempfile.TemporaryDirectory(prefix="ptxloom") as name:
        folder = Path(name)
        wanted = {"CUTE_DSL_ARCH": architecture, "CUTE_DSL_KEEP": "ptx", "CUTE_DSL_DUMP_DIR": name}
        command = [sys.executable, str(source), kernel, element]
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **wanted}, capture_output=True, text=True, check=False
        )
        written = sorted(folder.glob("*.ptx"))
        if done.returncode or not written:
            raise ToolError(f"{kernel}: {done.stderr.strip().splitlines()[-1:]}")
        return without_paths(written[0].read_text(), source.parent)


def triton_kernels(source: Path) -> tuple[str, ...]:
    """The kernels that a Triton source has signatures for."""
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SIGNATURES":
            return tuple(ast.literal_eval(node.value))
    return ()


def _signature(text: str, names: list[str]) -> tuple[dict[str, str], dict[str, int | float], dict[Any, Any]]:
    types: dict[str, str] = {}
    constants: dict[str, int | float] = {}
    hints: dict[Any, Any] = {}
    for index, (name, entry) in enumerate(zip(names, _COMMA.split(text), strict=True)):
        kind, _, divisor = entry.strip().partition(":")
        if re.match(r"-?\d", kind):
            types[name] = "constexpr"
            constants[name] = float(kind) if "." in kind else int(kind)
        else:
            types[name] = kind
        if divisor:
            hints[index,] = [["tt.divisibility", int(divisor)]]
    return types, constants, hints


def without_paths(text: str, folder: Path) -> str:
    """The PTX with no folder of the building machine in it.

    `.file` directives keep the part of a path from `include` on, or the bare name; debug sections, whose strings are
    lists of bytes of a fixed length, name the source folder as `./././`, which means the same and is as long.
    """
    text = _FILE_DIRECTIVE.sub(lambda match: match[1] + _short(match[2]) + match[3], text)
    for spelling in {str(folder), str(folder.resolve())}:
        text = _replace_bytes(text, spelling.encode(), (b"./" * len(spelling))[: len(spelling)])
    return text


def _replace_bytes(text: str, old: bytes, new: bytes) -> str:
    """`old` as a list of decimal bytes, over as many `.b8` lines as it takes, becomes `new` of the same length."""
    pattern = re.compile(r"\b" + _BETWEEN.join(str(byte) for byte in old) + r"\b")
    return pattern.sub(lambda match: "".join(chain(*zip(map(str, new), (*match.groups(), ""), strict=True))), text)


def _short(path: str) -> str:
    head, found, tail = path.rpartition("/include/")
    return found[1:] + tail if found and head.startswith("/") else Path(path).name


def paths_in(text: str) -> tuple[str, ...]:
    """Absolute paths left in the PTX, in strings or spelled as bytes of a debug section."""
    spelled = "".join("".join(chr(int(byte)) for byte in match[1].split(",")) for match in _BYTES.finditer(text))
    candidates = re.findall(r"(?<![.\w])(?:/[\w.+-]+){2,}", spelled) + re.findall(r'"(/[^"]+)"', text)
    return tuple(path for path in candidates if Path(path.split("\0")[0]).is_absolute())


def ptxas(text: str, architecture: str, options: tuple[str, ...] = ()) -> bytes:
    """The machine code that ptxas makes of the PTX.

    Raises:
        ToolError: ptxas refused it.
    """
    with tempfile.TemporaryDirectory(prefix="ptxloom") as name:
        folder = Path(name)
        (folder / "in.ptx").write_text(text)
        command = [str(_tool("ptxas")), f"-arch={architecture}", *options, "-o", "out.cubin", "in.ptx"]
        _run(command, folder)
        return (folder / "out.cubin").read_bytes()


def digest(data: str | bytes) -> str:
    """The first 16 hexadecimal digits of the data's SHA-256."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:16]
