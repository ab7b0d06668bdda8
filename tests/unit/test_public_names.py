"""The package's face: lazy names that type checkers, `dir` and the interpreter agree on."""

import ast
import dataclasses
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.explanation import topics
from ptxloom.syntax import tree

FACE = Path(pl.__file__)


def names_for_type_checkers() -> dict[str, str]:
    """Public name -> module, as the `if TYPE_CHECKING` block says; a namespace is a name of the package itself."""
    for node in ast.parse(FACE.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If):
            imports = [n for n in node.body if isinstance(n, ast.ImportFrom)]
            return {a.name: (n.module or "").removeprefix("ptxloom").strip(".") for n in imports for a in n.names}
    raise AssertionError("no TYPE_CHECKING block")


def test_type_checkers_see_what_the_interpreter_finds() -> None:
    assert names_for_type_checkers() == pl._EXPORTS | dict.fromkeys(pl._NAMESPACES, "")


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
    assert pl.__all__ == sorted({*pl._EXPORTS, *pl._NAMESPACES})
    assert set(pl.__all__) == set(dir(pl)) - {"__version__"}
    assert (FACE.parent / "py.typed").is_file()


def test_the_top_stays_small_and_names_every_namespace() -> None:
    assert len(pl._EXPORTS) <= 47
    assert set(re.findall(r"(?m)^- `(\w+)`: ", pl.__doc__ or "")) == pl._NAMESPACES


@pytest.mark.parametrize("name", sorted(pl._NAMESPACES))
def test_a_namespace_says_what_it_holds(name: str) -> None:
    code = f"import ptxloom as pl; print(pl.{name}.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"ptxloom.{name}"
    space = import_module(f"ptxloom.{name}")
    assert space.__doc__
    assert all(inspect.getdoc(value) for value in held(space).values() if inspect.isroutine(value))


def held(space: ModuleType) -> dict[str, object]:
    """What stands in a namespace."""
    return {name: getattr(space, name) for name in space.__all__}


SPACES = {name: import_module(f"ptxloom.{name}") for name in sorted(pl._NAMESPACES)}
PUBLIC = [
    *(getattr(pl, name) for name in pl._EXPORTS),
    *(value for space in SPACES.values() for value in held(space).values()),
    *(value for value in vars(tree).values() if isinstance(value, type) and value.__module__ == tree.__name__),
]


OF_THE_MACHINE = ("Countable", "Fusion", "Program")
"""What a kernel holds for the machine alone."""


@cache
def classes_known_in(module: str) -> dict[str, object]:
    """By the name under which a module knows it, every class of ours, those of type checkers alone, too."""
    source = Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8")
    found = dict[str, object](vars(sys.modules[module]))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ptxloom"):
            place = import_module(str(node.module))
            found |= {one.asname or one.name: getattr(place, one.name, None) for one in node.names}
    return {n: v for n, v in found.items() if isinstance(v, type) and v.__module__.startswith("ptxloom.")}


def mentioned(function: object) -> set[object]:
    """The classes of ours that the signature of a function mentions."""
    if not inspect.isfunction(function):
        return set()
    known = classes_known_in(function.__module__)
    words = re.findall(r"\w+", " ".join(str(text) for text in inspect.get_annotations(function).values()))
    return {known[word] for word in words if word in known}


def told_by(value: object) -> set[object]:
    """The classes of ours that are mentioned where somebody looks who has a public value."""
    if not isinstance(value, type):
        return mentioned(value)
    members = [member for name, member in vars(value).items() if name[0] != "_" or name == "__init__"]
    plain = [getattr(one, "fget", getattr(one, "__func__", getattr(one, "func", one))) for one in members]
    found = set[object]().union(*map(mentioned, plain))
    if dataclasses.is_dataclass(value):
        known = classes_known_in(value.__module__)
        words = re.findall(r"\w+", " ".join(str(f.type) for f in dataclasses.fields(value) if f.repr))
        found = found - mentioned(vars(value).get("__init__")) | {known[word] for word in words if word in known}
    return found


@pytest.mark.parametrize("name", ["", *SPACES])
def test_what_signatures_mention_is_public(name: str) -> None:
    values = [getattr(pl, one) for one in pl._EXPORTS] if not name else held(SPACES[name]).values()
    missing = {
        (getattr(value, "__name__", value), one.__qualname__)
        for value in values
        for one in told_by(value)
        if isinstance(one, type) and one not in PUBLIC and one.__name__ not in OF_THE_MACHINE
    }
    assert sorted(missing, key=str) == []


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
    """Whether help about a function names what it takes, returns and raises."""
    signature = inspect.signature(function)
    parts = sections(inspect.getdoc(function) or "")
    assert parts[""].strip(), (function, "says what it does")
    taken = set(signature.parameters) - {"self", "cls"}
    assert documented(parts.get("Args", "")) == taken, (function, "names what it takes")
    given = signature.return_annotation
    assert ("Returns" in parts) == (given != "None" and bool(taken)), (function, "says what it gives back")
    assert ("raise " in inspect.getsource(function)) <= ("Raises" in parts), (function, "says what it raises")


HELPED = {
    "": " ".join(pl._EXPORTS),
    "atoms": """
        Advice CopyAtom MmaAtom TiledCopy TiledMma advise atom emit make_tiled_copy make_tiled_copy_a make_tiled_copy_b
        make_tiled_copy_c make_tiled_mma
    """,
    "banks": "bank_conflicts find_swizzles make_tile",
    "checker": "RulePage check rule_page",
    "diagnostics": "Diagnostic Fix Label PtxloomError Severity UnsupportedForm UsageError",
    "fragments": "Element Evidence Fragment UndefinedBehavior fragment",
    "layout": """
        ComposedLayout Layout LayoutError LinearLayout Swizzle Tensor blocked_product coalesce complement composition
        downcast filter flat_divide flat_product left_inverse logical_divide logical_product make_layout raked_product
        recast right_inverse tiled_divide tiled_product to_linear upcast with_shape zipped_divide zipped_product
    """,
    "machine": "Trace TraceRecord",
    "source": "Source Span",
    "syntax": "EditConflict Editor Node UnreadableFile",
}
"""What people call themselves, and what they get."""


@pytest.mark.parametrize(
    ("space", "name"), [(space, name) for space, names in HELPED.items() for name in names.split()]
)
def test_help_is_complete(space: str, name: str) -> None:
    said = getattr(SPACES[space] if space else pl, name)
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


def test_a_target_is_taken_wherever_its_spelling_is() -> None:
    module = pl.parse(".version 8.0 .target sm_80 .address_size 64 .entry k() { cp.async.wait_all; ret; }")
    turing, hopper = pl.Target.parse("sm_75"), pl.Target.parse("sm_90")
    assert str(pl.check(module, target=turing)) == str(pl.check(module, target="sm_75")) != "()"
    assert pl.check(module, ptx_version=pl.isa.PtxVersion(9, 0)) == pl.check(module, ptx_version="9.0")
    assert pl.kernel(module, "k", hopper) is pl.kernel(module, "k", "sm_90")
    assert pl.kernel(module, "k", turing).program.target == "sm_75"
    mma = "m16n8k16.row.col.f32.f16.f16.f32"
    assert pl.atoms.advise(mma, "a", "k", hopper) == pl.atoms.advise(mma, "a", "k", "sm_90")
    a, b, c = np.ones((32, 4), "f4"), np.ones((32, 2), "f4"), np.zeros((32, 4), "f4")
    form = "m16n8k8.row.col.f32.tf32.tf32.f32"
    assert np.array_equal(pl.mma(form, a, b, c, target=hopper), pl.mma(form, a, b, c, target="sm_90"))
    for call in (lambda: pl.check(module, target="sm_"), lambda: pl.kernel(module, "k", "sm_")):
        with pytest.raises(pl.UsageError, match="target is 'sm_'; it must be a target such as sm_90a"):
            call()


def test_explain_knows_what_the_command_knows() -> None:
    kinds = {topic.word: topic.kind for topic in topics()}
    for word in ("missing-trans", "racecheck", "ldmatrix", "%laneid", ".reqntid"):
        assert pl.explain(word).kind == kinds[word]
    assert pl.explain("racecheck.read-after-write").kind == "hazard"
    assert "only this architecture" in str(pl.explain("sm_90a"))
    assert pl.explain("cp.async.wait_all").markdown != pl.explain("cp").markdown
    with pytest.raises(pl.UsageError, match="did you mean `missing-trans`"):
        pl.explain("missing-tran")
