"""A judging task, as a value that any worker can carry out."""

from __future__ import annotations

import hashlib
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.files import one_text
from ptxloom.files.compiler_flags import NO_FLAGS
from ptxloom.files.errors import CompileError
from ptxloom.judge.hacks import Finding
from ptxloom.judge.judging import judged
from ptxloom.judge.machine_kernel import Limits, MachineKernel, NoKernel
from ptxloom.judge.problem import read_problem
from ptxloom.judge.python_kernel import PythonKernel
from ptxloom.judge.verdict import Verdict
from ptxloom.machine import IllegalPtx, UnsupportedInstruction

if TYPE_CHECKING:
    from ptxloom.files.compiler_flags import Flags
    from ptxloom.judge.asking import CallableKernel


@dataclass(frozen=True, slots=True)
class Order:
    """A kernel to be judged.

    Attributes:
        kernel: The file, as it was named.
        reference: The reference's file.
        seeds: Those of its inputs.
        limits: The limits of each call.
        flags: How CUDA C++ is compiled.
        version: Of ptxloom.
    """

    kernel: str
    reference: str
    seeds: tuple[int, ...]
    limits: Limits = field(default_factory=Limits)
    flags: Flags = NO_FLAGS
    version: str = ""


def carry_out(order: Order) -> dict[str, Any]:
    """The verdict's data, or, under `cannot`, why there is no verdict, as a sentence."""
    try:
        return verdict_of(order).as_data()
    except PtxloomError as error:
        return {"cannot": str(error)}


def verdict_of(order: Order) -> Verdict:
    """The verdict.

    Raises:
        PtxloomError: The reference does not define what to compute, or the kernel cannot be run.
    """
    problem = read_problem(order.reference)
    named = (Path(order.kernel).name, _digest(order.kernel), Path(order.reference).name, problem.digest)
    verdict = Verdict(*named, order.seeds, order.version)
    python = order.kernel.endswith(".py")
    try:
        source = None if python else one_text(order.kernel, order.limits.target, order.flags)

        def made() -> CallableKernel:
            if source is None:
                return PythonKernel(order.kernel, order.reference, order.limits)
            return MachineKernel(source, problem, order.limits)

        return judged(problem, made, verdict, on_host=python)
    except (NoKernel, IllegalPtx, UnsupportedInstruction, CompileError, UsageError) as error:
        return _refused(verdict, str(error))


def _refused(verdict: Verdict, why: str) -> Verdict:
    return replace(verdict, findings=(Finding("not-legal", why),))


def _digest(name: str) -> str:
    """Of a file's bytes.

    Raises:
        PtxloomError: It cannot be read.
    """
    try:
        return hashlib.sha256(Path(name).read_bytes()).hexdigest()
    except OSError as error:
        raise PtxloomError(f"{name}: cannot be read: {error.strerror or error}") from None
