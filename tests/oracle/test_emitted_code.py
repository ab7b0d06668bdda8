"""What is emitted compiles: CUDA C++ and CuTe C++ with nvcc, PTX with ptxas, Triton and the CuTe DSL by themselves."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from oracle.cute_host import include_folders
from oracle.ptxas import assemble, find_ptxas
from ptxloom.atoms import CopyAtom, MmaAtom, available, copy_atoms, mma_atoms
from ptxloom.atoms.wrappers import emit
from ptxloom.atoms.wrappers.parts import c_name, mma_operands, needs_of
from ptxloom.diagnostics import UnsupportedForm
from ptxloom.isa.target import Target
from ptxloom.layout import Swizzle

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.oracle

Atom = CopyAtom | MmaAtom


def nvcc() -> str:
    """nvcc of the wheel, or of the machine."""
    beside = find_ptxas()
    found = Path(beside).with_name("nvcc") if beside else None
    if found is not None and found.exists():
        return str(found)
    anywhere = shutil.which("nvcc")
    if anywhere is None:
        pytest.skip("nvcc is absent: pip install nvidia-cuda-nvcc")
    return anywhere


def compiled(folder: Path, text: str, target: str, includes: Sequence[Path] = ()) -> str:
    """The PTX that nvcc makes of a file; it also goes through ptxas."""
    source, out = folder / "emitted.cu", folder / "emitted.ptx"
    source.write_text(text)
    flags = [f"-arch={target}", "-std=c++17", "--expt-relaxed-constexpr", "-w", *(f"-I{one}" for one in includes)]
    done = subprocess.run(
        [nvcc(), *flags, "-ptx", str(source), "-o", str(out)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:3000]
    ptx = out.read_text()
    verdict = assemble(ptx, target)
    assert verdict.accepted, verdict.output[:3000]
    return ptx


def call_of(atom: Atom) -> str:
    """A statement that calls an atom's wrapper and keeps what it gives."""
    name = c_name(atom)
    if isinstance(atom, MmaAtom):
        operands = mma_operands(atom)
        arrays = " ".join(f"{one.c_type} {one.name}[{one.count}] = {{}};" for one in operands)
        scales = ", 127u, 127u" if atom.instruction.scale_vector else ""
        return f"{{ {arrays} {name}(d, a, b, c{scales}); for (auto x : d) *out++ = (int)x; }}"
    count = atom.instruction.registers
    match atom.instruction.opcode:
        case "ldmatrix":
            return f"{{ unsigned d[{count}]; {name}(d, {name}_row(tile, 64)); for (unsigned x : d) *out++ = x; }}"
        case "stmatrix":
            return f"{{ unsigned s[{count}] = {{1u}}; {name}({name}_row(tile, 64), s); }}"
        case _:
            return f"{{ unsigned d; {name}(d, *out); *out++ = d; }}"


def kernel_of(atoms: Sequence[Atom]) -> str:
    wrappers = "\n".join(emit(atom, "cuda") for atom in atoms)
    calls = "\n    ".join(map(call_of, atoms))
    shared = "__shared__ __align__(128) char tile[4096];"
    return f"{wrappers}\n\n__global__ void all(int* out) {{\n    {shared}\n    {calls}\n}}\n"


COPIES = {
    "sm_75": [a for a in copy_atoms() if available(a, Target.parse("sm_75"))],
    "sm_90a": [a for a in copy_atoms() if available(a, Target.parse("sm_90a"))],
    "sm_100a": [a for a in copy_atoms() if available(a, Target.parse("sm_100a"))],
    "sm_120f": [a for a in copy_atoms() if available(a, Target.parse("sm_120f"))],
}


def test_every_copy_atom_is_tried_somewhere() -> None:
    assert {str(atom) for atoms in COPIES.values() for atom in atoms} == {str(atom) for atom in copy_atoms()}


@pytest.mark.parametrize("target", COPIES)
def test_cuda_wrappers_of_moves_compile(target: str, tmp_path: Path) -> None:
    ptx = compiled(tmp_path, kernel_of(COPIES[target]), target)
    for atom in COPIES[target]:
        assert f"{atom.ptx} " in ptx


def mmas_of(target: str) -> list[MmaAtom]:
    """Forms that a target must have by what `needs_of` says; sm_90 is the last with all the older ones."""
    arch = Target.parse(target)
    return [a for a in mma_atoms() if all(arch in one for one in needs_of(a).targets[:1])]


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_120a"])
def test_cuda_wrappers_of_products_compile(target: str, tmp_path: Path) -> None:
    atoms = mmas_of(target)
    if target == "sm_120a":
        atoms = [atom for atom in atoms if atom.instruction.kind][::3]
    ptx = compiled(tmp_path, kernel_of(atoms), target)
    for atom in atoms:
        assert f"{atom.ptx}\n" in ptx or f"{atom.ptx} " in ptx


def test_a_swizzled_address_compiles(tmp_path: Path) -> None:
    atom = copy_atoms()[0]
    plain = kernel_of([atom])
    swizzled = plain.replace(emit(atom, "cuda"), emit(atom, "cuda", Swizzle(3, 3, 3)))
    assert compiled(tmp_path, swizzled, "sm_80") != compiled(tmp_path, plain, "sm_80")


@pytest.mark.parametrize(("name", "target"), [("SM90_U32x1_STSM_N", "sm_80"), ("SM100_U8x4_STSM_T", "sm_100")])
def test_a_wrapper_refuses_a_target_without_its_instruction(name: str, target: str, tmp_path: Path) -> None:
    atom = next(a for a in copy_atoms() if a.name == name)
    source = tmp_path / "wrong.cu"
    source.write_text(kernel_of([atom]))
    command = [nvcc(), f"-arch={target}", "-ptx", str(source), "-o", str(tmp_path / "wrong.ptx")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "this stmatrix needs sm_" in done.stderr
    source.write_text(emit(atom, "cuda"))  # unused, it does no harm
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("target", COPIES)
def test_ptx_blocks_assemble(target: str) -> None:
    if find_ptxas() is None:
        pytest.skip("ptxas is absent: pip install nvidia-cuda-nvcc")
    atoms: list[Atom] = [*COPIES[target], *(mmas_of(target)[::5] if target != "sm_75" else [])]
    blocks = "\n".join(emit(atom, "ptx") for atom in atoms)
    text = f".version 9.5\n.target {target}\n.address_size 64\n.visible .entry all() {{\n{blocks}\nret;\n}}\n"
    verdict = assemble(text, target)
    assert verdict.accepted, verdict.output[:3000]


@pytest.mark.sweep
def test_cute_atoms_compile(tmp_path: Path) -> None:
    atoms: list[Atom] = [a for a in COPIES["sm_120f"] if a.operation or ".s8.s4" in a.ptx]
    atoms += [a for a in mma_atoms() if a.name and a.instruction.kind][::9] + [a for a in mma_atoms() if a.name][::20]
    parts: list[str] = []
    for i, atom in enumerate(atoms):
        lines = emit(atom, "cute").splitlines()
        includes = [line for line in lines if line.startswith("#include")]
        body = [line for line in lines if line not in includes]
        if "namespace cute" not in "\n".join(body):
            body = [f"namespace n{i} {{", *body, "}"]
        else:
            body[-1] = body[-1].replace("using CopyAtom", f"using CopyAtom{i}")
        parts += [*includes, *body]
    header = "#include <cute/tensor.hpp>\n#include <cute/atom/mma_traits_sm120.hpp>\n"
    header += "".join(f"#include <cute/atom/copy_traits_sm{n}.hpp>\n" for n in (75, 90, 100))
    used = "n0::CopyAtom atom0; out[0] = sizeof(atom0);"
    nameless = next(i for i, a in enumerate(atoms) if isinstance(a, CopyAtom) and not a.name)
    used += f" out[1] = decltype(size(typename CopyAtom{nameless}::ValLayoutDst{{}}))::value;"
    text = "\n".join([header, *parts, f"__global__ void all(int* out) {{ using namespace cute; {used} }}"])
    compiled(tmp_path, text, "sm_120a", include_folders())


_TRITON = """
import sys
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget

sys.path.insert(0, sys.argv[1])
import emitted

@triton.jit
def moved(p):
    offsets = tl.arange(0, 32)
    tl.store(p + offsets, emitted.movmatrix_m8n8_trans_b16(tl.load(p + offsets)))

@triton.jit
def loaded(p):
    offsets = tl.arange(0, 32)
    a, b = emitted.ldmatrix_m8n8_x2_b16(offsets * 16)
    tl.store(p + offsets, a + b)

@triton.jit
def multiplied(p, q):
    offsets = tl.arange(0, 32)
    x, y = tl.load(p + offsets), tl.load(q + offsets)
    d0, d1, d2, d3 = emitted.mma_m16n8k8_f32_f16_f16_f32(x, x, x, y, y, y, y)
    tl.store(q + offsets, d0 + d1 + d2 + d3)

for kernel, signature in ((moved, {"p": "*i32"}), (loaded, {"p": "*i32"}), (multiplied, {"p": "*i32", "q": "*fp32"})):
    source = triton.compiler.ASTSource(fn=kernel, signature=signature)
    done = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 1})
    print(done.asm["ptx"])
"""


@pytest.mark.sweep
def test_triton_functions_compile(tmp_path: Path) -> None:
    if importlib.util.find_spec("triton") is None:
        pytest.skip("triton is absent: pip install triton")
    names = ("movmatrix.sync.aligned.m8n8.trans.b16", "SM75_U32x2_LDSM_N", "m16n8k8.row.col.f32.f16.f16.f32")
    (tmp_path / "emitted.py").write_text("\n\n".join(emit(name, "triton") for name in names))
    program = tmp_path / "program.py"
    program.write_text(_TRITON)
    done = subprocess.run([sys.executable, str(program), str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    for instruction in (
        "movmatrix.sync.aligned.m8n8.trans.b16",
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16",
        "mma.sync",
    ):
        assert instruction in done.stdout


def test_what_does_not_fit_a_language_says_so() -> None:
    for name, language, why in (
        ("SM90_U32x1_STSM_N", "triton", "writes shared memory"),
        ("SM75_U32x1_MOVM_T", "cute-dsl", "emit it as cuda"),
        ("m16n8k16.row.col.f32.e4m3.e4m3.f32", "cute", "CuTe C\\+\\+ has no atom"),
        ("m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0", "triton", "selectors"),
    ):
        with pytest.raises(UnsupportedForm, match=why):
            emit(name, language)


_DSL = """
import json, sys
sys.path.insert(0, sys.argv[1])
import emitted
from cutlass import cute

makers = [getattr(emitted, name) for name in json.loads(sys.argv[2])]

def run():
    for make in makers:
        print(make())

@cute.jit
def all_of_them():
    run()

all_of_them()
"""


@pytest.mark.sweep
def test_dsl_functions_run(tmp_path: Path) -> None:
    if importlib.util.find_spec("cutlass") is None:
        pytest.skip("the CuTe DSL is absent: pip install nvidia-cutlass-dsl")
    atoms: list[Atom] = [a for a in (*copy_atoms(), *mma_atoms()) if a.operation]
    (tmp_path / "emitted.py").write_text("\n\n".join(emit(atom, "cute-dsl") for atom in atoms))
    program = tmp_path / "program.py"
    program.write_text(_DSL)
    done = subprocess.run(
        [sys.executable, str(program), str(tmp_path), json.dumps([c_name(atom) for atom in atoms])],
        capture_output=True,
        text=True,
        check=False,
        env={"CUTE_DSL_ARCH": "sm_120a", "PATH": ""},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("ThrID") == len(atoms)
