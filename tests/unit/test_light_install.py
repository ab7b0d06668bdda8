"""What `pip install ptxloom` alone gives: every static verb; what needs NumPy, llvmlite or pygls says which extra."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import ptxloom as pl
from ptxloom import extras
from ptxloom.cli.command_line import VERBS
from ptxloom.cli.usage.examples import EXAMPLES

ROOT = Path(__file__).parents[2]
BLOCKED = f"import sys; sys.modules.update(dict.fromkeys({[m for _, ms in extras.EXTRAS.values() for m in ms]}))\n"
MAIN = BLOCKED + "from ptxloom.cli import main\nsys.exit(main(sys.argv[1:]))"
KERNEL = "examples/vector_add.ptx"

STATIC = {
    "inspect": (KERNEL,),
    "check": (KERNEL, "--output-format", "sarif"),
    "diff": (KERNEL, KERNEL, "--output-format", "json"),
    "parse": (KERNEL, "--output-format", "json"),
    "query": ("ld.*", KERNEL),
    "graph": (KERNEL, "--output-format", "svg"),
    "fmt": (KERNEL,),
    "explain": ("racecheck.write-after-read",),
    "map": ("ldmatrix.m8n8.x4.b16", "--output-format", "svg"),
    "where": ("wgmma.m64n256k16.f32.f16.f16", "--operand", "d", "--row", "50", "--column", "200"),
    "banks": ("ldmatrix.m8n8.x4.b16", "--pitch", "16"),
    "swizzle": ("64x64", "f16", "cp.async", "ldmatrix.x4.trans"),
    "atom": ("--mma", "m16n8k16.row.col.f32.f16.f16.f32", "--blas", "TN"),
    "descriptor": ("0x4000004000010040", "--tile", "8x16", "--output-format", "svg"),
    "tensormap": ("--data-type", "FLOAT16", "--global-dim", "64,32", "--box-dim", "64,8"),
    "emit": ("SM75_U16x8_LDSM_T", "--language", "triton"),
    "doctor": (),
    "examples": ("examples",),
    "web": ("-o", "/dev/stdout"),
    "schema": ("run",),
}
"""By verb that needs no extra: arguments that give exit 0."""

NEEDY = sorted(set(VERBS) - set(STATIC))
"""Verbs that need one: their first example is run."""


def run(code: str, *arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("verb", STATIC)
def test_static_verbs_need_no_extra(verb: str) -> None:
    done = run(MAIN, verb, *STATIC[verb])
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert done.stdout


@pytest.mark.parametrize("verb", NEEDY)
def test_other_verbs_name_theirs_in_a_sentence(verb: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "examples" / "hgemm.ptx", tmp_path / "kernel.ptx")
    launch = (ROOT / "examples" / "hgemm.toml").read_text(encoding="utf-8").replace("hgemm.ptx", "kernel.ptx")
    (tmp_path / "launch.toml").write_text(launch, encoding="utf-8")
    done = run(MAIN, *shlex.split(EXAMPLES[verb][0][0]), folder=tmp_path)
    assert done.returncode == 2, "a verb that needs no extra belongs among those of STATIC"
    assert re.fullmatch(r"ptxloom: .+, which is not installed: pip install 'ptxloom\[\w+\]'\n", done.stderr)


@pytest.mark.parametrize(
    ("line", "unneeded"),
    [
        ("--help", ("dataclasses", "pathlib", "ptxloom.diagnostics", "ptxloom.cli.arguments.launch_words")),
        ("map ldmatrix.m8n8.x4.b16", ("ptxloom.cli.arguments.launch_words", "ptxloom.views.drawing")),
        ("where ldmatrix.m8n8.x4.b16 --lane 5", ("ptxloom.cli.arguments.launch_words", "ptxloom.views.drawing")),
        (f"check {KERNEL}", ("ptxloom.cli.arguments.launch_words", "ptxloom.views.drawing", "numpy")),
    ],
)
def test_a_command_starts_without_what_it_does_not_need(line: str, unneeded: tuple[str, ...]) -> None:
    without = f"import sys; sys.modules.update(dict.fromkeys({unneeded}))\n"
    done = run(f"{without}from ptxloom.cli import main\nsys.exit(main(sys.argv[1:]))", *line.split())
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("line", "most"),
    [
        ("--help", 30),
        ("map ldmatrix.m8n8.x4.b16", 105),
        ("where ldmatrix.m8n8.x4.b16 --lane 5", 105),
        ("check examples/hgemm.ptx", 250),
        ("inspect examples/hgemm.ptx", 280),
    ],
)
def test_a_command_imports_few_modules_of_ours(line: str, most: int) -> None:
    """The caps are a little above what is imported; they only fall."""
    count = "import atexit, sys\natexit.register(lambda: print(sum(n.startswith('ptxloom') for n in sys.modules)))\n"
    done = run(f"{count}{MAIN}", *line.split())
    assert done.returncode == 0, done.stderr
    assert 10 < int(done.stdout.splitlines()[-1]) <= most


def test_a_profile_names_its_extra() -> None:
    done = run(MAIN, "inspect", KERNEL, "--profile", "examples/hgemm.toml")
    assert done.returncode == 2
    assert done.stderr.endswith("pip install 'ptxloom[run]'\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "statement",
    [
        "ptxloom.kernel",
        "ptxloom.machine",
        "ptxloom.ldmatrix",
        "ptxloom.mma",
        "from ptxloom.machine import kernel",
        "ptxloom.bank_conflicts('ld.shared.b32', [range(32)] * 2)",
    ],
)
def test_names_of_the_api_say_their_extra(statement: str) -> None:
    done = run(f"{BLOCKED}import ptxloom\n{statement}")
    assert done.stderr.splitlines()[-1].startswith(
        "ptxloom.extras.MissingPart: running PTX and working on arrays takes"
    )
    assert done.stderr.endswith("pip install 'ptxloom[run]'\n")
    assert "During handling" not in done.stderr


def test_a_missing_part_is_one_of_our_errors_and_an_import_error() -> None:
    with pytest.raises(pl.PtxloomError, match="takes pygls") as caught, extras.needed():
        raise ModuleNotFoundError(name="pygls.server")
    assert isinstance(caught.value, ImportError)
    with pytest.raises(ModuleNotFoundError, match="nonsense"), extras.needed():
        raise ModuleNotFoundError("nonsense", name="nonsense")


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]) << 20, int(sys.argv[1]) << 20))
from ptxloom.cli import main
sys.exit(main(sys.argv[2:]))
"""
ARRAYS = ("--arg", "A=ones:f32:32", "--arg", "B=ones:f32:32", "--arg", "C=zeros:f32:32", "--arg", "32")


@pytest.mark.parametrize(
    "words", [("run", KERNEL, "--block", "32", *ARRAYS), ("exec", "--", "true")], ids=["run", "exec"]
)
@pytest.mark.parametrize("room", ["160", "200"])
def test_a_library_for_which_there_is_no_room_is_a_sentence(
    words: tuple[str, ...], room: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Megabytes of addresses, as by `ulimit -v`: what is imported takes more, or what is done with it."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # it has sentences of its own, and takes more with every thread
    done = run(LIMITED, room, *words)
    assert done.returncode == 2
    assert done.stderr.startswith("ptxloom: ")
    assert "allow more" in done.stderr or "not enough memory" in done.stderr
    assert done.stderr.count("\n") == 1


def test_only_what_an_import_raises_is_said_to_be_its_part(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    with pytest.raises(FileNotFoundError), extras.needed():
        numpy.load(tmp_path / "nowhere.npy")


def test_the_extras_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dependencies"] == []
    declared = project["optional-dependencies"]
    for extra, (_, modules) in extras.EXTRAS.items():
        brought = {re.split(r"[<>=\[]", line)[0] for line in declared[extra]}
        assert {one for one in brought if not one.startswith("nvidia-")} <= set(modules), extra  # these are no modules
        assert re.search(rf"\b{extra}\b", declared["all"][0])
