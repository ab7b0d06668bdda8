"""The functions of CUDA's own headers that narrow numbers on the host, against `cvt` in the machine."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

from machine.semantics.test_narrow_conversions import run

if TYPE_CHECKING:
    from numpy.typing import NDArray

pytestmark = pytest.mark.oracle

HOST = """
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <cstdio>
#include <cstring>
int main() {
  for (unsigned n = 0; n < 65536; ++n) {
    unsigned bits = n << 16 | (n * 40503u & 0xFFFF) * (n & 1);
    float x;
    memcpy(&x, &bits, 4);
    unsigned char made[] = {
      __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest),
      __nv_cvt_float_to_fp6(x, __NV_E2M3, cudaRoundNearest),
      __nv_cvt_float_to_fp6(x, __NV_E3M2, cudaRoundNearest),
      __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3),
      __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2),
      __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundZero),
      __nv_cvt_float_to_e8m0(x, __NV_NOSAT, cudaRoundZero),
      __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf),
      __nv_cvt_float_to_e8m0(x, __NV_NOSAT, cudaRoundPosInf),
    };
    fwrite(made, 1, sizeof made, stdout);
  }
}
"""
FORMS = (
    *(f"rn.satfinite.{name}x2" for name in ("e2m1", "e2m3", "e3m2", "e4m3", "e5m2")),
    *("rz.satfinite.ue8m0x2", "rz.ue8m0x2", "rp.satfinite.ue8m0x2", "rp.ue8m0x2"),
)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> NDArray[np.uint8]:
    """What the host functions make of 2^16 f32: (inputs, forms)."""
    cuda, compiler = importlib.util.find_spec("nvidia.cu13"), shutil.which("g++")
    if cuda is None or compiler is None:
        pytest.skip("CUDA's headers (nvidia-cuda-nvcc) or g++ are absent")
    include = Path((cuda.submodule_search_locations or [""])[0]) / "include"
    folder = tmp_path_factory.mktemp("host")
    (folder / "host.cpp").write_text(HOST)
    command = [compiler, "-O1", "-w", f"-I{include}", f"-I{include / 'cccl'}", "host.cpp", "-o", "host"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if "No such file" in built.stderr:
        pytest.skip("CUDA's headers are not whole: pip install nvidia-cuda-nvcc nvidia-cuda-runtime nvidia-cuda-cccl")
    assert built.returncode == 0, built.stderr[:4000]
    made = subprocess.run([folder / "host"], capture_output=True, check=True).stdout
    return np.frombuffer(made, np.uint8).reshape(1 << 16, len(FORMS))


@pytest.mark.parametrize("form", FORMS)
def test_cvt_makes_what_the_header_makes(form: str, host: NDArray[np.uint8]) -> None:
    n = np.arange(1 << 16, dtype=np.uint32)
    inputs = n << 16 | (n * np.uint32(40503) & 0xFFFF) * (n & 1)
    expected = host[:, FORMS.index(form)].astype(np.uint32)
    narrowest = "e2m1" in form
    out = run(f"cvt.{form}.f32 %d, %f1, %f1;", inputs[:, None], 8 if narrowest else 16)
    assert (out == expected * (0x11 if narrowest else 0x101)).all()


def test_the_codes_of_ml_dtypes_are_those_of_the_header(host: NDArray[np.uint8]) -> None:
    values = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)[::2]
    finite = np.isfinite(values) & (np.abs(values) <= 6)
    made = values[finite].astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
    assert (made == host[::2, 0][finite]).all()
