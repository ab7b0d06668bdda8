"""Who asks NVIDIA's compiler and linker for machine code gets PTX; what stands for them here is a few lines of C."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from driver import sanitizers
from driver.running import PROGRAMS, Running, needs_compiler

pytestmark = needs_compiler
COMPILER = os.environ.get("CC", "cc")


def _compiled(made: Path, source: str, *flags: str) -> Path:
    made.parent.mkdir(parents=True, exist_ok=True)
    command = [COMPILER, "-shared", "-fPIC", f"-Wl,-soname,{made.name}", *flags, "-x", "c", "-", "-o", str(made)]
    subprocess.run(command, input=source, text=True, check=True)
    return made


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("theirs")
    source = (PROGRAMS / "theirs.c").read_text(encoding="utf-8")
    _compiled(folder / "libnvrtc.so.13", source, "-DNVRTC")
    _compiled(folder / "libnvJitLink.so.13", source)
    return folder


def test_a_program_gets_ptx_for_machine_code(theirs: Path) -> None:
    running = Running()
    done = running.run("machine_code.py", str(theirs))
    running.server.close()
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "True True False",  # no library, nowhere
        "True False",  # the linker's names are everywhere, the compiler's nowhere
        "[0, 0, 0, 0] [7]",  # two texts
        "0 None",
        "[0, 0, 0, 0] [7]",  # LTO-IR and a text
        "0 None",
        "[0, 0, 0, 0] [7]",  # a function of LTO-IR that a text alone calls
        "[0, 0, 0, 0]",  # a fatbin of PTX
        "[0, 0, 0, 0]",  # a text for LTO-IR that says the same
        "[0, 0, 0, 0, 0]",  # a library that adds nothing
        "[0, 9, 0, 0]",  # theirs is asked of LTO-IR in a fatbin, and refuses it here
        "[0, 0, 4]",  # nothing that holds PTX
        "[0, 0, 0]",  # for another device than this one
        "[0, 0, 4]",
        "[0, 0, 0] True",  # whoever asks for PTX gets theirs
        "[0, 0, 4] True",
        "[1, 18, 6] b'theirs\\x00'",
        "10 10",
        "0 13 5",
        "True",
        "False",
        "11",  # what theirs lacks
    ]


LINKED = """
#include <stdio.h>
int nvrtcCreateProgram(void **, const char *, const char *, int, const char **, const char **);
int nvrtcCompileProgram(void *, int, const char **);
int nvrtcGetCUBINSize(void *, size_t *);
int nvrtcGetCUBIN(void *, char *);
int say(void) {
    const char *options[] = {"-arch=sm_80"};
    for (int count = 1; count >= 0; count--) {
        void *program;
        char code[4096] = "";
        size_t size = 7;
        int error = nvrtcCreateProgram(&program, "", "", 0, 0, 0) + nvrtcCompileProgram(program, count, options);
        error += nvrtcGetCUBINSize(program, &size);
        if (size) error += nvrtcGetCUBIN(program, code);
        printf("%d %d %.12s;", error, (int)(size > 4), code);
    }
    return fflush(stdout);
}
"""


def test_a_program_that_is_linked_with_the_compiler_gets_ptx_too(theirs: Path, tmp_path: Path) -> None:
    compiler = ("-Wl,--no-as-needed", f"-L{theirs}", "-l:libnvrtc.so.13", f"-Wl,-rpath,{theirs}")
    library = _compiled(tmp_path / "libsays.so", LINKED, *compiler)
    program = tmp_path / "says"
    source = f"{LINKED}\nint main(void) {{ return say(); }}"
    subprocess.run([COMPILER, "-x", "c", "-", "-o", str(program), *compiler], input=source, text=True, check=True)
    loads = [sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1]).say()", str(library)]
    running = Running()
    try:
        for command in ([str(program)], loads):
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=running.environment)
            assert (done.stdout, done.returncode) == ("0 1 .version 8.0;0 0 ;", 0), done.stderr
    finally:
        running.server.close()


@pytest.mark.skipif(sanitizers.CHOSEN is not None, reason="a sanitizer's own `dlopen` looks beside itself")
def test_other_libraries_are_looked_for_as_before(tmp_path: Path) -> None:
    _compiled(tmp_path / "near" / "libptxloom-inner.so", "int inner(void) { return 3; }")
    source = '#include <dlfcn.h>\nint outer(void) { return dlopen("libptxloom-inner.so", RTLD_NOW) != 0; }'
    outer = _compiled(tmp_path / "libouter.so", source, "-Wl,--enable-new-dtags,-rpath,$ORIGIN/near", "-ldl")
    running = Running()
    code = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).outer())"
    command = [sys.executable, "-c", code, str(outer)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=running.environment)
    running.server.close()
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_whoever_asks_for_nvidias_driver_is_named(tmp_path: Path) -> None:
    source = (
        "int cuGetExportTable(const void **, const void *);\n"
        "int asks(void) { const void *table; return cuGetExportTable(&table, &table); }\n"
    )
    library = _compiled(tmp_path / "libasks.so", source)
    running = Running()
    code = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).asks())"
    command = [sys.executable, "-c", code, str(library)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=running.environment)
    running.server.close()
    assert done.stdout == "500\n"
    assert done.stderr.startswith(
        f"ptxloom: NVIDIA's own CUDA runtime in {library} checks that the driver is NVIDIA's; "
    )
