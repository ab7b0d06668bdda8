"""What components in sRGB come to, as an H100's texture units decode them, and how a border's colour is encoded.

The numbers were read off the hardware, all 256: they are near the definition (IEC 61966-2-1), to some
eight bits, and each fits into f16.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

_SCALED: Final = (
    0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220, 240, 264, 288, 312,
    340, 368, 396, 428, 460, 492, 524, 560, 600, 636, 676, 720, 760, 804, 852, 896,
    944, 1000, 1048, 1104, 1160, 1216, 1272, 1328, 1392, 1456, 1520, 1584, 1648, 1720, 1792, 1864,
    1936, 2016, 2096, 2176, 2256, 2336, 2416, 2496, 2592, 2688, 2768, 2864, 2960, 3056, 3152, 3264,
    3360, 3456, 3584, 3680, 3776, 3904, 4000, 4128, 4256, 4352, 4480, 4608, 4736, 4864, 4992, 5120,
    5248, 5408, 5536, 5664, 5824, 5952, 6112, 6240, 6400, 6560, 6688, 6848, 7008, 7168, 7328, 7488,
    7680, 7808, 8000, 8192, 8320, 8512, 8704, 8896, 9088, 9280, 9472, 9664, 9856, 10048, 10240, 10432,
    10624, 10816, 11008, 11264, 11456, 11648, 11904, 12096, 12288, 12544, 12736, 12992, 13184, 13440, 13696, 13888,
    14144, 14400, 14656, 14848, 15104, 15360, 15616, 15872, 16128, 16384, 16640, 16896, 17152, 17408, 17664, 18048,
    18304, 18560, 18816, 19072, 19456, 19712, 19968, 20224, 20608, 20864, 21120, 21504, 21760, 22144, 22400, 22784,
    23040, 23296, 23680, 24064, 24320, 24704, 24960, 25344, 25600, 25984, 26368, 26752, 27008, 27392, 27776, 28032,
    28416, 28800, 29184, 29568, 29952, 30336, 30720, 30976, 31488, 31744, 32256, 32512, 33024, 33280, 33792, 34048,
    34560, 35072, 35328, 35840, 36096, 36608, 37120, 37376, 37888, 38400, 38656, 39168, 39680, 39936, 40448, 40960,
    41216, 41728, 42240, 42752, 43264, 43520, 44032, 44544, 45056, 45568, 45824, 46336, 46848, 47360, 47872, 48384,
    48896, 49408, 49920, 50432, 50944, 51456, 51968, 52480, 52992, 53504, 54016, 54528, 55040, 55552, 56064, 56576,
    57088, 57600, 58112, 58624, 59392, 59904, 60416, 60928, 61440, 61952, 62464, 62976, 64000, 64512, 65024, 65536,
)  # fmt: skip
"""By the value of the component, in units of 2^-16."""
_LINEAR_PART: Final = 0.0031308  # up to there the encoding is a straight line


_WIDE: Final = tuple(
    range(a, b) for a, b in ((32, 34), (48, 50), (64, 71), (96, 99), (136, 137), (184, 188), (248, 255))
)
"""Values that count as if they had one bit more when a filter aligns what it combines."""
_WIDE_BIT: Final = 1 << 31


@cache
def table() -> bytes:
    """By the value of a component, its linear value in units of 2^-16; the highest bit marks a wide one."""
    rows = np.array(_SCALED, np.uint32)
    for several in _WIDE:
        rows[several] |= np.uint32(_WIDE_BIT)
    return rows.tobytes()


def encoded(part: float) -> int:
    """A number from 0 to 1 as a component of 8 bits.

    Example:
        >>> encoded(0.75), encoded(-2.0)
        (225, 0)
    """
    part = min(max(part, 0.0), 1.0)
    bent = 12.92 * part if part <= _LINEAR_PART else 1.055 * part ** (1 / 2.4) - 0.055
    return round(255 * bent)
