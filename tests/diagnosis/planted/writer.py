"""PTX line by line, with the marks that edits find their lines by."""

from __future__ import annotations

import re
from itertools import count

_HEADER = """\
.version {version}
.target {target}
.address_size 64

.visible .entry k({params})
{{
{declarations}
"""


class Writer:
    """The body of a kernel. Registers are declared by their names: `%rd_x` has 64 bits, `%p_x` is a predicate."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._numbers = count()

    def __call__(self, text: str, mark: str = "") -> None:
        """Add an instruction."""
        self._lines.append(f"    {text};" + f"  // {mark}" * bool(mark))

    def label(self, name: str) -> None:
        """Add a label."""
        self._lines.append(f"{name}:")

    def unique(self, name: str) -> str:
        """A name that nothing else has."""
        return f"{name}{next(self._numbers)}"

    def start(self, *pointers: str, sizes: tuple[str, ...] = ()) -> None:
        """Add what every kernel begins with: its parameters in registers, its lane and its warp."""
        for name in pointers:
            self(f"ld.param.u64 %rd_{name}, [{name}]")
            self(f"cvta.to.global.u64 %rd_{name}, %rd_{name}")
        for name in sizes:
            self(f"ld.param.u32 %{name}, [{name}]")
        self("mov.u32 %thread, %tid.x")
        self("and.b32 %lane, %thread, 31", "lane")
        self("shr.u32 %warp, %thread, 5", "warp")

    def kernel(
        self,
        pointers: tuple[str, ...],
        sizes: tuple[str, ...],
        shared: int,
        target: str = "sm_90",
        version: str = "8.7",
    ) -> str:
        """The whole module; shared memory is called `tiles`."""
        body = "\n".join([*self._lines, "    ret;", "}", ""])
        params = ", ".join([*(f".param .u64 {name}" for name in pointers), *(f".param .u32 {name}" for name in sizes)])
        declared = [f".reg .{_type(name)} {name};" for name in sorted(set(re.findall(r"%[a-z]\w*(?!\.)\b", body)))]
        declared = [line for line in declared if "%tid" not in line and "%ctaid" not in line]
        declared += [f".shared .align 128 .b8 tiles[{shared}];"] * bool(shared)
        declarations = "\n".join(f"    {line}" for line in declared)
        return _HEADER.format(version=version, target=target, params=params, declarations=declarations) + body


def _type(name: str) -> str:
    return {"rd": "b64", "p": "pred", "h": "b16"}.get(name[1:].partition("_")[0], "b32")


def registers(name: str, number: int) -> str:
    """`{%a0, %a1}`."""
    return "{" + ", ".join(f"%{name}{n}" for n in range(number)) + "}"
