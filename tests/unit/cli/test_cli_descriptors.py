"""`descriptor` and `tensormap` print what the library says, and answer what is wrong in a sentence."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

MAKE = ("tensormap", "--data-type", "FLOAT16", "--global-dim", "60,30", "--global-strides", "128", "--box-dim", "64,8")


def test_words_and_places_of_a_descriptor(run: Run) -> None:
    ran = run("descriptor", "0x4000004000010040", "--tile", "64x16", "--type", "f16", "--major", "k")
    assert ran.code == 0
    assert "32-45  stride dimension byte offset     0x40  1,024 bytes to the next core matrices along M or N" in ran.out
    assert " 1  0x00490  0x00480\n" in ran.out
    assert "0x00480  1,8  1,0" in ran.out
    assert "assumed" not in ran.out
    assert "assumed" in run("descriptor", "0x4000004000010040").out


def test_what_cannot_be_meant_is_a_finding(run: Run) -> None:
    ran = run("descriptor", "0x4000000100400040", "--output-format", "concise")
    assert ran.code == 1
    assert "wrong[offsets-swapped]" in ran.out
    assert "exchange them: 0x4000004000010040" in ran.out
    assert run("descriptor", "0x4000004000010048").code == 0  # a note


def test_bits_are_made_and_read_again(run: Run) -> None:
    made = run("descriptor", "--tile", "128x64", "--type", "bf16", "--major", "mn", "--output-format", "concise").out
    bits = made.splitlines()
    assert bits == ["0x4000004002000000", "0x4000004002000080", "0x4000004002000100", "0x4000004002000180"]
    found = json.loads(run("descriptor", bits[1], "--major", "mn", "--output-format", "json").out)
    assert (found["start_address"], found["leading_byte_offset"], found["remarks"]) == (2048, 8192, [])
    full = run("descriptor", "--tile", "64x32").out
    assert "64B swizzle, for wgmma: 4,096 bytes" in full
    assert "or.b64 %desc, %desc, 0x8000002000010000;" in full
    assert "return 0x8000002000010000ull | (address & 0x3FFFF) >> 4;" in full


def test_a_tile_that_no_product_takes_is_a_finding(run: Run) -> None:
    ran = run("descriptor", "--tile", "128x64", "--type", "e4m3", "--major", "mn")
    assert ran.code == 1
    assert "wrong[transposed-type]" in ran.out


def test_a_map_is_made_written_and_read_again(run: Run, tmp_path: Path) -> None:
    made = run(*MAKE, "--swizzle", "128B", "--output-format", "concise").out.strip()
    assert len(made) == 256
    raw, text = tmp_path / "map.bin", tmp_path / "map.txt"
    raw.write_bytes(bytes.fromhex(made))
    text.write_text(f"0x{made[:128]}\n{made[128:]}\n")
    shown = [run("tensormap", given, "--coordinate", "16,26").out for given in (made, str(raw), str(text))]
    assert len(set(shown)) == 1
    assert "A copy takes 64 x 8 (elements, dimension 0 first): 1,024 bytes, which its mbarrier counts." in shown[0]
    assert "336 elements are outside and are filled with zeros" in shown[0]
    found = json.loads(run("tensormap", made, "--coordinate", "16,26", "--output-format", "json").out)
    assert found["parameters"]["box_dim"] == [64, 8]
    assert found["copy"]["chunks"][8] == {"coordinate": [16, 27], "shared_address": 144, "elements": 8, "inside": 8}


def test_an_im2col_map_walks_pixels(run: Run) -> None:
    ran = run(
        *("tensormap", "--data-type", "FLOAT16", "--global-dim", "8,5,4,2", "--channels-per-pixel", "8"),
        *("--pixels-per-column", "12", "--pixel-box-lower-corner", "-1,-1", "--pixel-box-upper-corner", "-1,-1"),
        *("--coordinate", "0,-1,-1,0", "--offsets", "1,1"),
    )
    assert ran.code == 0
    assert "pixelBoxLowerCorner" in ran.out
    assert "A copy takes 8 x 12 (channels x pixels): 192 bytes" in ran.out


def test_a_map_with_something_wrong_is_told_why(run: Run, tmp_path: Path) -> None:
    made = bytes.fromhex(run(*MAKE, "--swizzle", "128B", "--output-format", "concise").out)
    wide = tmp_path / "wide.bin"
    wide.write_bytes(made[:55] + b"\x7f" + made[56:])  # box_dim[0] becomes 128
    ran = run("tensormap", str(wide))
    assert ran.code == 1
    assert "the driver would not make this map: box_dim is 128; it must be at most 64" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("descriptor",), "give the bits to read, such as 0x4000004000010040, or a tile"),
        (("descriptor", "1e99"), "BITS is '1e99'; it must be a whole number, such as 1024 or 0x400"),
        (("descriptor", hex(1 << 64)), "64 bits: from 0 to 0xffffffffffffffff"),
        (("descriptor", "0x6000400000000000"), "swizzling mode in bits 61 to 63"),
        (("descriptor", "0x40", "--swizzle", "64B"), "`--swizzle` is for a descriptor that is made"),
        (("descriptor", "0x40", "--tile", "0x16"), "rows is 0; it must be 1 to 256"),
        (("descriptor", "--tile", "64x60"), "multiple of 8 along M or N and of 16 along K for f16"),
        (("tensormap",), "give a map to read (a file, or 256 hexadecimal digits), or at least `--data-type`"),
        (("tensormap", "abc"), "'abc' is neither a file nor the 256 hexadecimal digits"),
        (("tensormap", "f" * 256), "word 2"),
        ((*MAKE, "--swizzle", "64B"), "--box-dim is 64; it must be at most 32"),
        ((*MAKE, "--global-strides", "120"), "--global-strides is (120,); it must be multiples of 16, in bytes"),
        ((*MAKE, "--coordinate", "1"), "--coordinate is (1,); it must be 2 numbers"),
        ((*MAKE, "--global-dim", "a"), "whole numbers with commas between them, such as 64,32"),
        (MAKE[:5], "give what a copy spans"),
        ((*MAKE[:2], "HALF", *MAKE[3:]), "--data-type is 'HALF'; it must be one of UINT8"),
    ],
)
def test_what_is_wrong_is_a_sentence(run: Run, arguments: tuple[str, ...], said: str) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_a_file_that_holds_no_map_is_said(run: Run, tmp_path: Path) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(b"\x00" * 127)
    assert "neither 128 bytes nor the 256 hexadecimal digits" in run("tensormap", str(other)).err
    other.write_bytes(b"")
    assert run("tensormap", str(other)).code == 2


@pytest.mark.parametrize(
    "command", [("descriptor", "0x4000004000010040"), ("descriptor", "--tile", "256x64", "--major", "mn"), MAKE]
)
def test_pictures_are_well_formed_and_fit_their_frame(run: Run, command: tuple[str, ...]) -> None:
    root = ET.fromstring(run(*command, "--output-format", "svg").out)  # noqa: S314 - our own text
    width, height = int(root.get("width", "0")), int(root.get("height", "0"))
    boxes = list(root.iter("{http://www.w3.org/2000/svg}rect"))
    assert len(boxes) > 64
    for box in boxes:
        assert float(box.get("x", "0")) + float(box.get("width", "0")) <= width
        assert float(box.get("y", "0")) + float(box.get("height", "0")) <= height
