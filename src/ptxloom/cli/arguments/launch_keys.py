"""Every key of a launch file: its legal values and its meaning."""

from __future__ import annotations

from typing import Final

from ptxloom.settings.cuda_keys import CUDA
from ptxloom.settings.toml_model import Key, Number, Numbers, Text, TomlTable

MOST_DIMENSIONS: Final = 32

_SHAPE: Final = Key(
    "shape", Numbers(MOST_DIMENSIONS), "extents, the last is contiguous", required=True, example="[64, 64]"
)
_DTYPE: Final = Key(
    "dtype", Text(), "the type of its numbers, by its name in PTX or NumPy; float32 if left out", example='"f16"'
)
_SEED: Final = Key("seed", Number(whole=True, low=0), "other numbers for each seed; 0 if left out")
_LOW: Final = Key("low", Number(), "the smallest number; if left out 0, or for signed integers the type's minimum")
_HIGH: Final = Key("high", Number(), "the largest number; if left out 1, or for integers the type's maximum")

FILLS: Final = {
    "zeros": (_SHAPE, _DTYPE),
    "ones": (_SHAPE, _DTYPE),
    "arange": (_SHAPE, _DTYPE),
    "normal": (_SHAPE, _DTYPE, _SEED),
    "uniform": (_SHAPE, _DTYPE, _SEED, _LOW, _HIGH),
    "integers": (_SHAPE, _DTYPE, _SEED, _LOW, _HIGH),
    "random": (_SHAPE, _DTYPE, _SEED),
    "empty": (_SHAPE, _DTYPE),
}
"""How an array may be made."""
_MEANINGS: Final = {
    "zeros": "an array of zeros",
    "ones": "an array of ones",
    "arange": "an array of 0, 1, 2, ... in memory order, so that each element names its position",
    "normal": "an array of normally distributed numbers",
    "uniform": "an array of numbers between `low` and `high`",
    "integers": "an array of whole numbers from `low` to `high`, both included, in a type of any kind",
    "random": "`normal` for floating-point types, all bits at random for integers",
    "empty": "an array of unwritten memory: `initcheck:global` reports reads of it",
}
SOURCES: Final = (*FILLS, "npy", "value")
"""An argument has exactly one of them; a tensor map of another argument's array needs none."""

_TEXTS: Final = ("data_type", "interleave", "swizzle", "l2_promotion", "oob_fill")
TILED: Final = ("box_dim",)
COLUMNS: Final = (
    "pixel_box_lower_corner", "pixel_box_upper_corner", "channels_per_pixel", "pixels_per_column",
)  # fmt: skip
_AS_DRIVER: Final = "as the driver's parameter with this name"
TENSOR_MAP: Final = TomlTable(
    (
        Key("of", Text(), "the argument whose array it maps; left out if the argument has an array itself"),
        Key(
            "box_dim",
            Numbers(5),
            "the elements that a copy spans in each dimension, the contiguous one first",
            example="[64, 8]",
        ),
        *(Key(name, Numbers(3, low=None), f"of im2col, {_AS_DRIVER}") for name in COLUMNS[:2]),
        *(Key(name, Number(whole=True, low=0), f"of im2col, {_AS_DRIVER}") for name in COLUMNS[2:]),
        *(Key(name, Text(), _AS_DRIVER) for name in _TEXTS),
        *(Key(name, Numbers(5), _AS_DRIVER) for name in ("global_dim", "global_strides", "element_strides")),
    )
)

ARGUMENT: Final = TomlTable(
    (
        Key("name", Text(), "its name in expressions and reports; its number if left out", example='"A"'),
        *(Key(name, TomlTable(keys), _MEANINGS[name]) for name, keys in FILLS.items()),
        Key("npy", Text(), "a file that `numpy.save` wrote", example='"a.npy"'),
        Key("value", Number(), "a number, by value"),
        Key("tensor_map", TENSOR_MAP, "the parameter is a tensor map of the array, not the array"),
        Key(
            "save",
            Text(),
            "the `.npy` file, below the launch file's folder, that receives the array",
        ),
    ),
    several=True,
)
ACCUMULATE: Final = ("f16", "bf16", "f32", "f64")
"""The types that sums may be rounded to."""
COMPARE: Final = TomlTable(
    (
        Key(
            "expect",
            Text(),
            "what an array must be, as an expression over the arguments as they are before the run",
            example='"C = A @ B"',
        ),
        Key("array", Text(), "the argument that `equals` is about"),
        Key("equals", Text(), "a file that `numpy.save` wrote: the expected `array`"),
        Key(
            "rtol",
            Number(low=0),
            "the relative difference allowed for each element; if both are left out: what rounding can explain",
        ),
        Key("atol", Number(low=0), "the absolute difference allowed; both 0: every bit must be equal"),
        Key(
            "accumulate",
            Text(),
            f"the type that sums may be rounded to: {', '.join(ACCUMULATE)}; if left out: no type coarser than the "
            "array's",
        ),
    ),
    several=True,
)
LAUNCH: Final = TomlTable(
    (
        Key(
            "ptx",
            Text(),
            "the file that holds the kernel; paths are relative to the launch file",
            required=True,
            example='"k.ptx"',
        ),
        Key("kernel", Text(), "its name, mangled or as in C++", required=True, example='"hgemm"'),
        Key("grid", Numbers(3, low=None), "CTAs in x, y, z; 1 if left out", example="[2, 3]"),
        Key("block", Numbers(3, low=None), "threads of a CTA in x, y, z; 1 if left out", example="128"),
        Key("cluster", Numbers(3, low=None), "CTAs of a cluster in x, y, z"),
        Key("shared_bytes", Number(whole=True), "bytes of dynamic shared memory; 0 if left out"),
        Key("target", Text(), "the architecture whose tensor cores compute, sm_75 to sm_121; the module's if left out"),
        Key("contract", Text(), "`as written`, or `fused`: mul and add without a rounding are one fma, as in ptxas"),
        CUDA,
        Key("args", ARGUMENT, "one table per parameter, in order"),
        Key("compare", COMPARE, "what arrays must be after the run, one table per array"),
    )
)
"""The whole file."""
TITLE: Final = "A launch file of ptxloom run"
