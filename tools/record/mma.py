"""Record what an sm_90 GPU answers for every form of `mma`, `mma.sp` and `wmma`.

Run from the repository root: `PYTHONPATH=src:tests OUT=folder python3 tools/record/mma.py`.
Needs cupy and ptxas. Writes, under `$OUT`:

- `mma.npz`: for each form, selector and kind of input a digest over all warps and the first warps in full;
- `wmma_fragments.npz`: where `wmma.load` puts, and `wmma.store` finds, each element;
- `zeros.npz`: the same for nothing but zeros times zeros plus zeros and the smallest subnormals;
- `floor.npz`: the same for products and C near the bottom of what D can hold;
- `*_full.npz`: more warps in full, to find a rule with; not kept in the repository.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxloom.machine.tensor.recipe import known_forms
from recorded.mma.mma_cases import cases, floor_cases, inputs, result_name, zero_cases

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.isa.products import MatrixForm

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
FULL_WARPS = 12


def kernel(name: str, form: MatrixForm, selector: int) -> str:
    """A kernel that runs one form on the registers of one warp a block."""
    counts = dict(zip("dabc", form.vector_lengths, strict=True))
    wide = form.register_bits == 64
    size = 8 if wide else 4
    kinds = {
        p: _ptx_type(t) for p, t in (("d", form.d_type), ("a", form.a_type), ("b", form.b_type), ("c", form.c_type))
    }
    kinds |= dict.fromkeys("ab", "f64" if wide else "b32")
    lines = [
        f".visible .entry {name}(.param .u64 pd, .param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pe) {{"
    ]
    lines += [".reg .u64 %p<8>; .reg .u32 %t<4>; .reg .b32 %e;"]
    lines += [f".reg .{kinds[p]} %{p}<{counts[p]}>;" for p in "dabc"]
    lines += ["mov.u32 %t0, %ctaid.x; mov.u32 %t1, %tid.x;"]
    for p in "dabc":
        lines += [
            f"ld.param.u64 %p0, [p{p}]; cvta.to.global.u64 %p0, %p0; mul.wide.u32 %p1, %t0, {counts[p] * 32 * size};"
        ]
        lines += [f"mul.wide.u32 %p2, %t1, {size}; add.u64 %p0, %p0, %p1; add.u64 %p{'dabc'.index(p) + 3}, %p0, %p2;"]
    for p in "abc":
        pointer = "dabc".index(p) + 3
        lines += [f"ld.global.{kinds[p]} %{p}{r}, [%p{pointer}+{r * 32 * size}];" for r in range(counts[p])]
    operands = ", ".join("{" + ", ".join(f"%{p}{r}" for r in range(counts[p])) + "}" for p in "dabc")
    if form.sparse:
        lines += ["ld.param.u64 %p0, [pe]; cvta.to.global.u64 %p0, %p0; mul.wide.u32 %p1, %t0, 128;"]
        lines += ["mul.wide.u32 %p2, %t1, 4; add.u64 %p0, %p0, %p1; add.u64 %p0, %p0, %p2; ld.global.b32 %e, [%p0];"]
        operands += f", %e, {selector}"
    lines += [f"{form.spelling} {operands};"]
    lines += [f"st.global.{kinds['d']} [%p3+{r * 32 * size}], %d{r};" for r in range(counts["d"])]
    return "\n".join([*lines, "ret; }", ""])


def _ptx_type(element: str) -> str:
    return {"f64": "f64", "f32": "f32"}.get(element, "b32")


def fragment_kernels() -> list[tuple[str, str, str, int, int]]:
    """`(name, text, kind, elements, bits)` of one load or store for each wmma operand, shape, type and layout."""
    found: dict[tuple[str, str, str, str], tuple[int, int, int, int]] = {}
    for form in known_forms():
        if form.opcode != "wmma":
            continue
        counts = form.vector_lengths
        a_layout, b_layout = form.a_layout, form.b_layout
        found["a", form.shape, form.a_type, a_layout] = (
            counts[1],
            form.m,
            form.k,
            form.container_bits("a"),
        )
        found["b", form.shape, form.b_type, b_layout] = (
            counts[2],
            form.k,
            form.n,
            form.container_bits("b"),
        )
        for layout in ("row", "col"):
            found["c", form.shape, form.c_type, layout] = (
                counts[3],
                form.m,
                form.n,
                form.container_bits("c"),
            )
            found["d", form.shape, form.d_type, layout] = (
                counts[0],
                form.m,
                form.n,
                form.container_bits("d"),
            )
    kernels: list[tuple[str, str, str, int, int]] = []
    for (operand, shape, element, layout), (count, rows, columns, bits) in found.items():
        kind = "f64" if element == "f64" else _ptx_type(element) if operand in "cd" else "b32"
        stride = columns if layout == "row" else rows
        name = f"fragment_{operand}_{shape}_{element}_{layout}"
        size = 8 if kind == "f64" else 4
        registers = "{" + ", ".join(f"%r{i}" for i in range(count)) + "}"
        text = f".visible .entry {name}(.param .u64 pm, .param .u64 pr) {{\n"
        text += f".reg .u64 %m,%p,%q; .reg .u32 %t; .reg .{kind} %r<{count}>;\n"
        text += "ld.param.u64 %m,[pm]; ld.param.u64 %p,[pr]; cvta.to.global.u64 %m,%m; cvta.to.global.u64 %p,%p;\n"
        text += f"mov.u32 %t,%tid.x; mul.wide.u32 %q,%t,{size}; add.u64 %p,%p,%q;\n"
        if operand == "d":
            text += "".join(f"ld.global.{kind} %r{i},[%p+{i * 32 * size}];\n" for i in range(count))
            text += (
                f"wmma.store.d.sync.aligned.{layout}.{shape}.global.{element} [%m], {registers}, {stride};\nret; }}\n"
            )
        else:
            text += f"wmma.load.{operand}.sync.aligned.{layout}.{shape}.global.{element} {registers}, [%m], {stride};\n"
            text += "".join(f"st.global.{kind} [%p+{i * 32 * size}],%r{i};\n" for i in range(count)) + "ret; }\n"
        kernels.append((name, text, operand, rows * columns, bits))
    return kernels


def compile_module(cupy: Any, texts: list[str]) -> Any:
    """The kernels of one module, assembled for sm_90."""
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    folder = tempfile.mkdtemp()  # CuPy reads the file when the first kernel is asked for, and caches modules by path
    source, binary = Path(folder, "k.ptx"), Path(folder, "k.cubin")
    source.write_text(HEAD + "\n".join(texts))
    command = [ptxas, "-arch=sm_90", str(source), "-o", str(binary)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr[:4000])
    return cupy.RawModule(path=str(binary))


def record_forms(cupy: Any, out: Path, stem: str, chosen: Callable[[MatrixForm], tuple[str, ...]]) -> None:
    """Run every form on the chosen kinds of input."""
    jobs = [(form, selector) for form in known_forms() for selector in range(form.selectors)]
    module = compile_module(cupy, [kernel(f"k{i}", form, selector) for i, (form, selector) in enumerate(jobs)])
    names: list[str] = []
    digests: list[bytes] = []
    samples: list[bytes] = []
    full: dict[str, dict[str, Any]] = {"mma": {}, "wmma": {}}
    for i, (form, selector) in enumerate(jobs):
        run = module.get_function(f"k{i}")
        for case in chosen(form):
            given = inputs(form, case)
            warps = given.a.shape[0]
            dtype = np.uint64 if form.register_bits == 64 else np.uint32
            d = cupy.zeros((warps, form.vector_lengths[0], 32), dtype)
            operands = [cupy.asarray(x) for x in (given.a, given.b, given.c, given.e)]
            run((warps,), (32,), (d, *operands))
            result = cupy.asnumpy(d)
            name = result_name(form, selector, case)
            names.append(name)
            digests.append(hashlib.blake2b(result.tobytes(), digest_size=8).digest())
            if (form.a_layout, form.b_layout) == ("row", "col"):
                samples.append(result[0].tobytes())
                full[form.opcode][name] = result[:FULL_WARPS]
            else:
                samples.append(b"")
    lengths = np.array([len(sample) for sample in samples], np.uint32)
    np.savez_compressed(
        out / f"{stem}.npz",
        names=np.array(names),
        digests=np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 8),
        samples=np.frombuffer(b"".join(samples), np.uint32),
        sample_bytes=lengths,
    )
    for family, arrays in full.items():
        np.savez_compressed(out / f"{family}_{stem}_full.npz", **arrays)
    print(f"{len(jobs)} kernels, {len(names)} results, {lengths.sum()} sample bytes")


def record_fragments(cupy: Any, out: Path) -> None:
    """Ask each `wmma.load` and `wmma.store` where its elements are: element i carries the bits of i, some a pass."""
    kernels = fragment_kernels()
    module = compile_module(cupy, [text for _, text, _, _, _ in kernels])
    found: dict[str, Any] = {}
    for name, _, operand, elements, bits in kernels:
        run = module.get_function(name)
        slots = 32 * 8 * 32 // bits * (2 if bits == 64 else 1)
        count = slots if operand == "d" else elements
        index = np.arange(count, dtype=np.uint64)
        passes: list[Any] = []
        for shift in range(0, 16, min(bits, 16)):
            value = (index >> np.uint64(shift)) & np.uint64(((1 << bits) - 1) & 0xFFFF)
            source = cupy.asarray(np.concatenate([pack(value, bits), np.zeros(4096, np.uint8)]))
            target = cupy.zeros(16384, np.uint8)
            run((1,), (32,), (target, source) if operand == "d" else (source, target))
            passes.append(cupy.asnumpy(target))
        found[name] = np.stack(passes)
    np.savez_compressed(out / "wmma_fragments.npz", **found)
    print(f"{len(kernels)} wmma fragments")


def pack(values: Any, bits: int) -> Any:
    """Little-endian bytes of elements of `bits` bits."""
    if bits >= 8:
        return values.astype(f"<u{bits // 8}").view(np.uint8)
    positions = values.reshape(-1, 8 // bits) << (np.arange(8 // bits, dtype=np.uint64) * np.uint64(bits))
    return np.bitwise_or.reduce(positions, axis=-1).astype(np.uint8)


def main() -> None:
    """Record everything."""
    import cupy  # noqa: PLC0415 - only where there is a GPU

    out = Path(os.environ["OUT"])
    out.mkdir(parents=True, exist_ok=True)
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    print(properties["name"].decode(), "driver", cupy.cuda.runtime.driverGetVersion())
    record_forms(cupy, out, "mma", cases)
    record_forms(cupy, out, "zeros", zero_cases)
    record_forms(cupy, out, "floor", floor_cases)
    record_fragments(cupy, out)


if __name__ == "__main__":
    main()
