"""`wgmma`: products of the four warps of a warpgroup (PTX ISA 9.7.15).

Each warp computes its own rows when it reaches the instruction: only wrong programs can observe the asynchrony, and the
tools report those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UnsupportedForm
from ptxloom.fragments.derive import transposition
from ptxloom.isa.limits import LANES
from ptxloom.isa.products import matrix_form
from ptxloom.machine.codegen.convergence import aligned
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import ALL, W
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.program.symbols import Register
from ptxloom.machine.runtime.warps import warpgroups
from ptxloom.machine.runtime.wgmma import operands, waiting
from ptxloom.machine.runtime.wgmma.operands import CORE_BYTES
from ptxloom.machine.tensor import emit
from ptxloom.machine.tensor.wgmma import sign_bits, tile
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

    Registers: TypeAlias = tuple[Value, ...]

family: Final = Family()

_A_LINES: Final = 2  # of eight rows, a warp
_A_PARTS: Final = 2  # of 16 bytes along k, as it is stored
_TRANSPOSABLE: Final = ("f16", "bf16")
_WORDS: Final = vector("i32")


@family("wgmma", when=lambda op: op.has("fence"), starts=True)
def fence(b: Builder, op: Op) -> None:
    """Warps run in order."""
    _alike(b, op)


@family("wgmma", when=lambda op: op.has("commit_group"), starts=True)
def commit_group(b: Builder, op: Op) -> None:
    """The products so far become a group."""
    _alike(b, op)
    _when_active(b, lambda: b.runtime(warpgroups.commit_products, W))


@family("wgmma", when=lambda op: op.has("wait_group"), starts=True, ends=True)
def wait_group(b: Builder, op: Op) -> None:
    """Wait until the other warps of the warpgroup have computed these products, too."""
    _alike(b, op)
    kept = b.literal(op.operands[0])
    if kept is None:
        raise op.unsupported("the number of groups is not a constant")
    b.resume(b.runtime(waiting.wait_products, W, b.active_mask, kept, b.following))


@family("wgmma", when=lambda op: op.has("mma_async"), starts=True)
def mma_async(b: Builder, op: Op) -> None:
    """D = A * B, plus D by `scale-d`, with the tensor cores' own rounding."""
    try:
        product = _Product(b, op, matrix_form(op.spelling))
    except UnsupportedForm as why:
        raise op.unsupported(str(why)) from why
    aligned(b)
    _when_active(b, product.build)


def _alike(b: Builder, op: Op) -> None:
    """All warps of the warpgroup execute it."""
    aligned(b)
    if "synccheck" in b.checks:
        _when_active(b, lambda: b.runtime(warpgroups.keep_step, W, op.site, 0))


def _when_active(b: Builder, build: Callable[[], object]) -> None:
    """Emit code that runs if any lane executes the instruction."""
    if b.active is None:
        build()
    else:
        b.when(b.compare("ne", b.active, Value("i32", "0")), build)


class _Product:
    """One `wgmma.mma_async`, with its operands by name."""

    def __init__(self, b: Builder, op: Op, form: MatrixForm) -> None:
        self.b = b
        self.op = op
        self.form = form
        self.tile = tile(form)
        self.tiles = form.n // self.tile.n
        d, self.a, self.descriptor, *rest = op.operands
        self.d = self._registers(d)
        self.in_registers = isinstance(self.a, tree.Vector)
        self.sparsity = rest[:2] if form.sparse else []
        self.scaled, *numbers = rest[len(self.sparsity) :]
        known = [b.literal(number) for number in numbers]
        self.negated = known[:2] in ([1, -1], [-1, 1])
        transposed = [*([0] if self.in_registers else []), *known[2:]] if form.a_type in _TRANSPOSABLE else [0, 0]
        self.across = tuple(number or 0 for number in transposed)
        if len(self.d) != form.registers("d") or len(self.across) != 2 or None in known:
            raise op.unsupported("its operands are not understood")

    def build(self) -> None:
        """Emit it."""
        parts = self.tile.registers("b")
        if "synccheck" in self.b.checks:
            self._compare()
        a = self._a()
        core_matrices = self._gathered(self.descriptor, self.tiles, parts, is_a=False)
        factors = [core_matrices[at : at + parts] for at in range(0, len(core_matrices), parts)]
        count = self.tile.registers("d")
        results = [self.d[at : at + count] for at in range(0, len(self.d), count)]
        stages = emit.stages(self.form, self.b.program.target)
        if stages is None:
            self._in_one(a, factors, results)
        else:
            self._in_stages(stages, a, factors, results)

    def _in_one(self, a: Registers, factors: Sequence[Registers], results: Sequence[Registers]) -> None:
        """Tile by tile, from registers to registers."""
        function = emit.function(self.form, self.b.program.target, self._selector())
        metadata = self._metadata()
        self._clear()
        for factor, d in zip(factors, results, strict=True):
            self._call(function, *d, *a, *factor, *d, *metadata)

    def _in_stages(
        self, stages: emit.TensorStages, a: Registers, factors: Sequence[Registers], results: Sequence[Registers]
    ) -> None:
        """The same, with A unpacked once."""
        room = self.b.images.room
        image, other = room("a image", stages.bytes[0]), room("b image", stages.bytes[1])
        self._call(stages.unpack[0], image, *a)
        self._clear()
        for factor, d in zip(factors, results, strict=True):
            self._call(stages.unpack[1], other, *factor)
            self._call(stages.multiply, *d, image, other, *d)

    # -- factors

    def _a(self) -> Registers:
        """Where the registers of A lie, negated by `imm-scale`."""
        b = self.b
        if self.in_registers:
            places = self._registers(self.a)
            if len(places) != self.tile.registers("a"):
                raise self.op.unsupported(f"it takes {self.tile.registers('a')} registers of A")
        else:
            found = self._gathered(self.a, _A_LINES, _A_PARTS, is_a=True)
            places = (found[0], found[2], found[1], found[3])  # rows before k, as in `mma`
        if not self.negated:
            return places
        turned = b.images.room("turned", len(places) * CORE_BYTES)
        result = tuple(b.offset(turned, n * CORE_BYTES) for n in range(len(places)))
        for place, into in zip(places, result, strict=True):
            word = b.load(_WORDS, place, 4)
            b.store(b.apply("xor", word, b.constant(_WORDS, sign_bits(self.form.a_type))), into, 64)
        return result

    def _gathered(self, descriptor: tree.Operand, lines: int, parts: int, *, is_a: bool) -> Registers:
        """The core matrices of a factor in shared memory, as registers."""
        b = self.b
        across = self.across[0 if is_a else 1]
        room = b.images.room("a" if is_a else "b", lines * parts * CORE_BYTES)
        one = self._word(descriptor)
        facts = (int(is_a), lines, parts, across, self.op.site)
        b.check(b.runtime(operands.gather, W, one, room, *facts))
        places = tuple(b.offset(room, n * CORE_BYTES) for n in range(lines * parts))
        if across:
            for place in places:
                halves = vector("i16", 2 * LANES)
                b.store(b.shuffle(b.load(halves, place, 64), transposition()), place, 64)
        return places

    def _word(self, descriptor: tree.Operand) -> Value:
        """The descriptor of the first lane."""
        b = self.b
        named = b.read(descriptor, "b64")
        mask = b.active_mask
        lane = Value("i32", "0") if mask == ALL else b.intrinsic("llvm.cttz", mask, Value("i1", "true"))
        return b.emit("i64", f"extractelement {named}, {lane}")

    def _compare(self) -> None:
        """Record what the warps of the warpgroup must have in common."""
        b = self.b
        told = self._word(self.descriptor)
        if not self.in_registers:
            a = b.apply("shl", self._word(self.a), Value("i64", "1"))
            told = b.apply("xor", told, a)
        b.runtime(warpgroups.keep_step, W, self.op.site, told)

    def _metadata(self) -> Registers:
        if not self.sparsity:
            return ()
        b = self.b
        place = b.images.room("metadata", LANES * 4)
        b.store(b.read(self.sparsity[0], "b32"), place, 64)
        return (place,)

    def _selector(self) -> int:
        if not self.sparsity:
            return 0
        selector = self.b.literal(self.sparsity[1])
        if selector is None:
            raise self.op.unsupported("its sparsity selector is not a constant")
        return selector

    # -- D

    def _registers(self, operand: tree.Operand) -> Registers:
        """The places of registers, which must be 32 bits wide and whole."""
        elements = tree.elements_of(operand)
        found = [self.b.find(e.text) if isinstance(e, tree.Name) else None for e in elements]
        plain = [r for r in found if isinstance(r, Register) and r.type.bits == 32 and r.vector == 1]
        if len(plain) != len(found):
            raise self.op.unsupported("its operands are not registers of their own")
        return tuple(self.b.value_place(r) for r in plain)

    def _clear(self) -> None:
        """Clear D if `scale-d` excludes it."""
        b = self.b
        mask = b.read_mask(self.scaled)

        def clear() -> None:
            kept = b.lanes(mask)
            for place in self.d:
                old = b.load(_WORDS, place, 64)
                b.store(b.select(kept, old, b.constant(_WORDS, 0)), place, 64)

        if mask.text != "-1":
            b.when(b.compare("ne", mask, ALL), clear)

    def _call(self, function: emit.TensorFunction, *operands: Value) -> None:
        self.b.helper(function.symbol, function.ir)
        self.b.call(function.symbol, *operands)
