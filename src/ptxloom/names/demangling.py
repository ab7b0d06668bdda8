"""C++ names of functions: `scale<2>(float*, float)` for `_Z5scaleILi2EEvPff` (Itanium C++ ABI, 5.1).

LLVM's demangler reads them (`pydemumble`, in the extra `cuda`). It recurses, its output can be exponentially longer
than its input, and a mangled name may come from anywhere: only names whose length bounds both are read in this process.
A process of its own with limits reads the others; those of a module are read together.
"""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from ptxloom import own_python

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST: Final = 20_000
"""Characters of a mangled name; longer ones are left as they are, and so is what would become longer than this."""
_PLAIN: Final = 400
"""Characters of a name that is read in this process."""
_REFERENCES: Final = 8
"""References back in such a name, each of which doubles the output at most."""
_REFERENCE: Final = re.compile("[ST]")
_EXPANSION: Final = "Dp"
_SECONDS: Final = 10
_DEATHS: Final = 3
"""Processes that names may end."""
_KEPT: Final = 4096
_READ: dict[str, str] = {}
_MISSED: set[str] = set()

_CHILD: Final = """
import json, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
    resource.setrlimit(resource.RLIMIT_CPU, (2, 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
from pydemumble import demangle
for line in sys.stdin:
    print(json.dumps(demangle(json.loads(line))[:20001]), flush=True)
"""


def demangled(name: str) -> str:
    """A function's name as C++ spells it, with the types of its parameters; an unmangled one as it is.

    A result type is left out, and so are the tags by which numba distinguishes versions of a function.

    Example:
        >>> demangled("_ZN2ns1kIfLi2EEEvPT_"), demangled("gemm")
        ('ns::k<float, 2>(float*)', 'gemm')
    """
    if not is_mangled(name):
        return name
    if name not in _READ:
        learn((name,))
    return _READ.get(name, name)


def learn(names: Iterable[str]) -> None:
    """Read several names at once, where that is cheaper."""
    new = [name for name in dict.fromkeys(names) if is_mangled(name) and name not in _READ]
    if not new:
        return
    if not is_installed():
        _MISSED.add(new[0])
        return
    if len(_READ) + len(new) > _KEPT:
        _READ.clear()
    short = [name for name in new[:_KEPT] if _is_plain(name)]
    long = [name for name in new[:_KEPT] if not _is_plain(name)]
    for name, read in [*zip(short, map(_here, short), strict=True), *zip(long, _elsewhere(long), strict=False)]:
        if read and len(read) <= _LONGEST:
            _READ[name] = _without_result(_TAGS.sub("", read))
    for name in new[:_KEPT]:
        _READ.setdefault(name, name)


def is_mangled(name: str) -> bool:
    """Whether a name is that of a C++ function or variable, as far as its beginning shows."""
    return name.startswith("_Z") and len(name) <= _LONGEST


def missed() -> str:
    """A sentence for those who lack the demangler, once it was needed; empty otherwise."""
    return "functions go by their mangled names; their C++ names take: pip install 'ptxloom[cuda]'" if _MISSED else ""


@cache
def is_installed() -> bool:
    """Whether the demangler is there."""
    return find_spec("pydemumble") is not None


def _is_plain(name: str) -> bool:
    return len(name) <= _PLAIN and len(_REFERENCE.findall(name)) <= _REFERENCES and _EXPANSION not in name


def _here(name: str) -> str:
    from pydemumble import demangle  # noqa: PLC0415 - an extra brings it

    return demangle(name)


def _elsewhere(names: list[str]) -> list[str]:
    """The same in a process of its own; a name that ends it is left as it is, and behind some of those all are."""
    found: list[str] = []
    for _ in range(_DEATHS):
        if len(found) == len(names):
            break
        asked = "".join(f"{json.dumps(name)}\n" for name in names[len(found) :])
        found += map(json.loads, _asked(asked).splitlines())
        if len(found) < len(names):
            found.append("")
    return found


def _asked(asked: str) -> str:
    try:
        done = subprocess.run(
            own_python.command("-c", _CHILD), input=asked, env=own_python.environment(), stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, encoding="utf-8", timeout=_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        return _whole_lines(late.output)
    except OSError:
        return ""
    return _whole_lines(done.stdout)


def _whole_lines(output: str | bytes | None) -> str:
    text = output.decode("utf-8", "replace") if isinstance(output, bytes) else output or ""
    return text[: text.rfind("\n") + 1]


_TAGS: Final = re.compile(r"\[abi:\w+\]")
_OPERATOR: Final = re.compile(r"\boperator\b")


def _without_result(text: str) -> str:
    """A demangled function template without the type of its result, which stands before the name."""
    if _OPERATOR.search(text):
        return text.removeprefix("void ")
    end = parameters_start(text)
    depth, start = 0, 0
    for at, character in enumerate(text[:end]):
        if character in "<([{":
            depth += 1
        elif character in ">)]}":
            depth -= 1
        elif character == " " and depth == 0:
            start = at + 1
    return text[start:]


def parameters_start(text: str) -> int:
    """Where the list of parameters starts in a demangled name; its end without a list.

    Example:
        >>> parameters_start("(anonymous namespace)::k<(f)2>(float*)")
        30
    """
    if not text.endswith(")"):
        return len(text)
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return at
    return len(text)
