"""Lines of PTX that put forged values into registers: edges, windows, addresses of others, and some that are right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.runtime import state

if TYPE_CHECKING:
    import random

FORGED: Final = 8  # parameters of the kernel that hold whatever addresses the attacker knows
_EDGES: Final = (0, 1 << 7, 1 << 15, 1 << 16, 1 << 24, 1 << 31, 1 << 32, 1 << 48, 1 << 62, 1 << 63, 1 << 64)
_NEAR: Final = (0, 0, 0, 1, 2, 4, 8, 16, 24, 28, 32, 64, 128, 256, 1024, 4096)
_WINDOWS: Final = (
    state.SHARED_WINDOW,
    state.SHARED_WINDOW + (1 << state.CLUSTER_SHIFT),
    state.SHARED_WINDOW + (2 << state.CLUSTER_SHIFT),
    state.SHARED_WINDOW + (17 << state.CLUSTER_SHIFT),
    state.LOCAL_WINDOW,
    state.LOCAL_WINDOW + state.WINDOW_BYTES,
    state.PARAM_WINDOW,
    state.CODE_WINDOW,
)
_BITS: Final = {"pred": 1, "b8": 8, "u8": 8, "s8": 8, "f16x2": 32, "b128": 128}


class Forger:
    """Chooses values for registers; the same for the same chance.

    Attributes:
        names: Variables and functions whose addresses may be taken.
        parameters: Whether the kernel's parameters can be read here.
        tame: How many of ten addresses are right.
    """

    def __init__(self, chance: random.Random, names: tuple[str, ...], *, parameters: bool, tame: int) -> None:
        self.chance = chance
        self.names = names
        self.parameters = parameters
        self.tame = tame

    def fill(self, register: str, kind: str, near: tuple[str, ...]) -> str:  # noqa: PLR0911 - one a width
        """Lines that set a register of a type; a right address is in one of some variables, or of the array."""
        bits = _BITS.get(kind) or int("".join(c for c in kind if c.isdigit()))
        match bits:
            case 1:
                return f"setp.lt.u32 {register}, %lane, {self.chance.choice((0, 1, 16, 31, 32, 32, 32))};"
            case 8:
                return ""
            case 16:
                return (
                    f"mov.b16 {register}, {self.chance.choice((0, 1, 0x7FFF, 0xFFFF, self.chance.randrange(1 << 16)))};"
                )
            case 32 if kind.startswith("f"):
                return f"{self.word('%t0', near)} mov.b32 {register}, %t0;"
            case 32:
                return self.word(register, near)
            case 64 if kind.startswith("f"):
                return f"{self.wide('%w0', near)} mov.b64 {register}, %w0;"
            case 128:
                return f"{self.wide('%w0')} {self.wide('%w1')} mov.b128 {register}, {{%w0, %w1}};"
            case _:
                return self.wide(register, near)

    def near(self) -> int:
        """A small distance, often 0, to either side."""
        return self.chance.choice((1, 1, -1)) * self.chance.choice(_NEAR)

    def wide(self, register: str, near: tuple[str, ...] = ()) -> str:  # noqa: PLR0911 - one a kind of value
        """Lines that set a register of 64 bits."""
        if self.chance.randrange(10) < self.tame:
            return self._right(register, near)
        match self.chance.randrange(6):
            case 0:
                return f"mov.b64 {register}, {_hex(self.chance.choice(_EDGES) + self.near(), 64)};"
            case 1:
                return f"mov.b64 {register}, {_hex(self.chance.choice(_WINDOWS) + self.near(), 64)};"
            case 2:
                return f"mov.b64 {register}, {_hex(self.chance.getrandbits(64), 64)};"
            case 3 if self.parameters:
                number = self.chance.randrange(FORGED)
                return f"ld.param.b64 {register}, [forged+{8 * number}]; add.s64 {register}, {register}, {self.near()};"
            case 4:
                step = _hex(self.chance.choice((1 << 32, 1 << 31, 1 << 24, 1 << 16, 4096, 48, 16, 4, 1)), 64)
                return f"{self._right(register)} mad.lo.s64 {register}, %lanes, {step}, {register};"
            case _:
                return f"{self._right(register)} add.s64 {register}, {register}, {self.near()};"

    def _right(self, register: str, near: tuple[str, ...] = ()) -> str:
        """An address that is one, most often aligned."""
        name = self.chance.choice(near or self.names)
        at = 16 * self.chance.choice((0, 0, 0, 1, 2))
        if name == "glo" and near and not self.parameters:
            return f"mov.u64 {register}, glo; add.s64 {register}, {register}, {at};"
        if self.parameters and (name == "glo" or (not near and self.chance.random() < 0.4)):
            return f"ld.param.b64 {register}, [par]; add.s64 {register}, {register}, {at};"
        space = {"sha": "shared", "con": "const", "loc": "local"}.get(name, "")
        is_generic = space and not near and self.chance.random() < 0.5
        generic = f" cvta.{space}.u64 {register}, {register};" if is_generic else ""
        return f"mov.u64 {register}, {name};{generic}" + (f" add.s64 {register}, {register}, {at};" if space else "")

    def word(self, register: str, near: tuple[str, ...] = ()) -> str:
        """Lines that set a register of 32 bits."""
        if self.chance.randrange(10) < self.tame:
            name = self.chance.choice([n for n in near if n in {"sha", "loc"}] or ["sha", "loc"])
            return f"mov.u32 {register}, {name};"
        match self.chance.randrange(5):
            case 0:
                return f"mov.b32 {register}, {_hex(self.chance.choice(_EDGES) + self.near(), 32)};"
            case 1:
                return f"mov.b32 {register}, {_hex(self.chance.getrandbits(32), 32)};"
            case 2:
                return f"mov.b32 {register}, {self.chance.choice(_NEAR)};"
            case 3:
                return f"mul.lo.u32 {register}, %lane, {_hex(self.chance.choice((1, 4, 16, 1 << 27, 1 << 30)), 32)};"
            case _:
                return f"mov.u32 {register}, sha; add.s32 {register}, {register}, {self.near()};"


def _hex(number: int, bits: int) -> str:
    return f"0x{number & (1 << bits) - 1:x}"
