"""The dynamic judge: PTX run on the CPU, bit for bit."""

from ptxloom.extras import needed

with needed():
    from ptxloom.fragments.filled import Filled
    from ptxloom.machine.device import Device
    from ptxloom.machine.kernel import Kernel
    from ptxloom.machine.kernels import kernel
    from ptxloom.machine.launch.grid import Progress
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
    from ptxloom.machine.results.outcome import LaunchError, LaunchResult
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
    from ptxloom.machine.results.trace import Blocks, Request, Trace, TraceRecord
    from ptxloom.machine.tensor.batch import mma

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
    "LaunchResult",
    "MappedArray",
    "MemoryHolder",
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
    "SourceRow",
    "Surface",
    "Texture",
    "Trace",
    "TraceRecord",
    "TracedArray",
    "UnsupportedInstruction",
    "global_array",
    "kernel",
    "mma",
    "surface",
    "tensor_map",
    "tensor_map_im2col",
    "texture",
]
