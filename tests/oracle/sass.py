"""Machine code as nvdisasm shows it, and what straight code of it computes."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from oracle.ptxas import find_ptxas
from recorded.ptxas.contraction_cases import (
    FORMS,
    Mixture,
    Value,
    cases,
    forms_text,
    fused,
    leaf,
    module_text,
    number,
    product,
    summary,
    total,
)

_LINE: Final = re.compile(r"^\s+/\*[0-9a-f]{4,5}\*/\s+(.*?)\s*;", re.MULTILINE)
_LOAD: Final = re.compile(r"(R\d+), desc\[\w+\]\[R\d+\.64(?:\+(0x[0-9a-f]+))?\]")
_STORE: Final = re.compile(r"desc\[\w+\]\[R\d+\.64(?:\+(0x[0-9a-f]+))?\], (R\w+)")
_ARITHMETIC: Final = re.compile(r"(?:F|D|H)(ADD|MUL|FMA)2?(?:\.(.*))?")
_SCALES: Final = {"M2": 2.0, "M4": 4.0, "M8": 8.0, "D2": 0.5, "D4": 0.25, "D8": 0.125}


class Strange(Exception):  # noqa: N818 - says what was met
    """An instruction that is no arithmetic, or a way of computing that is not distinguished here."""


@cache
def find_nvdisasm() -> str | None:
    """The path of nvdisasm: the package `nvidia-cuda-nvdisasm`, the one that Triton brings, or the search path."""
    found: list[str] = []
    for package, pattern in (("nvidia", "cu*/bin/nvdisasm"), ("triton", "backends/nvidia/bin/nvdisasm")):
        spec = find_spec(package)
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            found += [str(path) for path in sorted(Path(folder).glob(pattern))]
    return next(iter(found), None) or shutil.which("nvdisasm")


def disassembled(text: str, target: str, *options: str) -> dict[str, list[str]]:
    """The instructions of each kernel and function that ptxas makes of a module.

    Raises:
        FileNotFoundError: ptxas or nvdisasm is missing.
        ValueError: ptxas refused the module.
    """
    ptxas, nvdisasm = find_ptxas(), find_nvdisasm()
    if ptxas is None or nvdisasm is None:
        raise FileNotFoundError("ptxas or nvdisasm is not installed")
    with tempfile.TemporaryDirectory() as name:
        source, cubin = Path(name) / "in.ptx", Path(name) / "out.cubin"
        source.write_text(text, encoding="utf-8")
        command = [ptxas, f"-arch={target}", *options, "-o", str(cubin), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ValueError(done.stdout + done.stderr)
        said = subprocess.run([nvdisasm, "-c", str(cubin)], capture_output=True, text=True, check=True).stdout
    _, *parts = re.split(r"^\.text\.(\S+):$", said, flags=re.MULTILINE)
    return {
        name: [found[1] for found in _LINE.finditer(code)] for name, code in zip(parts[::2], parts[1::2], strict=True)
    }


def computed(instructions: list[str]) -> str:
    """What straight code stores, in the order of the addresses, as `contraction_cases.computed` says it of PTX.

    Raises:
        Strange: It does something else as well.
    """
    code = _Code()
    for line in instructions:
        if line.startswith("EXIT"):
            break
        code.run(line)
    return summary(code.stored)


def asked_programs(mixture: Mixture) -> list[str]:
    """What the machine code of each program of a mixture stores."""
    programs = cases(mixture)
    code = disassembled(module_text(programs), mixture.target)
    return [computed(code[f"k{at}"]) for at in range(len(programs))]


def asked_forms() -> dict[str, int]:
    """How many sums ptxas fuses in each of `FORMS`: those that are no longer separate."""
    apart, fused_ = (disassembled(forms_text(), "sm_90", option) for option in ("--fmad=false", "--fmad=true"))
    return {form: _sums(apart[f"k{at}"]) - _sums(fused_[f"k{at}"]) for at, form in enumerate(FORMS)}


def _sums(instructions: list[str]) -> int:
    return sum(" FADD" in f" {line}" for line in instructions)


class _Code:
    def __init__(self) -> None:
        self.stored: dict[int, Value] = {}
        self._held: dict[str, tuple[Value, Value]] = {"RZ": (number(0.0), number(0.0))}  # the halves of a register

    def run(self, line: str) -> None:
        """One instruction."""
        opcode, _, rest = line.partition(" ")
        stem, *suffixes = opcode.split(".")
        operands = [one.strip().replace(".reuse", "") for one in rest.split(",")]
        arithmetic = _ARITHMETIC.fullmatch(opcode)
        if stem in {"LDC", "ULDC", "LDCU"}:
            pass
        elif stem == "LDG" and (load := _LOAD.match(rest)):
            self._held[load[1]] = _both(leaf(str(int(load[2] or "0", 16))))
        elif stem == "STG" and (store := _STORE.match(rest)):
            self.stored[int(store[1] or "0", 16)] = self._held[store[2]][0]
        elif opcode in {"MOV", "IMAD.MOV.U32"}:
            if operands[-1] in self._held or not operands[-1].startswith("R"):  # else the upper half of a pair
                self._held[operands[0]] = self._value(operands[-1])
        elif stem == "PRMT":
            halves = (*self._value(operands[1]), *self._value(operands[3]))
            chosen = int(operands[2], 16)
            self._held[operands[0]] = (halves[(chosen & 15) // 2], halves[(chosen >> 8 & 15) // 2])
        elif stem == "HFMA2" and operands[1].strip("-") == operands[2].strip("-") == "RZ" and len(operands) == 5:
            high, low = (struct.pack("<e", float(one)) for one in operands[3:])
            self._held[operands[0]] = _both(number(struct.unpack("<f", low + high)[0]))
        elif arithmetic is not None:
            pairs = re.sub(r", (-?[\d.]+), \1(?=,|$)", r", \1", ", ".join(operands[1:]))  # constants of a packed type
            values = [self._value(one) for one in pairs.split(", ")]
            low, high = (self._result(arithmetic[1], suffixes, [one[half] for one in values]) for half in (0, 1))
            self._held[operands[0]] = low, high
        else:
            raise Strange(line)

    def _result(self, what: str, suffixes: list[str], values: list[Value]) -> Value:
        flags = [one.lower() for one in suffixes if one in {"FTZ", "SAT"}]
        if what == "FMA":
            return fused(flags, *values)
        if what == "ADD":
            return total(flags, *values)
        for one in suffixes:
            if one in _SCALES:
                return product([], number(_SCALES[one]), product(flags, *values))
        return product(flags, *values)

    def _value(self, text: str) -> tuple[Value, Value]:
        name, _, part = text.strip("-").replace(".F32x2.HI_LO", "").partition(".H")
        if name in self._held:
            found = self._held[name]
            if part == "0_NH1":  # the upper half is named first
                found = found[1].turned(), found[0]
            elif part:
                found = _both(found[int(part[0])])
        elif name.startswith("0x"):
            (value,) = struct.unpack("<f", int(name, 16).to_bytes(4, "little"))
            found = _both(number(value))
        elif re.fullmatch(r"R\d+", name):
            found = _both(leaf("nothing"))  # a half that is not asked for
        elif re.match(r"[\d.]", name):
            found = _both(number(float(name)))
        else:
            raise Strange(text)
        return (found[0].turned(), found[1].turned()) if text.startswith("-") else found


def _both(value: Value) -> tuple[Value, Value]:
    return value, value
