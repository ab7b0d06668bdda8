"""The dynamic judge: PTX run on the CPU, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.extras import needed
from ptxloom.lazy import later

if TYPE_CHECKING:
    from ptxloom.fragments.filled import Filled
    from ptxloom.machine.device import Device
    from ptxloom.machine.launch.grid import Progress
    from ptxloom.machine.launch.options import LaunchOptions
    from ptxloom.machine.memory.address_map import Piece
    from ptxloom.machine.memory.device_memory import Allocation, MemoryHolder, OutOfDeviceMemory
    from ptxloom.machine.memory.images import Sampling
    from ptxloom.machine.memory.module_variables import global_array
    from ptxloom.machine.memory.tensor_map import MappedArray, tensor_map, tensor_map_im2col
    from ptxloom.machine.memory.textures import Surface, Texture, surface, texture
    from ptxloom.machine.plan.legality import IllegalPtx
    from ptxloom.machine.program.parameters import KernelParameter
    from ptxloom.machine.program.unsupported import UnsupportedInstruction
    from ptxloom.machine.results.conflict_fixes import Change, Remedy
    from ptxloom.machine.results.fidelity import Fidelity, FidelityRow
    from ptxloom.machine.results.hazard import Hazard, Hazards, Party
    from ptxloom.machine.results.outcome import LaunchError, LaunchResult, NotReadyError
    from ptxloom.machine.results.profile import Counts, Facts, Profile, ProfileRow, Samples, SourceRow
    from ptxloom.machine.results.provenance import (
        Contents,
        Kind,
        OperandOrigins,
        ProductEvent,
        ProvenanceRecord,
        TracedArray,
    )
    from ptxloom.machine.results.provenance_choice import Provenance
    from ptxloom.machine.results.shared_map import SharedElements, SharedMap, SharedPiece, shared_map
    from ptxloom.machine.results.trace import Blocks, Request, Trace, TraceRecord, TraceRecords
    from ptxloom.machine.tensor.batch import mma

with needed():
    from ptxloom.machine.kernel import Kernel
    from ptxloom.machine.kernels import kernel

__all__ = [
    "Allocation",
    "Blocks",
    "Change",
    "Contents",
    "Counts",
    "Device",
    "Facts",
    "Fidelity",
    "FidelityRow",
    "Filled",
    "Hazard",
    "Hazards",
    "IllegalPtx",
    "Kernel",
    "KernelParameter",
    "Kind",
    "LaunchError",
    "LaunchOptions",
    "LaunchResult",
    "MappedArray",
    "MemoryHolder",
    "NotReadyError",
    "OperandOrigins",
    "OutOfDeviceMemory",
    "Party",
    "Piece",
    "ProductEvent",
    "Profile",
    "ProfileRow",
    "Progress",
    "Provenance",
    "ProvenanceRecord",
    "Remedy",
    "Request",
    "Samples",
    "Sampling",
    "SharedElements",
    "SharedMap",
    "SharedPiece",
    "SourceRow",
    "Surface",
    "Texture",
    "Trace",
    "TraceRecord",
    "TraceRecords",
    "TracedArray",
    "UnsupportedInstruction",
    "global_array",
    "kernel",
    "mma",
    "shared_map",
    "surface",
    "tensor_map",
    "tensor_map_im2col",
    "texture",
]

__getattr__ = later(
    __name__,
    {
        "ptxloom.fragments.filled": "Filled",
        "ptxloom.machine.device": "Device",
        "ptxloom.machine.launch.grid": "Progress",
        "ptxloom.machine.memory.address_map": "Piece",
        "ptxloom.machine.memory.device_memory": "Allocation MemoryHolder OutOfDeviceMemory",
        "ptxloom.machine.memory.images": "Sampling",
        "ptxloom.machine.memory.module_variables": "global_array",
        "ptxloom.machine.memory.tensor_map": "MappedArray tensor_map tensor_map_im2col",
        "ptxloom.machine.memory.textures": "Surface Texture surface texture",
        "ptxloom.machine.plan.legality": "IllegalPtx",
        "ptxloom.machine.program.parameters": "KernelParameter",
        "ptxloom.machine.program.unsupported": "UnsupportedInstruction",
        "ptxloom.machine.results.conflict_fixes": "Change Remedy",
        "ptxloom.machine.results.fidelity": "Fidelity FidelityRow",
        "ptxloom.machine.results.hazard": "Hazard Hazards Party",
        "ptxloom.machine.results.outcome": "LaunchError LaunchResult NotReadyError",
        "ptxloom.machine.results.profile": "Counts Facts Profile ProfileRow Samples SourceRow",
        "ptxloom.machine.results.provenance": "Contents Kind OperandOrigins ProductEvent ProvenanceRecord TracedArray",
        "ptxloom.machine.launch.options": "LaunchOptions",
        "ptxloom.machine.results.provenance_choice": "Provenance",
        "ptxloom.machine.results.shared_map": "SharedElements SharedMap SharedPiece shared_map",
        "ptxloom.machine.results.trace": "Blocks Request Trace TraceRecord TraceRecords",
        "ptxloom.machine.tensor.batch": "mma",
    },
)
