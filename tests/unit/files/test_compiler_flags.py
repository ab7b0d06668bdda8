"""How CUDA C++ is compiled may be said in words and in files; files make a compiler neither write nor run anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import ptxloom as pl
from ptxloom.cli import main
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.files import compilers, toolkits
from ptxloom.files.compiler_flags import Flags, RefusedFlag, architecture, of_words

if TYPE_CHECKING:
    from pathlib import Path

KERNEL = """#include "size.h"
#if __cplusplus != STANDARD
#error "another C++"
#endif
extern "C" __global__ void k(float* x) { x[threadIdx.x] = N * SIZE / (x[1] + TEXT[0]); }
"""
WORDS = ("-DN=3", "-D", 'TEXT="a b;$(touch trap)"', "-Iinclude", "-std=c++14", "-DSTANDARD=201402L", "--use_fast_math")


@pytest.fixture(params=["nvcc", "nvrtc"])
def cuda(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    other, found = ("nvrtc", toolkits.find_nvcc()) if request.param == "nvcc" else ("nvcc", toolkits.find_nvrtc())
    if found is None:
        pytest.skip(f"{request.param} is absent: pip install 'ptxloom[cuda]'")
    monkeypatch.setattr(compilers, f"find_{other}", lambda: None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "size.h").write_text("#define SIZE 5\n", encoding="utf-8")
    (tmp_path / "k.cu").write_text(KERNEL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("cuda")
def test_words_reach_the_compiler(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "div.*", "k.cu", *WORDS, "-arch=sm_80"]) == 0
    assert "div.approx" in capsys.readouterr().out
    assert pl.load("k.cu", options=WORDS).target == ("sm_90",)
    assert not [*folder.rglob("trap")]


@pytest.mark.usefixtures("cuda")
def test_settings_and_launch_files_say_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = 'includes = ["../include"]\nstd = "c++14"\ndefines = ["N=3", \'TEXT="a"\', "STANDARD=201402L"]\n'
    (folder / "settings").mkdir()
    (folder / "settings" / "ptxloom.toml").write_text(f"[cuda]\n{said}", encoding="utf-8")
    (folder / "settings" / "k.cu").write_text(KERNEL, encoding="utf-8")
    assert main(["check", "settings"]) == 0  # the `.cu` files of a folder are checked
    assert "no findings in 1 file" in capsys.readouterr().err
    (folder / "launch").mkdir()
    launch = 'ptx = "../k.cu"\nkernel = "k"\nblock = 32\nargs = [{ zeros = { shape = 32, dtype = "f32" } }]\n'
    (folder / "launch" / "k.toml").write_text(f"{launch}[cuda]\n{said}", encoding="utf-8")
    assert main(["run", "launch/k.toml"]) == 0


HOSTILE = (
    "-o=../evil", "-Xcompiler=-fplugin=./evil.so", "--run", "-run", "@words", "-include=/etc/passwd", "-ccbin=./evil",
    "--compiler-bindir=./evil", "--options-file=words", "-optf=words", "--keep", "-Xptxas=-v", "evil.cu", "-odir=x",
    "--time=evil.csv", "-lineinfo;touch trap", "$(touch trap)", "--maxrregcount=1`touch trap`", "-w\\ntouch trap",
    "--dependency-output=evil", "-fdevice-time-trace=evil", "-pch", "--pch-dir=evil", "-ldir=x", "-arch=sm_90",
    "--split-compile=99",
)  # fmt: skip


@pytest.mark.parametrize("word", HOSTILE)
def test_no_file_has_an_option_passed_on_that_does_more_than_change_code(word: str, tmp_path: Path) -> None:
    with pytest.raises(RefusedFlag, match=r"k\.toml: the compiler's option"):
        of_words([word], file="k.toml")
    (tmp_path / "k.ptx").write_text(".version 8.0\n.target sm_90\n", encoding="utf-8")
    launch = f"ptx = 'k.ptx'\nkernel = 'k'\n[cuda]\nnvcc_flags = ['{word}']\n"
    (tmp_path / "k.toml").write_text(launch, encoding="utf-8")
    assert main(["run", str(tmp_path / "k.toml")]) == 2
    (tmp_path / "ptxloom.toml").write_text(f"[cuda]\nnvrtc_flags = ['{word}']\n", encoding="utf-8")
    assert main(["check", str(tmp_path / "k.ptx")]) == 2


@pytest.mark.parametrize(
    "word", ["-o", "-odir=x", "--run", "-c", "@words", "-cubin", "--gpu-code=sm_90", "-w;touch trap", "$HOME"]
)
def test_what_takes_the_place_of_our_own_options_is_refused_in_words_too(word: str) -> None:
    with pytest.raises(RefusedFlag):
        of_words([word])


def test_flags_from_files_that_others_can_write_do_not_count(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = folder / "ptxloom.toml"
    settings.write_text("[cuda]\ndefines = ['N=3']\n", encoding="utf-8")
    settings.chmod(0o666)
    main(["check", "k.cu"])
    assert "does not count" in capsys.readouterr().err


@pytest.mark.parametrize("macro", ["1N", "N M", "A=1\n#include </etc/passwd>", "A=\\", "", "A(", "-DN"])
def test_macros_are_one_line_of_a_header(macro: str) -> None:
    with pytest.raises(UsageError, match="-D is"):
        Flags(defines=(macro,))


def test_later_flags_win() -> None:
    both = Flags(("N=1",), ("a",), "c++14") + Flags(("N=2",), ("b",), "c++17", fast_math=True)
    assert (both.macros, both.includes, both.standard) == ("#define N 1\n#define N 2\n", ("b", "a"), "c++17")


@pytest.mark.parametrize("name", ["sm_90;touch trap", "90", "sm_9x", "native", "all", ""])
def test_the_target_is_judged_before_a_compiler_is_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "find_nvcc", lambda: pytest.fail("it was asked"))
    with pytest.raises(UsageError, match="target is"):
        architecture(name)
    with pytest.raises(PtxloomError):
        pl.cuda(KERNEL, name or "sm_")


@pytest.mark.parametrize("option", ["--target", "-arch"])
def test_a_target_that_does_not_exist_is_said_before_compiling(
    option: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compilers, "find_nvcc", lambda: pytest.fail("it was asked"))
    try:
        code = main(["inspect", str(folder / "k.cu"), option, "sm_77"])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    assert "sm_77" in capsys.readouterr().err


HEADERS = """
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <stdint.h>
#include <cstdio>
#include <cassert>
#include <type_traits>
#include <limits>
#include <cmath>
#include <algorithm>
#include <utility>
#include <cuda_fp16.h>
template <typename T>
__global__ void k(std::uint32_t* x, uint64_t n, std::size_t m, const __grid_constant__ CUtensorMap map) {
  static_assert(std::is_same_v<std::remove_const_t<const T>, float>, "");
  assert(n > m);
  printf("%d", static_cast<int>(alignof(decltype(map))));
  x[0] = std::numeric_limits<int32_t>::max() + std::max(1, 2) + std::sqrt(2.f) + INT32_MAX + std::int64_t{3};
}
template __global__ void k<float>(std::uint32_t*, uint64_t, std::size_t, const __grid_constant__ CUtensorMap);
"""


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_headers_of_the_standard_library_are_there_without_nvcc(standard: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if toolkits.find_nvrtc() is None:
        pytest.skip("NVRTC is absent: pip install 'ptxloom[cuda]'")
    monkeypatch.setattr(compilers, "find_nvcc", lambda: None)
    assert len(pl.cuda(HEADERS, options=[f"-std={standard}"]).kernels) == 1


def test_each_header_of_ours_compiles_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    if toolkits.find_nvrtc() is None:
        pytest.skip("NVRTC is absent: pip install 'ptxloom[cuda]'")
    monkeypatch.setattr(compilers, "find_nvcc", lambda: None)
    names = sorted(path.name for path in compilers.HEADERS.iterdir() if path.is_file())
    assert len(names) >= 30
    for name in names:
        assert pl.cuda(f"#include <{name}>\n#include <{name}>\n__global__ void k() {{}}").kernels, name
