"""Textures and surfaces as a user meets them: made, passed, bound, misused, and told to the tools."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptxloom as pl

HEAD = ".version 8.7\n.target sm_90\n.address_size 64\n.global .texref image;\n.global .surfref canvas;\n"
FETCH = "tex.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {x, x}];"


def kernel(body: str) -> pl.Kernel:
    """A kernel `k(object, out)`: each of a warp's lanes stores r0."""
    text = f"""{HEAD}.visible .entry k(.param .u64 object, .param .u64 out) {{
    .reg .b64 t, o; .reg .b32 r<4>, i, four; .reg .f32 x; .reg .pred p;
    ld.param.u64 t, [object]; ld.param.u64 o, [out]; mov.u32 i, %tid.x; shl.b32 four, i, 2;
    cvt.rn.f32.u32 x, i; mov.u32 r0, 77;
    {body}
    mad.wide.u32 o, i, 4, o; st.global.u32 [o], r0; ret; }}"""
    return pl.kernel(pl.parse(text), "k")


def picture() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.arange(16, dtype=np.float32).reshape(4, 4)


def test_a_texture_is_passed_by_a_number_that_may_lie_in_memory() -> None:
    image = pl.texture(picture(), "2d", address_mode="clamp")
    numbers, out = np.array([int(image)], np.uint64), np.zeros(4, np.float32)
    kernel(f"ld.global.u64 t, [t]; {FETCH}").launch(1, 4, [numbers, out], textures=[image])
    assert out.tolist() == [0, 5, 10, 15]


def test_variables_of_the_module_are_bound_by_their_names() -> None:
    out, drawn = np.zeros(4, np.float32), np.zeros(4, np.uint32)
    body = "tex.2d.v4.f32.f32 {r0, r1, r2, r3}, [image, {x, x}]; sust.b.1d.b32.trap [canvas, {four}], i;"
    bound = {"image": pl.texture(picture(), "2d"), "canvas": pl.surface(drawn, "1d")}
    kernel(body).launch(1, 4, [None, out], textures=bound)
    assert out.tolist() == [0, 5, 10, 15]
    assert drawn.tolist() == [0, 1, 2, 3]


def test_the_address_of_a_bound_variable_is_that_of_a_texture() -> None:
    out = np.zeros(1, np.uint32)
    body = "mov.u64 t, image; istypep.texref p, t; selp.u32 r0, 1, 0, p;"
    kernel(body).launch(1, 1, [None, out], textures={"image": pl.texture(picture(), "2d")})
    assert out[0] == 1


@pytest.mark.parametrize(
    ("body", "rule", "why"),
    [
        (FETCH, "no-texture", "the launch was not given such an object"),
        ("suld.b.2d.b32.trap r0, [t, {four, i}];", "no-texture", "the launch was not given such an object"),
        ("txq.width.b32 r0, [t];", "no-texture", "the launch was not given such an object"),
    ],
)
@pytest.mark.parametrize("number", [0, 1 << 40, 0xFFFFFFFFFFFFFFFF])
def test_a_number_that_is_no_object_is_a_report(body: str, rule: str, why: str, number: int) -> None:
    with pytest.raises(pl.LaunchError, match=why) as caught:
        kernel(body).launch(1, 4, [number, np.zeros(4, np.uint32)])
    assert [hazard.rule for hazard in caught.value.hazards] == [f"memcheck.{rule}"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("tex.1d.v4.f32.f32 {r0, r1, r2, r3}, [t, {x}];", "another geometry"),
        ("suld.b.2d.b32.trap r0, [t, {four, i}];", "of the other kind"),
    ],
)
def test_an_object_of_another_kind_or_geometry_is_a_report(body: str, why: str) -> None:
    with pytest.raises(pl.LaunchError, match=why):
        kernel(body).launch(1, 4, [pl.texture(picture(), "2d"), np.zeros(4, np.uint32)])


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("add.u32 four, four, 4; suld.b.2d.b32.trap r0, [t, {four, 0}];", "a coordinate is outside"),
        ("suld.b.2d.b32.zero r0, [t, {i, 0}];", "is not a multiple of the bytes"),
        ("sust.b.2d.b32.trap [t, {four, four}], i;", "a coordinate is outside"),
    ],
)
def test_an_access_outside_a_surface_is_a_report(body: str, why: str) -> None:
    with pytest.raises(pl.LaunchError, match=why) as caught:
        kernel(body).launch(1, 4, [pl.surface(picture(), "2d"), np.zeros(4, np.uint32)])
    assert [hazard.rule for hazard in caught.value.hazards] == ["memcheck.illegal-surface-access"]


@pytest.mark.parametrize("step", [-8, -1, 0, 3, 7])
@pytest.mark.parametrize("turns", [-1, 1, 5])
def test_of_a_step_the_low_four_bits_count(step: int, turns: int) -> None:
    """The manual has steps from -8 to 7; of others no GPU was asked."""
    texels = np.arange(3 * 64, dtype=np.float32).reshape(3, 64)
    found: list[list[float]] = []
    for by in (step, step + 16 * turns):
        out = np.zeros(32, np.float32)
        body = (
            f"mov.u32 four, 1; add.u32 r3, i, 16; tex.2d.v4.f32.s32 {{r0, r1, r2, r3}}, [t, {{r3, four}}], {{{by}, 0}};"
        )
        kernel(body).launch(1, 32, [pl.texture(texels, "2d"), out])
        found.append(out.tolist())
    assert found == [[64 + 16 + step + lane for lane in range(32)]] * 2


def test_stores_of_two_warps_to_one_place_of_a_surface_race() -> None:
    result = kernel("sust.b.2d.b32.trap [t, {0, 0}], i;").launch(
        1, 64, [pl.surface(picture(), "2d"), np.zeros(64, np.uint32)], checks=["racecheck:global"]
    )
    assert "racecheck.write-after-write" in {hazard.rule for hazard in result.hazards}


@pytest.mark.parametrize(
    ("body", "is_used"),
    [
        ("sust.b.1d.b32.trap [t, {four}], r1;", True),
        ("sust.b.1d.v2.b32.clamp [t, {0}], {i, r1};", True),
        ("sured.b.1d.add.u32.trap [t, {four}], r1;", True),
        ("sust.b.1d.b32.trap [t, {r1}], i;", True),
        ("suld.b.1d.b32.trap r2, [t, {four}];", False),
    ],
)
def test_what_leaves_by_a_surface_is_used(body: str, is_used: bool) -> None:
    """Unwritten shared memory is used where it is stored or combined, and where it is a coordinate."""
    drawn, out = pl.surface(np.zeros(32, np.uint32), "1d"), np.zeros(32, np.uint32)
    start = ".shared .b32 tile[32]; .reg .b32 own; mov.u32 own, tile; add.u32 own, own, four; ld.shared.b32 r1, [own];"
    found = [
        kernel(f"{{ {start}{mended}{body} }}").launch(1, 32, [drawn, out], checks=["initcheck"]).hazards
        for mended in ("", "mov.b32 r1, 0;")
    ]
    assert [[hazard.rule for hazard in hazards] for hazards in found] == [["initcheck.uninitialised"] * is_used, []]


def test_look_ups_are_counted_and_traced() -> None:
    out = np.zeros(4, np.float32)
    result = kernel(FETCH).launch(1, 4, [pl.texture(picture(), "2d"), out], profile=True, trace=["tex"])
    assert result.profile is not None
    assert [row.counts.executions for row in result.profile.rows if row.instruction.startswith("tex")] == [1]
    assert len(result.trace) == 1


@pytest.mark.parametrize(
    ("shape", "geometry", "changes", "why"),
    [
        ((4,), "4d", {}, "geometry is '4d'"),
        ((4,), "2d", {}, "2 dimensions for"),
        ((4, 4, 3), "2d", {}, "1, 2 or 4 of them"),
        ((6, 4, 5), "cube", {"normalized_coords": True}, "six square faces"),
        ((6, 4, 4), "cube", {}, "True for cubes"),
        ((4, 4), "2d", {"address_mode": "repeat"}, "address_mode is 'repeat'"),
        ((4, 4), "2d", {"read_mode": "normalized_float"}, "8 and 16 bits alone"),
    ],
)
def test_a_texture_that_cuda_does_not_have_is_refused(
    shape: tuple[int, ...], geometry: str, changes: dict[str, object], why: str
) -> None:
    with pytest.raises(pl.UsageError, match=why):
        pl.texture(np.zeros(shape, np.float32), geometry, **changes)  # pyright: ignore[reportArgumentType] - on purpose


def test_levels_have_half_the_size_each() -> None:
    with pytest.raises(pl.UsageError, match=r"level 1 .* \(2, 4\)"):
        pl.texture([np.zeros((4, 8), np.float32)] * 2, "2d", normalized_coords=True)


def test_a_surface_is_an_array_that_may_be_written() -> None:
    fixed = picture()
    fixed.flags.writeable = False
    with pytest.raises(pl.UsageError, match="that a kernel may write"):
        pl.surface(fixed, "2d")


def test_a_name_that_the_module_does_not_have_is_refused() -> None:
    with pytest.raises(pl.UsageError, match=r"name of a \.texref of the module: image"):
        kernel("").launch(1, 1, [None, None], textures={"canvas": pl.texture(picture(), "2d")})


@pytest.mark.parametrize(
    "body",
    [
        "tex.grad.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {x, x}], {x, x}, {x, x};",
        "tld4.r.cube.v4.f32.f32 {r0, r1, r2, r3}, [t, {x, x, x, x}];",
        "tex.2d.v4.f32.f32 {r0, r1, r2, r3}, [t, {x, x}], x;",
        "sust.p.2d.b32.trap [t, {i, i}], i;",
        "sured.p.add.2d.b32.trap [t, {i, i}], i;",
        "txq.channel_order.b32 r0, [t];",
    ],
)
def test_what_is_not_supported_is_refused_before_anything_runs(body: str) -> None:
    with pytest.raises(pl.UnsupportedInstruction, match="cannot run"):
        kernel(body)


@pytest.mark.parametrize("geometry", ["1d", "2d"])
def test_a_filter_over_equal_texels_gives_what_each_of_them_is(geometry: str) -> None:
    """Of sRGB, whose values have more bits than a filter keeps, to the eleven bits of an .f16."""
    where = "{x}" if geometry == "1d" else "{x, x}"
    code = f"mul.f32 x, x, 0f3DC8B439; tex.{geometry}.v4.f32.f32 {{r0, r1, r2, r3}}, [t, {where}];"
    reading = kernel(code)
    for value in range(0, 256, 17):
        image = np.full((8, 4) if geometry == "1d" else (8, 8, 4), value, np.uint8)
        found: list[np.ndarray[tuple[int], np.dtype[np.float32]]] = []
        for mode in ("point", "linear"):
            out = np.zeros(32, np.float32)
            sampled: dict[str, Any] = {"filter_mode": mode, "read_mode": "normalized_float", "address_mode": "clamp"}
            made = pl.texture(image, geometry, srgb=True, **sampled)
            reading.launch(1, 32, [made, out])
            found.append(out)
        assert np.allclose(found[1], found[0], rtol=2**-10, atol=2**-24)
        assert (found[0] == found[0][0]).all()


@pytest.mark.parametrize("byte", range(4))
def test_a_reduction_of_a_surface_races_with_a_store_to_any_of_its_bytes(byte: int) -> None:
    """Of the texel beside it the store touches nothing."""
    code = f"""setp.eq.u32 p, i, 0; @p sured.b.1d.add.u32.trap [t, {{PLACE}}], four; setp.eq.u32 p, i, 32;
    add.u64 o, o, {byte}; @p st.global.u8 [o], r0; ret;"""
    for place, kinds in ((0, ["write-after-write"]), (4, [])):
        drawn = np.zeros(16, np.uint32)
        both = kernel(code.replace("PLACE", str(place)))
        found = both.launch(1, 64, [pl.surface(drawn, "1d"), drawn], checks=("racecheck:global",)).hazards
        assert [one.kind for one in found] == kinds
