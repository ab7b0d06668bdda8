"""Record what an sm_90 GPU does with ldmatrix, stmatrix, movmatrix, the operands of mma, and shared-memory banks.

Run from the repository root: `PYTHONPATH=src:tests OUT=folder python3 tools/record/matrix_moves.py`.
Needs cupy, and ncu for the banks. Writes, under `$OUT`:

- `matrix_moves.npz`: registers after each load and movmatrix, memory after each store;
- `mma_operands.npz`: D of small integers for every form of mma;
- `banks.npz`: what ncu counts for each case, and the names of the counters;
- `matrix_moves.json`: the GPU, the driver, and whether rows at 8-byte addresses fault.

The inputs come from `tests/recorded/matrix/matrix_cases.py` and `bank_cases.py`, so only outputs are kept. `ldmatrix`
with `.s8.s4` needs a newer ptxas than drivers have: `--assemble PTXAS` makes the cubin that lies beside this file.
"""
# ruff: noqa: PLC0415 - cupy is imported where a GPU is used, for the assembling needs none

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ptxloom.isa.matrix import matrix_move
from recorded.matrix.bank_cases import MEMORY_BYTES as BANK_BYTES
from recorded.matrix.bank_cases import bank_cases
from recorded.matrix.matrix_cases import (
    LOADS,
    MEMORY_BYTES,
    SIGNED_LOADS,
    STORES,
    TRANSPOSE,
    addresses_of,
    encode,
    kernel_name,
    memory_of,
    products,
    registers_of,
    warps_of,
)

HEAD = ".version {version}\n.target {target}\n.address_size 64\n"
CUBIN = Path(__file__).with_name("matrix_moves_s8_s4.cubin")
COUNTERS = (
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm.sum",
    "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_stsm.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
)


def move_kernel(form: str) -> str:
    """Copy a warp's memory in, run one matrix move, copy registers and memory out; a warp is a block."""
    move = matrix_move(form)
    count = move.registers
    vector = "{" + ", ".join(f"%v{r}" for r in range(count)) + "}"
    operands = {"ldmatrix": f"{vector}, [%a]", "stmatrix": f"[%a], {vector}", "movmatrix": "%v0, %v0"}[move.opcode]
    transfer = range(0, MEMORY_BYTES // 32, 16)
    lines = [
        f".visible .entry {kernel_name(form)}(.param .u64 pm, .param .u64 pa, .param .u64 pr) {{",
        f".shared .align 1024 .b8 memory[{MEMORY_BYTES}];",
        ".reg .b32 %t, %c, %w, %a, %s, %v<4>, %q<4>; .reg .b64 %m, %p, %o, %x;",
        "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %w, %c, 32, %t;",
        f"ld.param.u64 %m, [pm]; mul.wide.u32 %x, %w, {MEMORY_BYTES // 32}; add.u64 %m, %m, %x;",
        "ld.param.u64 %p, [pa]; mul.wide.u32 %x, %w, 4; add.u64 %p, %p, %x;",
        f"ld.param.u64 %o, [pr]; mul.wide.u32 %x, %w, {4 * count}; add.u64 %o, %o, %x;",
        f"mov.u32 %s, memory; mad.lo.u32 %s, %t, {MEMORY_BYTES // 32}, %s;",
        "ld.global.b32 %a, [%p]; mov.u32 %q0, memory; add.u32 %a, %a, %q0;",
    ]
    for at in transfer:
        lines += [f"ld.global.v4.b32 {{%q0,%q1,%q2,%q3}}, [%m+{at}];"]
        lines += [f"st.shared.v4.b32 [%s+{at}], {{%q0,%q1,%q2,%q3}};"]
    lines += [f"ld.global.b32 %v{r}, [%o+{4 * r}];" for r in range(count)]
    lines += ["bar.sync 0;", f"{form} {operands};", "bar.sync 0;"]
    lines += [f"st.global.b32 [%o+{4 * r}], %v{r};" for r in range(count)]
    for at in transfer:
        lines += [f"ld.shared.v4.b32 {{%q0,%q1,%q2,%q3}}, [%s+{at}];"]
        lines += [f"st.global.v4.b32 [%m+{at}], {{%q0,%q1,%q2,%q3}};"]
    return "\n".join([*lines, "ret;", "}"])


def mma_kernel(form: Any) -> str:
    """Load registers, run one mma, store D; a warp is a block."""
    wide = form.type_of("a") == "f64"
    kinds = {p: form.type_of(p) if form.type_of(p) in ("f32", "f64", "s32") else "b32" for p in "abcd"}
    size = 8 if wide else 4
    lines = [
        f".visible .entry {kernel_name(form.spelling)}({', '.join(f'.param .u64 p{p}' for p in 'abcd')}) {{",
        ".reg .b32 %t, %c, %w; .reg .b64 %p, %x;",
        *(f".reg .{kinds[p]} %{p}<{form.registers(p)}>;" for p in "abd"),
        f".reg .{kinds['c']} %e<{form.registers('c')}>;",
        "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %w, %c, 32, %t;",
    ]
    names = {"a": "a", "b": "b", "c": "e", "d": "d"}
    for p in "abc":
        lines += [f"ld.param.u64 %p, [p{p}]; mul.wide.u32 %x, %w, {size * form.registers(p)}; add.u64 %p, %p, %x;"]
        lines += [f"ld.global.{kinds[p]} %{names[p]}{r}, [%p+{size * r}];" for r in range(form.registers(p))]
    vectors = ("{" + ", ".join(f"%{names[p]}{r}" for r in range(form.registers(p))) + "}" for p in "dabc")
    lines += [f"{form.spelling} {', '.join(vectors)};"]
    lines += [f"ld.param.u64 %p, [pd]; mul.wide.u32 %x, %w, {size * form.registers('d')}; add.u64 %p, %p, %x;"]
    lines += [f"st.global.{kinds['d']} [%p+{size * r}], %d{r};" for r in range(form.registers("d"))]
    return "\n".join([*lines, "ret;", "}"])


def bank_name(instruction: str) -> str:
    """The kernel of one access."""
    return kernel_name(instruction).replace("k_", "bank_", 1)


def bank_kernel(instruction: str) -> str:
    """One access by one warp; nothing else touches shared memory."""
    lines = [
        f".visible .entry {bank_name(instruction)}(.param .u64 pa, .param .u64 po, .param .u32 pm) {{",
        f".shared .align 1024 .b8 memory[{BANK_BYTES}];",
        ".reg .pred %k; .reg .b32 %t, %a, %s, %m, %v<4>; .reg .b64 %p, %x, %w;",
        "mov.u32 %t, %tid.x; ld.param.u64 %p, [pa]; mul.wide.u32 %x, %t, 4; add.u64 %p, %p, %x;",
        "ld.global.b32 %a, [%p]; mov.u32 %s, memory; add.u32 %a, %a, %s;",
        "ld.param.u32 %m, [pm]; shr.u32 %m, %m, %t; and.b32 %m, %m, 1; setp.ne.u32 %k, %m, 0;",
        "ld.param.u64 %p, [po]; mul.wide.u32 %x, %t, 16; add.u64 %p, %p, %x;",
        *(f"mov.u32 %v{r}, %t;" for r in range(4)),
        "mov.u64 %w, %x;",
    ]
    if "matrix" in instruction:
        count = matrix_move(instruction).registers
        vector = "{" + ", ".join(f"%v{r}" for r in range(count)) + "}"
        parts = [vector, "[%a]"]
        lines += [f"{instruction} {', '.join(parts if instruction.startswith('ld') else reversed(parts))};"]
    else:
        words = re.search(r"v(\d)", instruction)
        register = "{" + ", ".join(f"%v{r}" for r in range(int(words[1]))) + "}" if words else "%v0"
        parts = [register if "b64" not in instruction else "%w", "[%a]"]
        lines += [f"@%k {instruction} {', '.join(parts if instruction.startswith('ld') else reversed(parts))};"]
    lines += ["st.global.v4.b32 [%p], {%v0,%v1,%v2,%v3};", "st.global.b64 [%p], %w;" if "b64" in instruction else ""]
    return "\n".join([*lines, "ret;", "}"])


def module(kernels: list[str], version: str = "9.0", target: str = "sm_90") -> str:
    """A PTX module."""
    return HEAD.format(version=version, target=target) + "\n".join(kernels) + "\n"


def load(folder: Path, name: str, text: str) -> Any:
    """Hand a module to the driver."""
    import cupy

    path = folder / f"{name}.ptx"
    path.write_text(text)
    return cupy.RawModule(path=str(path))


def run_move(kernels: Any, form: str, shift: int = 0) -> np.ndarray:
    """Registers after a load or movmatrix, memory after a store."""
    import cupy

    warps, count = warps_of(form), matrix_move(form).registers
    memory = cupy.asarray(memory_of(form))
    rows = np.zeros((warps, 32), np.uint32) if form == TRANSPOSE else addresses_of(form)
    if shift:
        rows = rows % np.uint32(MEMORY_BYTES // 2) // np.uint32(16) * np.uint32(16) + np.uint32(shift)
    addresses = cupy.asarray(rows)
    before = np.zeros((warps, 32, count), np.uint32) if form.startswith("ldmatrix") else registers_of(form)
    registers = cupy.asarray(before)
    kernels.get_function(kernel_name(form))((warps,), (32,), (memory, addresses, registers))
    cupy.cuda.runtime.deviceSynchronize()
    return memory.get() if form.startswith("stmatrix") else registers.get()


def run_mma(kernels: Any, product: Any) -> np.ndarray:
    """D as bytes: (warps, 32, bytes)."""
    import cupy

    form = product.form
    inputs = [cupy.asarray(encode(form, p, getattr(product, p))) for p in "abc"]
    size = 8 if form.type_of("d") == "f64" else 4
    result = cupy.zeros((len(product.a), 32, size * form.registers("d")), np.uint8)
    kernels.get_function(kernel_name(form.spelling))((len(product.a),), (32,), (*inputs, result))
    return result.get()


def launch_banks(folder: Path) -> None:
    """Every bank case, one launch each, in order; ncu watches."""
    import cupy

    cases = list(bank_cases())
    instructions = dict.fromkeys(case.instruction for case in cases if case.instruction not in SIGNED_LOADS)
    kernels = load(folder, "banks", module([bank_kernel(one) for one in instructions]))
    signed = cupy.RawModule(path=str(CUBIN))
    sink = cupy.zeros(512, np.uint8)
    for case in cases:
        addresses = cupy.asarray(case.addresses)
        of = signed if case.instruction in SIGNED_LOADS else kernels
        of.get_function(bank_name(case.instruction))((1,), (32,), (addresses, sink, np.uint32(case.active)))
    cupy.cuda.runtime.deviceSynchronize()


def count_banks(folder: Path) -> np.ndarray:
    """(cases, counters) int64, by ncu."""
    log = folder / "ncu.csv"
    command = ["ncu", "--clock-control", "none", "--csv", "--log-file", str(log), "--metrics", ",".join(COUNTERS)]
    command += ["--kernel-name", "regex:^bank_", sys.executable, __file__, "--launch-banks"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    lines = log.read_text().splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith('"ID"'))
    counts = np.full((sum(1 for _ in bank_cases()), len(COUNTERS)), -1, np.int64)
    order: dict[str, int] = {}
    for row in csv.DictReader(lines[first:]):
        case = order.setdefault(row["ID"], len(order))
        if row["Metric Name"] in COUNTERS:
            value = row["Metric Value"].replace(",", "")
            counts[case, COUNTERS.index(row["Metric Name"])] = int(float(value)) if value[:1].isdigit() else -1
    return counts


def faults() -> dict[str, str]:
    """Whether rows 8 bytes off a 16-byte boundary fault, each in a process of its own."""
    found = {}
    for form in (LOADS[0], SIGNED_LOADS[0]):
        done = subprocess.run(
            [sys.executable, __file__, "--shifted", form], check=False, capture_output=True, text=True
        )
        last = (done.stderr.strip().splitlines() or [""])[-1]
        found[form] = done.stdout.strip().splitlines()[-1] if done.returncode == 0 else last
    return found


def shifted(folder: Path, form: str) -> None:
    """Run a load with every address 8 bytes further on, and print a digest of what came."""
    import cupy

    signed = form in SIGNED_LOADS
    kernels = cupy.RawModule(path=str(CUBIN)) if signed else load(folder, "shifted", module([move_kernel(form)]))
    registers = run_move(kernels, form, 8)
    print(f"no fault; SHA-256 of the registers {hashlib.sha256(registers.tobytes()).hexdigest()}")


def main() -> None:
    """Record everything, or do the part that an argument names."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        match sys.argv[1:]:
            case ["--assemble", ptxas]:
                source = folder / "s8_s4.ptx"
                texts = [kernel(form) for kernel in (move_kernel, bank_kernel) for form in SIGNED_LOADS]
                source.write_text(module(texts, "9.4", "sm_90a"))
                subprocess.run([ptxas, "-arch", "sm_90a", str(source), "-o", str(CUBIN)], check=True)
            case ["--check", ptxas]:
                cases = dict.fromkeys(case.instruction for case in bank_cases() if ".s8.s4" not in case.instruction)
                moves = [move_kernel(form) for form in (*LOADS, *STORES, TRANSPOSE)]
                texts = [*moves, *(mma_kernel(p.form) for p in products()), *(bank_kernel(one) for one in cases)]
                source = folder / "all.ptx"
                source.write_text(module(texts))
                subprocess.run([ptxas, "-arch", "sm_90", str(source), "-o", str(folder / "all.cubin")], check=True)
            case ["--launch-banks"]:
                launch_banks(folder)
            case ["--shifted", form]:
                shifted(folder, form)
            case _:
                record(folder, Path(os.environ["OUT"]))


def record(folder: Path, out: Path) -> None:
    """Record everything."""
    import cupy

    out.mkdir(parents=True, exist_ok=True)
    forms = (*LOADS, *STORES, TRANSPOSE)
    kernels = load(folder, "moves", module([move_kernel(form) for form in forms]))
    moves = {form: run_move(kernels, form) for form in forms}
    signed = cupy.RawModule(path=str(CUBIN))
    moves |= {form: run_move(signed, form) for form in SIGNED_LOADS}
    np.savez_compressed(out / "matrix_moves.npz", **moves)
    inputs = list(products())
    kernels = load(folder, "mma", module([mma_kernel(product.form) for product in inputs]))
    np.savez_compressed(out / "mma_operands.npz", **{p.form.spelling: run_mma(kernels, p) for p in inputs})
    device = cupy.cuda.runtime.getDeviceProperties(0)
    about = {
        "gpu": device["name"].decode(),
        "driver": cupy.cuda.runtime.driverGetVersion(),
        "ptx": "9.0 (9.4 for .s8.s4, assembled by ptxas 13.5)",
        "rows 8 bytes off": faults(),
    }
    (out / "matrix_moves.json").write_text(json.dumps(about, indent=1) + "\n")
    print(about)
    counts = count_banks(folder)
    np.savez_compressed(out / "banks.npz", counts=counts, counters=np.array(COUNTERS))
    print(f"{len(moves)} matrix moves, {len(inputs)} forms of mma, {len(counts)} bank cases")
    print("cases without a count:", int((counts < 0).all(axis=1).sum()), "sums:", counts.sum(axis=0).tolist())


if __name__ == "__main__":
    main()
