"""The package's face: lazy names that type checkers, `dir` and the interpreter agree on."""

import ast
import dataclasses
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ptxloom as pl

FACE = Path(pl.__file__)


def names_for_type_checkers() -> dict[str, str]:
    """Public name -> module, as the `if TYPE_CHECKING` block says."""
    for node in ast.parse(FACE.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If):
            imports = [n for n in node.body if isinstance(n, ast.ImportFrom)]
            return {a.name: (n.module or "").removeprefix("ptxloom.") for n in imports for a in n.names}
    raise AssertionError("no TYPE_CHECKING block")


def test_type_checkers_see_what_the_interpreter_finds() -> None:
    assert names_for_type_checkers() == pl._EXPORTS


@pytest.mark.parametrize("name", sorted(pl._EXPORTS))
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(pl, name) is getattr(pl, name)
    assert name in dir(pl)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'ldmatricks'"):
        _ = pl.ldmatricks  # type: ignore[attr-defined]


def test_importing_the_package_imports_nothing_else_of_it() -> None:
    code = "import sys, ptxloom; print([m for m in sys.modules if m.startswith('ptxloom.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_all_is_what_is_public_in_order() -> None:
    assert pl.__all__ == sorted(pl._EXPORTS)
    assert set(pl.__all__) == set(dir(pl)) - {"__version__"}
    assert (FACE.parent / "py.typed").is_file()


def sections(text: str) -> dict[str, str]:
    """The parts of a docstring by their heads; what stands in front of them by the empty string."""
    parts = re.split(r"(?m)^(Attributes|Args|Returns|Yields|Raises|Example):$", text)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def documented(text: str) -> set[str]:
    """What a section lists."""
    return set(re.findall(r"(?m)^    \*{0,2}(\w+): ", text))


def functions(kind: type[object]) -> list[Callable[..., object]]:
    """The public functions of a class."""
    found = [getattr(value, "__func__", value) for name, value in vars(kind).items() if name[0] != "_"]
    return [one for one in found if inspect.isfunction(one)]


def complete(function: Callable[..., object]) -> None:
    """Whether help about a function names what it takes, gives back and raises."""
    signature = inspect.signature(function)
    parts = sections(inspect.getdoc(function) or "")
    assert parts[""].strip(), (function, "says what it does")
    taken = set(signature.parameters) - {"self", "cls"}
    assert documented(parts.get("Args", "")) == taken, (function, "names what it takes")
    given = signature.return_annotation
    assert ("Returns" in parts) == (given != "None" and bool(taken)), (function, "says what it gives back")
    assert ("raise " in inspect.getsource(function)) <= ("Raises" in parts), (function, "says what it raises")


@pytest.mark.parametrize("name", pl.__all__)
def test_help_is_complete(name: str) -> None:
    said = getattr(pl, name)
    parts = sections(inspect.getdoc(said) or "")
    assert parts[""].strip(), "says what it is"
    assert ">>> " in parts.get("Example", ""), "shows how it is used"
    fails = inspect.isclass(said) and issubclass(said, Exception)
    assert fails or "Traceback" not in parts["Example"], "shows how it succeeds"
    if inspect.isclass(said):
        fields = {f.name for f in dataclasses.fields(said) if f.repr} if dataclasses.is_dataclass(said) else set[str]()
        assert fields <= documented(parts.get("Attributes", "")), "names what it holds"
        for function in functions(said):
            complete(function)
    else:
        complete(said)
