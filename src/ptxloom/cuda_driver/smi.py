"""The output of `nvidia-smi` for programs: the driver's device.

`ptxloom exec` puts a script of this name first on the program's path; it runs `python -m ptxloom.cuda_driver.smi`.
"""

from __future__ import annotations

import argparse
import ctypes
import shlex
import sys
from typing import TYPE_CHECKING, Final
from uuid import UUID

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_NAME: Final = "nvidia-smi"
_NOT_KNOWN: Final = "[N/A]"
_MIB: Final = 1 << 20
_WRONG, _NO_DEVICE = 2, 6  # exit statuses
_UNITS: Final = {
    "memory.total": "MiB", "memory.used": "MiB", "memory.free": "MiB", "memory.reserved": "MiB",
    "utilization.gpu": "%", "utilization.memory": "%", "power.draw": "W", "power.limit": "W",
    "clocks.sm": "MHz", "clocks.mem": "MHz", "clocks.gr": "MHz", "clocks.max.sm": "MHz", "clocks.max.mem": "MHz",
}  # fmt: skip
_WITHOUT: Final = (
    "temperature.gpu", "fan.speed", "pstate", "persistence_mode", "mig.mode.current", "ecc.mode.current",
    "vbios_version", "serial", "timestamp", "display_active", "compute_mode", "power.management",
)  # fmt: skip
_OTHERWISE: Final = {
    "gpu_name": "name",
    "gpu_uuid": "uuid",
    "gpu_bus_id": "pci.bus_id",
    "clocks.current.sm": "clocks.sm",
}


@dataclass(frozen=True, slots=True)
class DeviceState:
    """The driver's description of its device.

    Attributes:
        name: Its name.
        uuid: The UUID, in the format of `nvidia-smi`.
        bus: Its address on the bus.
        memory_bytes: All of its memory; each process has a device of its own, so no memory of others is used.
        capability: The compute capability, such as 9.0.
        cuda: The driver's version of CUDA, such as 13.5.
    """

    name: str
    uuid: str
    bus: str
    memory_bytes: int
    capability: str
    cuda: str

    def field(self, name: str) -> str | None:
        """The value of a field of a query, without its unit; None if there is no such field."""
        mib = self.memory_bytes // _MIB
        known = {
            "name": self.name, "uuid": self.uuid, "pci.bus_id": self.bus, "index": "0", "count": "1",
            "driver_version": self.cuda, "compute_cap": self.capability,
            "memory.total": str(mib), "memory.used": "0", "memory.free": str(mib), "memory.reserved": "0",
        }  # fmt: skip
        return known.get(_OTHERWISE.get(name, name), _NOT_KNOWN if name in (*_UNITS, *_WITHOUT, *_OTHERWISE) else None)


def place(folder: Path) -> None:
    """Put the script into a folder.

    Args:
        folder: The server's folder, which is removed with the server.
    """
    script = folder / _NAME
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m {__name__} "$@"\n', encoding="utf-8")
    script.chmod(0o755)


def main(arguments: Sequence[str]) -> int:
    """Print the requested data; returns the exit status."""
    text, status = told(arguments, _seen())
    sys.stdout.write(text + "\n")
    return status


def told(arguments: Sequence[str], seen: DeviceState | None) -> tuple[str, int]:
    """The output for a command line, and the exit status that `nvidia-smi` returns for it.

    Args:
        arguments: The arguments of the command line.
        seen: The device, if there is one.
    """
    asked = _parser().parse_args(arguments)
    if seen is None or asked.id not in {None, "0", seen.uuid, seen.bus}:
        return "No devices were found", _NO_DEVICE
    if asked.query_gpu or asked.query_compute_apps:
        return _queried(asked, seen)
    return f"GPU 0: {seen.name} (UUID: {seen.uuid})" if asked.list else "\n".join(_table(seen)), 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        _NAME, allow_abbrev=False, description="Describes ptxloom's CUDA device; there is no GPU."
    )
    parser.add_argument("-L", "--list-gpus", dest="list", action="store_true", help="list the device")
    parser.add_argument("-i", "--id", help="this device only")
    parser.add_argument("--query-gpu", metavar="FIELDS", help="fields, comma-separated; see --format")
    parser.add_argument("--query-compute-apps", metavar="FIELDS", help="fields of processes: prints no rows")
    parser.add_argument("--format", metavar="csv[,noheader][,nounits]", help="the format of a query's output")
    return parser


def _queried(asked: argparse.Namespace, seen: DeviceState) -> tuple[str, int]:
    """A query as comma-separated values, and the exit status."""
    how = (asked.format or "").split(",")
    if how[0] != "csv" or not {*how[1:]} <= {"noheader", "nounits"}:
        return "A query needs `--format=csv`, optionally followed by `noheader` and `nounits`.", _WRONG
    names: list[str] = [one.strip() for one in (asked.query_gpu or asked.query_compute_apps).split(",")]
    lines = (
        [] if "noheader" in how else [", ".join(f"{one} [{_UNITS[one]}]" if one in _UNITS else one for one in names)]
    )
    if asked.query_gpu:
        values = [(name, seen.field(name)) for name in names]
        wrong = next((name for name, value in values if value is None), None)
        if wrong is not None:
            return f'Field "{wrong}" is not a valid field to query.', _WRONG
        units = {} if "nounits" in how else _UNITS
        lines.append(
            ", ".join(
                f"{value} {units[name]}" if name in units and value != _NOT_KNOWN else f"{value}"
                for name, value in values
            )
        )
    return "\n".join(lines), 0


def _table(seen: DeviceState) -> list[str]:
    """The table that is printed without a query."""
    mib = f"0MiB / {seen.memory_bytes // _MIB}MiB"
    lines = [
        f"NVIDIA-SMI of ptxloom: there is no GPU    Driver Version: {seen.cuda}    CUDA Version: {seen.cuda}",
        f"  0  {seen.name}    {seen.bus}    {mib}    compute capability {seen.capability}",
    ]
    width = max(map(len, lines))
    rule = f"+{'-' * (width + 2)}+"
    return [rule, *(line for text in lines for line in (f"| {text:{width}} |", rule))]


def _seen() -> DeviceState | None:
    """The device; None if the driver has no device."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    name, bus, uuid = (ctypes.create_string_buffer(size) for size in (256, 32, 16))
    total, version, major, minor = ctypes.c_size_t(), ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    answers = (
        cuda.cuInit(0),
        cuda.cuDeviceGetName(name, 256, 0),
        cuda.cuDeviceGetPCIBusId(bus, 32, 0),
        cuda.cuDeviceGetUuid_v2(uuid, 0),
        cuda.cuDeviceTotalMem_v2(ctypes.byref(total), 0),
        cuda.cuDriverGetVersion(ctypes.byref(version)),
        cuda.cuDeviceComputeCapability(ctypes.byref(major), ctypes.byref(minor), 0),
    )
    if any(answers):
        return None
    return DeviceState(
        name.value.decode("utf-8", "replace"),
        f"GPU-{UUID(bytes=uuid.raw)}",
        bus.value.decode("ascii", "replace"),
        total.value,
        f"{major.value}.{minor.value}",
        f"{version.value // 1000}.{version.value % 1000 // 10}",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
