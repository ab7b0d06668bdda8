"""The palette stays apart for every reader: distances by CIEDE2000 under simulated dichromacies, contrast by WCAG."""

from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ptxloom.views.core.palette import DARK, HEAT, HUES, LIGHT, ON_FILL, TINTS, Theme, contrast, luminance

Numbers = NDArray[np.float64]

# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
VISION = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.119192, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def lab(colour: str, vision: str) -> Numbers:
    """CIELAB under D65 of what a reader sees."""
    rgb = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    t = TO_XYZ @ np.clip(np.array(VISION[vision], float) @ linear, 0, 1) / WHITE
    x, y, z = np.where(t > 216 / 24389, np.cbrt(t), (24389 / 27 * t + 16) / 116).tolist()
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def ciede2000(one: Any, other: Any) -> float:
    """Sharma, Wu and Dalal 2005."""
    (l1, a1, b1), (l2, a2, b2) = np.array(one, float).tolist(), np.array(other, float).tolist()
    c7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    stretch = 1 + 0.5 * (1 - np.sqrt(c7 / (c7 + 25.0**7)))
    c1, c2 = np.hypot(a1 * stretch, b1), np.hypot(a2 * stretch, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a * stretch)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    mean = h1 + h2 if c1 * c2 == 0 else (h1 + h2) / 2 + (180 if abs(h1 - h2) > 180 else 0)
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    t = (
        1
        - 0.17 * cosine(mean - 30)
        + 0.24 * cosine(2 * mean)
        + 0.32 * cosine(3 * mean + 6)
        - 0.2 * cosine(4 * mean - 63)
    )
    dl = (l2 - l1) / (1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * chroma)
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * chroma * t)
    blue = 60 * np.exp(-((((mean % 360) - 275) / 25) ** 2))
    rotation = -2 * np.sqrt(chroma**7 / (chroma**7 + 25.0**7)) * np.sin(np.radians(blue))
    return float(np.sqrt(dl**2 + dc**2 + dh**2 + rotation * dc * dh))


def cosine(degrees: float) -> float:
    return float(np.cos(np.radians(degrees)))


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [  # rows of the test data that Sharma, Wu and Dalal published with the formula
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.49, -0.001), (50.0, -2.49, 0.0011), 7.2195),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((22.7233, 20.0904, -46.694), (23.0331, 14.973, -42.5619), 2.0373),
        ((90.8027, -2.0831, 1.441), (91.1528, -1.6435, 0.0447), 1.4441),
    ],
)
def test_the_distance_is_the_published_one(one: Any, other: Any, distance: float) -> None:
    assert ciede2000(one, other) == pytest.approx(distance, abs=1e-4)
    assert ciede2000(other, one) == pytest.approx(distance, abs=1e-4)


@pytest.mark.parametrize("vision", VISION)
def test_any_two_hues_stay_apart(vision: str) -> None:
    near = {(a, b): ciede2000(lab(a, vision), lab(b, vision)) for a, b in combinations((*HUES, LIGHT.blank), 2)}
    assert min(near.values()) >= 12, min(near, key=lambda pair: near[pair])


@pytest.mark.parametrize("vision", VISION)
def test_a_tint_is_told_from_its_hue_and_taken_for_no_other(vision: str) -> None:
    hues, tints = ([lab(colour, vision) for colour in row] for row in (HUES, TINTS))
    assert min(map(ciede2000, hues, tints)) >= 4
    assert (
        min(ciede2000(tint, other) for tint, own in zip(tints, hues, strict=True) for other in hues if other is not own)
        >= 7
    )
    assert min(ciede2000(a, b) for a, b in combinations(tints, 2)) >= 7


def test_text_reads_on_every_fill() -> None:
    assert all(contrast(ON_FILL, fill) >= 7 for fill in (*HUES, *TINTS, *HEAT))


def test_a_dark_hue_is_no_olive() -> None:
    dark = [lab(hue, "normal") for hue in HUES if luminance(hue) < 0.5]
    assert all(not 80 <= np.degrees(np.arctan2(b, a)) <= 118 for _, a, b in dark)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_reads_beside_the_cells(theme: Theme) -> None:
    for ground in (theme.ground, theme.blank, theme.other):
        assert contrast(theme.ink, ground) >= 7
        assert contrast(theme.alarm, ground) >= 4.5
        assert contrast(theme.calm, ground) >= 4.5
    assert contrast(theme.faint, theme.ground) >= 4.5
    assert all(contrast(theme.line, fill) >= 3 for fill in HUES)


def test_neighbours_differ_in_black_and_white() -> None:
    greys = [luminance(fill) for fill in (*HUES, HUES[0])]
    assert all((max(pair) + 0.05) / (min(pair) + 0.05) >= 1.4 for pair in pairwise(greys))


def test_what_is_hotter_is_darker() -> None:
    assert all(a - b >= 0.08 for a, b in pairwise(luminance(fill) for fill in HEAT))
