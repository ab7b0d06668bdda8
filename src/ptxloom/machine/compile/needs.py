"""What a launch must know about a program whose code is cached: a few numbers, cached with the code."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any, Final

from ptxloom.dataclass import dataclass
from ptxloom.machine.program.model import Parameter
from ptxloom.meaning.types import ptx_type

SYMBOL: Final = "ptxloom_kernel"  # the function of each kernel, in its machine code


@dataclass(frozen=True, slots=True)
class Needs:
    """What a launch needs, and the name of its code.

    Attributes:
        code: The kernel's name, the architecture, and a digest of what the code depends on.
        target: The architecture whose tensor cores compute.
        sites: The number of instructions.
        entry: The number of the kernel's first block.
        frame_bytes: The kernel's own local memory, a lane.
        register_bytes: A warp's.
        shared_bytes: Static shared memory, the system's included.
        reserved_bytes: The system's part of it.
        has_calls: Whether any function calls another, or asks for memory on the stack.
        has_call_sites: Whether any function calls another.
        parameters: The kernel's.
        parameter_bytes: Their size.
        function_count: Functions of the module, which may be called through their addresses.
        functions: These, as native code looks them up, in hexadecimal digits.
        runtime_calls: CUDA's device run-time calls that it makes.
        has_workspace: Whether it reads where a grid-wide barrier keeps its counter.
        variables: The module's variables that it mentions, or that initial values do.
        looks_up: Whether it reads, writes or asks for textures or surfaces.
        uses_tensor_memory: Whether a CTA has any.
    """

    code: str
    target: str
    sites: int
    entry: int
    frame_bytes: int
    register_bytes: int
    shared_bytes: int
    reserved_bytes: int
    has_calls: bool
    has_call_sites: bool
    parameters: tuple[Parameter, ...]
    parameter_bytes: int
    function_count: int
    functions: str
    runtime_calls: frozenset[str]
    has_workspace: bool
    variables: frozenset[str]
    looks_up: bool
    uses_tensor_memory: bool

    @property
    def static_shared_bytes(self) -> int:
        """Static shared memory that the kernel declares, a CTA."""
        return self.shared_bytes - self.reserved_bytes


def packed(needs: Needs) -> bytes:
    """Pack them for the cache."""
    plain = {one.name: getattr(needs, one.name) for one in fields(needs)}
    plain["parameters"] = [{**asdict(p), "type": p.type.name} for p in needs.parameters]
    for several in ("runtime_calls", "variables"):
        plain[several] = sorted(plain[several])
    return json.dumps(plain).encode()


def unpacked(content: bytes) -> Needs:
    """Unpack them from the cache."""
    plain: dict[str, Any] = json.loads(content)
    plain["parameters"] = tuple(
        Parameter(p["name"], ptx_type(p["type"]), p["offset"], p["size"], p["is_array"], p["alignment"])
        for p in plain["parameters"]
    )
    for several in ("runtime_calls", "variables"):
        plain[several] = frozenset(plain[several])
    return Needs(**plain)
