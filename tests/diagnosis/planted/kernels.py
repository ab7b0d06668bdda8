"""The right kernels that bugs are planted in."""

from __future__ import annotations

from diagnosis.planted import blackwell, compiled, hopper, moves, paired, scaled
from diagnosis.planted.attention import attention
from diagnosis.planted.convolution import convolution
from diagnosis.planted.direct import direct
from diagnosis.planted.element_types import BF16, E4M3, F16, S8, TF32
from diagnosis.planted.fp4 import product_of_fp4
from diagnosis.planted.gemm import gemm
from diagnosis.planted.slices import sliced
from diagnosis.planted.tiling import Tiling

SMALL_TILING = Tiling(F16, (16, 8), (1, 1), (32, 16, 64), trans=True)
SMALL = gemm("gemm-16x8-f16", SMALL_TILING)
LONG = gemm("gemm-16x8-bf16-long", Tiling(BF16, (16, 8), (1, 1), (16, 8, 2560)))
MIDDLE_TILING = Tiling(F16, (64, 64), (2, 2), (64, 128, 96), trans=True, swizzle=True, stages=2)
MIDDLE = gemm("gemm-64x64-f16", MIDDLE_TILING)
PADDED = gemm("gemm-32x32-bf16", Tiling(BF16, (32, 32), (1, 2), (64, 32, 64)))
LARGE = gemm("gemm-128x128-f16", Tiling(F16, (128, 128), (2, 4), (128, 128, 96), trans=True, swizzle=True, stages=2))
BYTES = gemm("gemm-64x64-s8", Tiling(S8, (64, 64), (2, 2), (64, 128, 128), swizzle=True))
EIGHTS = gemm("gemm-32x32-e4m3", Tiling(E4M3, (32, 32), (1, 2), (32, 64, 128)))
WORDS = gemm("gemm-32x32-tf32", Tiling(TF32, (32, 32), (2, 1), (64, 32, 32), swizzle=True))
MASKED = gemm("gemm-32x32-bf16-masked", Tiling(BF16, (32, 32), (2, 1), (64, 64, 40), stages=2, masked=True, spare=1))
HALVES = gemm("gemm-32x64-f16-stmatrix", Tiling(F16, (32, 64), (2, 2), (64, 64, 64), stages=2, halves=True))

DIRECT_F16 = direct("direct-f16", F16)
DIRECT_TF32 = direct("direct-tf32", TF32)
DIRECT_S8 = direct("direct-s8", S8)
DIRECT_E4M3 = direct("direct-e4m3", E4M3)

SCALED = direct("direct-f16-scaled", F16, scaled=True)
SLICED = sliced("slices")

ATTENTION = attention("attention")
CONVOLUTION = convolution("convolution")
FP4 = product_of_fp4("gemm-fp4")

BY_LDMATRIX = moves.transpose_by_ldmatrix("transpose-ldmatrix")
BY_MOVMATRIX = moves.transpose_by_movmatrix("transpose-movmatrix")
BY_STMATRIX = moves.transpose_by_stmatrix("transpose-stmatrix")
COPY = moves.copy_by_matrices("copy-by-matrices")
OF_WORDS = moves.transpose_of_words("transpose-words")

HGEMM = compiled.hgemm("nvcc-hgemm")
TRITON = compiled.triton_matmul("triton-matmul")
TRITON_S8 = compiled.triton_int8("triton-matmul-s8")
STMATRIX = compiled.stmatrix_epilogue("nvcc-stmatrix-epilogue")

HOPPER_FACTORS = hopper.Factors()
HOPPER = hopper.hopper("hopper-f16", HOPPER_FACTORS)
HOPPER_64B = hopper.hopper("hopper-f16-64B", hopper.Factors(swizzle="64B"))
HOPPER_32B = hopper.hopper("hopper-f16-32B", hopper.Factors(swizzle="32B"))
HOPPER_PLAIN = hopper.hopper("hopper-f16-plain", hopper.Factors(swizzle="none"))
HOPPER_B_ACROSS = hopper.hopper("hopper-f16-b-across", hopper.Factors(across=(False, True)))
HOPPER_ACROSS = hopper.hopper("hopper-f16-across-64B", hopper.Factors(swizzle="64B", across=(True, True)))
HOPPER_ACROSS_PLAIN = hopper.hopper("hopper-f16-across-plain", hopper.Factors(swizzle="none", across=(True, True)))
HOPPER_TF32 = hopper.hopper("hopper-tf32", hopper.Factors("tf32"))
HOPPER_E4M3 = hopper.hopper("hopper-e4m3", hopper.Factors("e4m3"))
TRITON_TENSOR = compiled.triton_tensor_memory("triton-matmul-sm_100a")
BLACKWELL_FACTORS = blackwell.TensorFactors()
BLACKWELL = blackwell.blackwell("blackwell-f16", BLACKWELL_FACTORS)
BLACKWELL_PLAIN = blackwell.blackwell("blackwell-f16-plain", blackwell.TensorFactors(swizzle="none"))
BLACKWELL_B_ACROSS = blackwell.blackwell("blackwell-f16-b-across", blackwell.TensorFactors(across=(False, True)))
BLACKWELL_ACROSS = blackwell.blackwell(
    "blackwell-f16-across-64B", blackwell.TensorFactors(swizzle="64B", across=(True, True))
)
BLACKWELL_64B = blackwell.blackwell("blackwell-f16-64B", blackwell.TensorFactors(swizzle="64B"))
BLACKWELL_TF32 = blackwell.blackwell("blackwell-tf32", blackwell.TensorFactors("tf32"))
BLACKWELL_E4M3 = blackwell.blackwell("blackwell-e4m3", blackwell.TensorFactors("e4m3"))
BLACKWELL_64 = blackwell.blackwell("blackwell-f16-m64", blackwell.TensorFactors(rows=64))
BLACKWELL_TENSOR_A = blackwell.blackwell("blackwell-f16-tensor-a", BLACKWELL_FACTORS, in_tensor=True)
SCALED_E4M3 = scaled.scaled("scaled-e4m3", scaled.ScaledFactors())
SCALED_BY_ROWS = scaled.scaled("scaled-e4m3-by-rows", scaled.ScaledFactors(tiled=False))
SCALED_E2M1 = scaled.scaled("scaled-e2m1", scaled.ScaledFactors(kind="mxf4nvf4"))
PAIRED_FACTORS = paired.PairedFactors()
PAIRED = paired.paired("paired-f16", PAIRED_FACTORS)

KERNELS = (
    SMALL, LONG, MIDDLE, PADDED, LARGE, BYTES, EIGHTS, WORDS, MASKED, HALVES,
    DIRECT_F16, DIRECT_TF32, DIRECT_S8, DIRECT_E4M3, SCALED, SLICED, ATTENTION, CONVOLUTION, FP4,
    BY_LDMATRIX, BY_MOVMATRIX, BY_STMATRIX, COPY, OF_WORDS, HGEMM, TRITON, TRITON_S8, STMATRIX,
    HOPPER, HOPPER_64B, HOPPER_32B, HOPPER_PLAIN, HOPPER_B_ACROSS, HOPPER_ACROSS, HOPPER_TF32, HOPPER_E4M3,
    HOPPER_ACROSS_PLAIN, BLACKWELL, BLACKWELL_PLAIN, BLACKWELL_B_ACROSS, BLACKWELL_ACROSS, BLACKWELL_TF32,
    BLACKWELL_E4M3, BLACKWELL_64, BLACKWELL_64B, BLACKWELL_TENSOR_A, TRITON_TENSOR,
    SCALED_E4M3, SCALED_BY_ROWS, SCALED_E2M1, PAIRED,
)  # fmt: skip
