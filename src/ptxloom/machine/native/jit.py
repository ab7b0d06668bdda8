"""Compiles functions of the run-time on first use; machine code is cached on disk.

They are first compiled without optimisation, which takes LLVM a tenth of the time. Once warps have run long in such
code, in this process and earlier ones, a background process optimises it (`native/optimiser.py`). That functions are
worth it is stored, too: if this process ends before they are optimised, the next one does so when it needs them.
Functions have one entry on disk, which starts with their state: optimised, light, or light and worth optimising.
"""

from __future__ import annotations

import atexit
import re
import zlib
from functools import partial
from importlib import import_module  # noqa: TID251 - code that is kept names functions of the run-time
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom import disk_cache, own_python
from ptxloom.machine.native import interrupts, tier
from ptxloom.machine.native.llvm import LOCK, Code, compile_here, host, load
from ptxloom.machine.native.signature import name_of, symbol_named, symbol_of
from ptxloom.machine.native.standalone import standalone_of
from ptxloom.machine.native.together import members

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from ptxloom.machine.native.closure import Parts

_OURS: Final = "ptxloom."
_LARGE: Final = 3 << 20  # characters of IR that take LLVM about a second without optimisation
_REFERRED: Final = re.compile(r"^declare [^@]*@(?!llvm\.)([\w.]+)", re.MULTILINE)
#: The run-time's functions, for as long as the process lives: by their names, and whether a tool may watch.
_RUNTIME: Final[dict[tuple[str, bool], Code]] = {}
_BEST: Final = 2  # the level of optimised functions of the run-time
_OPTIMISED, _LIGHT_CODE, _WORTH_IT = b"optimised", b"light", b"worth optimising"  # the states of cached functions
LONG: Final = 1 << 26  # warp instructions after which functions are worth optimising
_LAUNCH: Final = 1 << 10  # instructions that what a launch itself takes of the run-time counts for
LITTLE: Final = LONG >> 8  # instructions that are not worth a file
_COUNT: Final = "instructions of warps in light functions"


class Light(NamedTuple):
    """Functions in use that have not been optimised.

    Attributes:
        names: Their names.
        watched: Whether a tool may watch.
        callees: The names of the functions that they call, as `compiled` writes them.
    """

    names: tuple[str, ...]
    watched: bool
    callees: bytes


class _Patience:
    """Warp instructions in light functions since such functions were last found worth optimising.

    Attributes:
        before: Those of earlier processes; None until first needed.
        here: Those of this process.
    """

    before: int | None = None
    here = 0

    @classmethod
    def is_over(cls, instructions: int) -> bool:
        """Whether warps have run long enough, including some more instructions."""
        if cls.before is None:
            cls.before = int(disk_cache.kept(_COUNT) or b"0")
        cls.here += instructions
        return cls.before + cls.here >= LONG

    @classmethod
    def renew(cls) -> None:
        """Reset the count."""
        cls.before = cls.here = 0


_LIGHT: Final[dict[str, Light]] = {}  # by the key of the optimised functions; callees come first
_REPLACED: Final[list[Code]] = []  # still called by kernels
_WORTH: Final[set[str]] = set()  # functions worth optimising, by the key of the optimised ones


def cached(key: str, make: Callable[[], bytes]) -> bytes:
    """The result of `make`, cached on disk under a key, to which the host and LLVM are added."""
    return disk_cache.cached(f"{host()}\n{key}", make)


def kept(key: str) -> bytes | None:
    """The cached content for such a key, if any."""
    return disk_cache.kept(f"{host()}\n{key}")


def keep(key: str, content: bytes) -> None:
    """Cache content on disk under such a key."""
    disk_cache.keep(f"{host()}\n{key}", content)


def compile_ir(ir: str, level: int) -> bytes:
    """An object file for a module of IR; level 0 compiles fast, 2 optimises.

    LLVM cannot be interrupted, and takes more than twice as long for a function of twice the size: so large modules are
    compiled by a separate process, which a time limit or Ctrl-C ends.

    Raises:
        RuntimeError: The IR is wrong (a bug in ptxloom).
        TimeIsUp: The time limit is reached.
    """
    interrupts.check()
    if len(ir) > _LARGE and own_python.is_there():
        from ptxloom.machine.native import apart  # noqa: PLC0415 - few kernels are so large

        return apart.compiled(ir, level)
    return compile_here(ir, level)


def compiled(ir: str, level: int) -> bytes:
    """An object file in its cached form: after a list of its callees, standalone ones with their modules."""
    return " ".join(map(_with_module, _REFERRED.findall(ir))).encode() + b"\n" + compile_ir(ir, level)


def _with_module(name: str) -> str:
    function = standalone_of(name)
    return name if function is None else f"{name}@{function.__module__}"


def loaded(made: Iterable[bytes], symbols: Collection[str], *, watched: bool) -> dict[str, Code]:
    """Load the functions of object files from `compiled`.

    Functions of the run-time that they call have been loaded before, or are loaded now if they are standalone.
    """
    parts = [one.partition(b"\n") for one in made]
    callees: dict[str, int] = {}
    for named in b" ".join(names for names, _, _ in parts).decode().split():
        name, _, module = named.partition("@")
        if (name, watched) in _RUNTIME:
            callees[name] = _RUNTIME[name, watched].address
        elif module:
            callees[name] = named_address(module, name_of(name), watched=watched)
    return load([code for _, _, code in parts], symbols, callees)


def native_address(function: Callable[..., object], *, watched: bool = True) -> int:
    """The machine code of a native function, compiled with all it calls.

    Args:
        function: The function.
        watched: Whether a tool may watch the launch that it is for; if not, code that only tools need is omitted.
    """
    # functions outside the package are not covered by its state: their text is part of the key
    text = "" if function.__module__.startswith(_OURS) else _parts(function)[0]
    return linked(symbol_of(function), partial(_parts, function), text, watched=watched)


def named_address(module: str, name: str, *, watched: bool) -> int:
    """The machine code of a native function; if it is ours, its module is imported only if the cache lacks the code.

    Args:
        module: Its module.
        name: Its name there.
        watched: Whether a tool may watch.
    """
    if not module.startswith(_OURS):
        return native_address(_function(module, name), watched=watched)
    return linked(symbol_named(name), lambda: _parts(_function(module, name)), watched=watched)


def _function(module: str, name: str) -> Callable[..., object]:
    return vars(import_module(module))[name]


def _parts(function: Callable[..., object]) -> Parts:
    from ptxloom.machine.native import closure  # noqa: PLC0415 - kept code does not need what translates

    return closure.parts_of(function)


def helper_address(name: str, ir: str | Callable[[], str], *, light: bool = True) -> int:
    """The machine code of a function given as IR; a function `ir` is called only if the code is not in the cache.

    Args:
        name: Its name.
        ir: The IR.
        light: Whether it may be light; it stays so unless kernels call it.
    """
    parts = partial(_given, ir)
    address = linked(name, parts, watched=False, light=light)
    _RUNTIME.setdefault((name, True), _RUNTIME[name, False])
    return address


def _given(ir: str | Callable[[], str]) -> Parts:
    return ir if isinstance(ir, str) else ir(), ()


def linked(name: str, parts: Callable[[], Parts], text: str = "", *, watched: bool, light: bool = True) -> int:
    """The address of a run-time function, loaded on first use.

    Args:
        name: Its name.
        parts: Returns its IR, and the native functions that it calls directly.
        text: A text that distinguishes it from others with its name.
        watched: Whether a tool may watch.
        light: Whether it may be light.
    """
    with LOCK:
        if (name, watched) not in _RUNTIME:
            key = f"runtime {name} {text}"
            if watched and cached(f"{key} has no part in tools", lambda: _needs_tools(parts)) == b"no":
                linked(name, parts, text, watched=False, light=light)
                _RUNTIME[name, True] = _RUNTIME[name, False]
            elif not watched and name in members():
                _link_together()
            else:
                _load({f"{key} {watched}": ((name,), parts)}, watched=watched, light=light)
        return _RUNTIME[name, watched].address


def link(parts: Mapping[str, Callable[[], Parts]]) -> None:
    """Load run-time functions together, for launches that no tool watches.

    Args:
        parts: Returns the IR of each by its name, and the native functions that it calls directly.
    """
    with LOCK:
        wanted = [name for name in parts if (name, False) not in _RUNTIME]
        if wanted:
            _load({f"runtime {name}  False": ((name,), parts[name]) for name in wanted}, watched=False)


def link_watched(functions: Iterable[Callable[..., object]]) -> None:
    """Load functions together for launches that a tool watches, optimised: they run for almost every instruction."""
    known = {symbol_of(function): function for function in functions}
    with LOCK:
        _load_together(known, known.__getitem__, watched=True, light=False)


def _link_together() -> None:
    """Load the functions that most launches need, for launches that no tool watches."""
    known = members()
    _load_together(known, lambda name: _function(*known[name].split(":")), watched=False)


def _load_together(
    names: Iterable[str], function: Callable[[str], Callable[..., object]], *, watched: bool, light: bool = True
) -> None:
    """Load those of some functions that are not loaded yet, together."""
    wanted = [name for name in names if (name, watched) not in _RUNTIME]

    def parts() -> Parts:
        from ptxloom.machine.native import closure  # noqa: PLC0415 - as in `_parts`

        return closure.parts_together(map(function, wanted))

    if wanted:
        key = f"runtime together {'watched ' if watched else ''}{' '.join(wanted)}"
        _load({key: (tuple(wanted), parts)}, watched=watched, light=light)


def _load(
    wanted: Mapping[str, tuple[tuple[str, ...], Callable[[], Parts]]], *, watched: bool, light: bool = True
) -> None:
    """Load functions together.

    Args:
        wanted: The functions and their parts, by the key of their optimised code.
        watched: Whether a tool may watch.
        light: Whether they may be light.
    """
    contents: list[bytes] = []
    lights: dict[str, Light] = {}
    for key, (names, parts) in wanted.items():
        is_light, content = _made(key, partial(_closed, parts, watched=watched), light=light and _will_improve())
        if is_light:
            lights[key] = Light(names, watched, content.partition(b"\n")[0])
        contents.append(content)
    names = [name for some, _ in wanted.values() for name in some]
    for name, code in loaded(contents, names, watched=watched).items():
        _RUNTIME[name, watched] = code
    _LIGHT.update(lights)


def _will_improve() -> bool:
    """Whether light functions are optimised later, which needs a cache on disk for their IR and for kernels."""
    return tier.improves() and disk_cache.cache_folder() is not None


def _made(key: str, make: Callable[[], str], *, light: bool) -> tuple[bool, bytes]:
    """Functions, from the cache if they have been compiled before: whether they are light, and their code.

    A launch with a time limit does not optimise functions that others found worth it: the time is for the kernel.

    Args:
        key: Their key.
        make: Returns their IR.
        light: Whether they may be light.
    """
    stage, content = _found(key)
    if stage == _OPTIMISED:
        return False, content
    if light and not (stage == _WORTH_IT and not interrupts.is_limited()):
        return True, content or _light(key, make)
    ir = kept(f"IR of {key}") if stage == _WORTH_IT else None
    content = compiled(make() if ir is None else zlib.decompress(ir).decode(), _BEST)
    _keep_as(_OPTIMISED, key, content)
    return False, content


def _found(key: str) -> tuple[bytes, bytes]:
    """The state and the code of functions cached under a key; both empty if they are not cached."""
    stage, _, content = (kept(key) or b"").partition(b"\n")
    return stage, content


def _keep_as(stage: bytes, key: str, content: bytes) -> None:
    keep(key, stage + b"\n" + content)


def _light(key: str, make: Callable[[], str]) -> bytes:
    """Unoptimised code; its IR is cached."""
    ir = make()
    keep(f"IR of {key}", zlib.compress(ir.encode(), 1))
    content = compiled(ir, 0)
    _keep_as(_LIGHT_CODE, key, content)
    return content


def ran(instructions: int) -> None:
    """Record that warps have run instructions: light functions are optimised in the background, and loaded when ready.

    Kernels linked from then on call them.

    Args:
        instructions: The instructions since the last call.
    """
    if not _LIGHT or not _Patience.is_over(instructions + _LAUNCH):
        return
    from ptxloom.machine.native import optimiser  # noqa: PLC0415 - few processes run so long

    with LOCK:
        for key in _LIGHT.keys() - _WORTH:
            stage, content = _found(key)
            if stage == _LIGHT_CODE:
                _keep_as(_WORTH_IT, key, content)
        _WORTH.update(_LIGHT)
        made = optimiser.made({key: partial(kept, f"IR of {key}") for key in _LIGHT})
        if made is None:
            _Patience.renew()
        for key, code in (made or {}).items():
            _replace(key, code)
        if not _LIGHT:
            _Patience.renew()


@atexit.register
def leave_count() -> None:
    """Store the count for later processes, unless it was enough."""
    total = (_Patience.before or 0) + _Patience.here
    if _Patience.here >= LITTLE or total >= LONG:
        disk_cache.keep(_COUNT, b"%d" % (total if total < LONG else 0))


def _replace(key: str, code: bytes) -> None:
    light = _LIGHT.pop(key)
    content = light.callees + b"\n" + code
    _keep_as(_OPTIMISED, key, content)
    for name, new in loaded([content], light.names, watched=light.watched).items():
        old = _RUNTIME[name, light.watched]
        for watched in (False, True):
            if _RUNTIME.get((name, watched)) is old:
                _RUNTIME[name, watched] = new
        _REPLACED.append(old)


def replaced() -> int:
    """The number of run-time functions replaced so far."""
    return len(_REPLACED)


def _needs_tools(parts: Callable[[], Parts]) -> bytes:
    from ptxloom.machine.native import closure  # noqa: PLC0415 - as in `_parts`

    return closure.needs_tools(parts())


def _closed(parts: Callable[[], Parts], *, watched: bool) -> str:
    from ptxloom.machine.native import closure  # noqa: PLC0415 - as in `_parts`

    return closure.closed(*parts(), watched=watched)
