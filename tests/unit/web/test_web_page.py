"""The explorer in a browser: it shows what Python says, by mouse, keyboard and link; nothing leaves it or gets in."""

from __future__ import annotations

import importlib.util
import json
import re
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from ptxloom.atoms.wrappers import emit
from ptxloom.banks import bank_conflicts, find_swizzles, make_tile
from ptxloom.checker import check
from ptxloom.descriptors import MatrixDescriptor, SharedOperand
from ptxloom.descriptors.remarks import of_operand
from ptxloom.fragments import fragment
from ptxloom.isa.matrix import variants
from ptxloom.syntax import parse
from ptxloom.views.core.palette import HUES, TINTS
from ptxloom.web import page

if TYPE_CHECKING:
    from browser import Browser

MOST_BYTES = 1_500_000
PATIENCE = 60  # seconds for the page to come to what is wanted, after which it never will
LINK = "view=fragment&form={form}&operand={operand}"
HOLDERS = "[...table.querySelectorAll('.cell')].map((cell) => cell.innerText.replace(/\\s/, ' '))"
CELLS = f"all('.stage table').map((table) => {HOLDERS})"
TEXT = "document.querySelector({!r})?.innerText ?? ''"
HOSTILE = (
    "<img src=x onerror=alert(1)>", "<script>alert(1)</script>", "javascript:alert(1)", "\"'><svg onload=alert(1)>",
    "__proto__", "constructor", "%00", "\u202e\u2066", "-1", "9" * 400, "1e9", "../../etc/passwd", "{{facts}}",
    "a" * 100_000,
)  # fmt: skip


def text(shown: Browser, selector: str) -> str:
    return shown.run(TEXT.format(selector))


def go(shown: Browser, link: str) -> None:
    """Follow a link within the page, until the page has followed; one to where it is already changes nothing."""
    shown.run(
        "new Promise((done) => { const before = location.hash; addEventListener('hashchange', done, {once: true});"
        f" location.hash = {json.dumps(link)}; if (location.hash === before) done(); }}).then(() => true)"
    )


def until(shown: Browser, expression: str, wanted: object) -> None:
    """Wait until an expression in the page has a value."""
    last = time.monotonic() + PATIENCE
    while shown.run(expression) != wanted:
        assert time.monotonic() < last, shown.run(expression)
        time.sleep(0.01)


def test_the_page_is_one_small_file_and_the_same_each_time(explorer: Path) -> None:
    made = explorer.read_text(encoding="utf-8")
    assert len(made.encode()) < MOST_BYTES
    assert made == page()
    assert "default-src 'none'" in made
    assert made.count("<script") == made.count("</script>") == 3
    assert not re.search(r"""(?:src|href)=["'](?!data:,|#)""", made.partition("<script")[0])


def test_it_asks_for_nothing_but_itself(shown: Browser, explorer: Path) -> None:
    for view in shown.run("all('[role=tab]').map((tab) => tab.id.slice(4))"):
        go(shown, f"view={view}")
    beyond = {each.partition("#")[0] for each in shown.requests} - {explorer.as_uri(), "about:blank", "data:,"}
    assert beyond == set()


def test_the_policy_lets_no_other_script_run_and_no_request_out(chromium: Browser, explorer: Path) -> None:
    chromium.open(explorer)
    listen = "document.addEventListener('securitypolicyviolation', (event) => done(event.violatedDirective))"
    refused = f"new Promise((done) => {{ {listen}; %s }})"
    assert "script-src" in chromium.run(
        refused % "const s = document.createElement('script'); try { s.text = 'window.broken = 1';"
        " document.body.append(s); } catch { done('script-src by trusted types'); }"
    )
    assert chromium.run("window.broken ?? 0") == 0
    assert "connect-src" in chromium.run(refused % "fetch('https://example.com/').catch(() => 0);")
    assert (
        chromium.run(
            "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'set'; } catch { return 'refused'; } })()"
        )
        == "refused"
    )
    chromium.messages.clear()


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("move", variants(), ids=str)
def test_each_of_the_moves_is_drawn_element_by_element(shown: Browser, move: object) -> None:
    spelling = str(move)
    operand = "d" if spelling.startswith("movmatrix") else "r"
    go(shown, LINK.format(form=spelling, operand=operand))
    f = fragment(spelling)
    wanted = [
        [f.label(f.holder(matrix=m, row=row, column=column)) for row in range(f.rows) for column in range(f.columns)]
        for m in range(f.matrices)
    ]
    assert shown.run(CELLS) == wanted
    tags = shown.run("all('.stage .tag').map((tag) => Number(tag.innerText.slice(1)))")
    assert tags == [f.address_lane(matrix=m, row=r) for m in range(f.matrices) for r in range(f.rows) if f.addressed]


def test_an_element_under_the_mouse_lights_its_lane_register_bits_and_address(shown: Browser) -> None:
    shown.hover("table.matrix .cell[data-at='29']")
    assert text(shown, ".holder") == "T14 V1:R0"
    assert "lane 3 passes" in text(shown, ".inspect")
    assert shown.run("all('.cell.is-it').length") == 1
    assert shown.run("all('.cell.is-lane').every((c) => c.innerText.startsWith('T14'))")
    assert shown.run("document.querySelector('.lane.is-it').innerText") == "14"
    assert shown.run("document.querySelector('.lane.is-address').innerText") == "3"
    assert shown.run("document.querySelector('.bit.is-it').getAttribute('aria-label')").startswith(
        "V1: row 3, column 5"
    )


def test_a_lane_lights_its_elements(shown: Browser) -> None:
    shown.hover(".lane[data-lane='9']")
    lit = shown.run("all('.cell.is-lane').map((c) => c.getAttribute('aria-label'))")
    f = fragment("ldmatrix.sync.aligned.m8n8.x4.b16")
    assert len(lit) == f.values_per_lane
    assert all(": lane 9," in each for each in lit)
    assert "names row 1 of matrix 1" in text(shown, ".inspect")


def test_a_register_s_element_lights_its_cell(shown: Browser) -> None:
    shown.hover("table.matrix .cell[data-at='0']")
    shown.hover(".bit[data-value='5']")
    f = fragment("ldmatrix.sync.aligned.m8n8.x4.b16")
    assert text(shown, ".holder") == f.label(f.at(0, 5))


def test_arrows_move_enter_keeps_and_the_link_restores(shown: Browser, explorer: Path) -> None:
    shown.run("document.querySelector('table.matrix .cell').focus()")
    for name in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        shown.key(name)
    assert text(shown, ".holder") == "T8 V1:R0"
    until(shown, "location.hash.includes('pin=r.0.2.1')", wanted=True)
    link = shown.run("location.hash")
    shown.open(explorer, link[1:])
    assert text(shown, ".holder") == "T8 V1:R0"
    assert shown.run("document.title") == "ldmatrix.sync.aligned.m8n8.x4.b16: ptxloom explorer"
    assert shown.run("document.querySelectorAll('.cell.is-it').length") == 1


def test_a_form_is_found_by_words_and_taken_by_the_keyboard(shown: Browser) -> None:
    shown.run("document.querySelector('[role=combobox]').focus()")
    shown.send("Input.insertText", text="stmatrix x2 b8")
    assert shown.run("document.querySelectorAll('[role=option]').length") == 1
    shown.key("ArrowDown")
    shown.key("Enter")
    assert text(shown, ".spelling") == "stmatrix.sync.aligned.m16n8.x2.trans.b8"


def test_the_code_is_what_emit_prints(shown: Browser) -> None:
    for language in ("cuda", "ptx", "triton", "cute", "cute-dsl"):
        go(shown, f"view=fragment&form=ldmatrix.sync.aligned.m8n8.x2.trans.b16&operand=r&code={language}")
        until(shown, "document.querySelector('.code pre').textContent", emit("ldmatrix.m8n8.x2.trans.b16", language))


def test_the_operands_of_a_product_stand_in_the_corner(shown: Browser) -> None:
    go(shown, "view=fragment&form=mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32&operand=all")
    sizes = shown.run("all('.corner-stage table').map((t) => t.querySelectorAll('.cell').length)")
    assert sizes == [256, 128, 128]
    shown.hover(".in-d .cell[data-at='0']")
    fed = shown.run("all('.cell.is-feed').map((c) => c.getAttribute('aria-label').split(':')[0])")
    assert fed == [*(f"row 0, column {k}" for k in range(16)), *(f"row {k}, column 0" for k in range(16))]


PARAMETERS = {
    "fragment": ("form", "operand", "by", "pin", "from", "code"),
    "banks": ("access", "rows", "columns", "element", "pitch", "padding", "swizzle", "warp", "phase", "also"),
    "descriptor": ("bits", "generation", "element", "major", "rows", "columns"),
    "tensor": ("dataType", "dims", "strides", "box", "steps", "coordinate", "swizzle", "address", "shared"),
    "check": ("text", "target", "ptx"),
}


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("view", PARAMETERS)
def test_a_hostile_link_does_nothing(shown: Browser, view: str) -> None:
    for value in HOSTILE:
        go(shown, "&".join((f"view={view}", *(f"{parameter}={quote(value)}" for parameter in PARAMETERS[view]))))
    go(shown, "view=" + quote(HOSTILE[0]))
    assert shown.run("all('img, iframe, object, embed, main script, [onload], [onerror]').length") == 0
    assert shown.run("all('.stage .cell').length") == 256


def test_a_hostile_paste_is_text(shown: Browser) -> None:
    go(shown, "view=check")
    for value in HOSTILE:
        typed = json.dumps(f"ld.{value} {value}; {value}")
        shown.run(f"(() => {{ const area = document.querySelector('.paste'); area.value = {typed}; }})()")
        shown.run("document.querySelector('.paste').dispatchEvent(new Event('input'))")
        assert shown.run("all('img, iframe, object, embed, main script, [onload], [onerror]').length") == 0
    assert "not read" in text(shown, ".summary")


def test_a_conflict_vanishes_with_the_suggested_swizzle(shown: Browser) -> None:
    go(shown, "view=banks&access=ldmatrix.sync.aligned.m8n8.x4.b16&pitch=128")
    report = bank_conflicts("ldmatrix.m8n8.x4.b16", [128 * lane for lane in range(32)])
    counts = f"{report.wavefronts} wavefronts where {report.ideal} would do in this warp"
    assert f"{report.ways}-way bank conflict" in text(shown, ".verdict")
    assert counts in text(shown, ".verdict")
    found = find_swizzles(make_tile(64, 64, "f16"), ["ldmatrix.m8n8.x4.b16"])
    cards = shown.run("all('.cards .card b').map((card) => card.innerText)")
    assert cards[:-1] == [str(one.arrangement) for one in found.choices]
    shown.run("document.querySelector('.card').click()")
    assert "No bank conflict" in text(shown, ".verdict")
    until(shown, "location.hash.includes('swizzle=3.3.3')", wanted=True)
    assert text(shown, ".line code") == found.choices[0].arrangement.cute


def test_phases_are_stepped_through_by_the_keyboard(shown: Browser) -> None:
    go(shown, "view=banks&access=ldmatrix.sync.aligned.m8n8.x4.b16&pitch=128&phase=0")
    shown.run("document.querySelector('[aria-label=\"next phase\"]').focus()")
    shown.key("Enter")
    assert "Phase 2 of 4" in text(shown, ".stepper")
    shown.key("Enter")
    assert "Phase 3 of 4" in text(shown, ".stepper")
    labels = shown.run("all('figure svg')[0].textContent")
    assert "T16" in labels
    assert "T15" not in labels


def test_the_rows_of_a_descriptor_lie_where_python_says(shown: Browser) -> None:
    go(shown, "view=descriptor&bits=0x4000004000010040&element=f16&major=k&rows=64&columns=16")
    operand = SharedOperand(MatrixDescriptor.from_bits(0x4000004000010040), 64, 16)
    rows = shown.run("all('.as-table tbody tr').map((row) => [...row.cells].map((cell) => cell.textContent))")
    assert rows == [[str(r), f"0x{operand.address(r, 0):05x}", f"0x{operand.address(r, 8):05x}"] for r in range(64)]
    swapped = MatrixDescriptor(0, 1024, 16, "128B")
    go(shown, f"view=descriptor&bits={swapped}&rows=64&columns=16")
    assert of_operand(SharedOperand(swapped, 64, 16))[0].text in text(shown, ".remarks")


def test_the_box_of_a_tensor_map_moves_by_arrows(shown: Browser) -> None:
    go(shown, "view=tensor&dims=128,64&box=64,8&coordinate=0,0")
    shown.run("document.querySelector('.box-part').focus()")
    for name in ("ArrowRight", "ArrowDown", "ArrowDown"):
        shown.key(name)
    until(shown, "new URLSearchParams(location.hash.slice(1)).get('coordinate')", "8, 2")
    go(shown, "view=tensor&dims=128,64&box=100,8&swizzle=128B")
    assert "box_dim is 100; it must be" in text(shown, ".verdict")


def test_pasted_ptx_is_judged_in_python_s_words_with_carets(shown: Browser) -> None:
    source = "ldmatrix.sync.m8n8.x4.shared.b16 {a, b}, [c];\nstmatrix.sync.aligned.m8n8.x2.shared.b16 [c], {a};"
    go(shown, f"view=check&text={quote(source)}&target=sm_90&ptx=8.0")
    said = [one for one in check(parse(source), "sm_90", "8.0") if one.rule in {"missing-aligned", "vector-length"}]
    messages = shown.run("all('.message').map((one) => one.textContent)")
    assert messages == [f"line {one.span.line}{one.message.replace('`', '')}{one.rule}" for one in said]
    carets = shown.run("all('.findings pre b').map((one) => one.textContent)")
    assert carets == ["^" * (one.span.end - one.span.start) for one in said]


def axe() -> str | None:
    """The accessibility checker's script, where the package that brings it is installed."""
    found = importlib.util.find_spec("axe_core_python")
    folder = Path(found.origin).parent if found is not None and found.origin else None
    return (folder / "axe.min.js").read_text(encoding="utf-8") if folder else None


@pytest.mark.sample(every=2)
@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
def test_the_accessibility_checker_finds_no_fault(shown: Browser, scheme: str, width: int) -> None:
    script = axe()
    if script is None:
        pytest.skip("axe-core-python is not installed")
    shown.prefer(color_scheme=scheme, reduced_motion="reduce")
    shown.size(width, 900)
    shown.run(f"(() => {{ {script} }})()")
    for view in shown.run("all('[role=tab]').map((tab) => tab.id.slice(4))"):
        go(shown, f"view={view}")
        faults = shown.run(
            "axe.run().then((found) => found.violations.map((one) =>"
            " [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))]))"
        )
        assert faults == [], view


def test_the_page_fits_a_narrow_screen(shown: Browser) -> None:
    shown.size(390, 844, phone=True)
    for view in shown.run("all('[role=tab]').map((tab) => tab.id.slice(4))"):
        go(shown, f"view={view}")
        assert shown.run("document.documentElement.scrollWidth") <= 390, view


def test_four_matrices_and_all_banks_are_seen_at_once_on_a_usual_screen(shown: Browser) -> None:
    shown.size(1400, 900)
    go(shown, "view=fragment&form=ldmatrix.m8n8.x4.b16")
    tops = shown.run("all('.blocks > *').map((one) => Math.round(one.getBoundingClientRect().top))")
    assert len(tops) == 4
    assert len(set(tops)) == 2
    go(shown, "view=banks")
    hidden = shown.run("all('.picture').map((one) => one.scrollWidth - one.clientWidth)")
    assert hidden
    assert max(hidden) <= 0


def test_neighbouring_lanes_differ_in_shade(shown: Browser) -> None:
    colours = shown.run("all('.lanes .lane').map((one) => getComputedStyle(one).backgroundColor)")
    assert all(one != next_ for one, next_ in pairwise(colours))
    cells = shown.run("all('table.matrix .cell').slice(0, 8).map((one) => getComputedStyle(one).backgroundColor)")
    assert [cells[column] == cells[column + 1] for column in range(7)] == [True, False] * 3 + [True]


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("width", [1440, 1920, 2560])
@pytest.mark.parametrize(
    ("form", "operand"),
    [("ldmatrix.sync.aligned.m8n8.x4.b16", "r"), ("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16", "d")],
)
def test_a_wide_window_is_used_and_no_column_hides(shown: Browser, width: int, form: str, operand: str) -> None:
    shown.size(width, 1000)
    go(shown, LINK.format(form=form, operand=operand))
    rights = "Math.max(...all('.stage table').map((one) => one.getBoundingClientRect().right))"
    until(
        shown,
        f"(({{left, width}}) => ({rights} - left) / width > 0.85 && {rights} <= left + width + 1)"
        "(document.querySelector('.stage').getBoundingClientRect())",
        wanted=True,
    )


def test_all_columns_of_a_wide_operand_are_seen_at_once_and_chosen_among(shown: Browser) -> None:
    form = "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16"
    go(shown, LINK.format(form=form, operand="d"))
    size = shown.run("(({width, height}) => [width % 256, height % 64])(document.querySelector('.overview'))")
    assert size == [0, 0]
    picture = shown.run(
        "((one) => [one.width, one.height, [...one.getContext('2d').getImageData(0, 0, one.width, one.height).data]])"
        "(document.querySelector('.overview'))"
    )
    width, height, data = picture
    f = fragment(form, "d")
    for row, column in ((5, 77), (63, 254), (33, 130), (16, 250)):
        lane = f.holder(matrix=0, row=row, column=column)[0]
        at = 4 * (width * ((2 * row + 1) * height // 128) + (2 * column + 1) * width // 512)
        assert "#{:02x}{:02x}{:02x}".format(*data[at : at + 3]) == (TINTS if lane % 2 else HUES)[lane // 16]
    where = "{bubbles: true, clientX: box.right - 2, clientY: box.top + 5}"
    shown.run(
        f"((one, box) => one.dispatchEvent(new PointerEvent('pointerdown', {where})))"
        "(document.querySelector('.overview'), document.querySelector('.overview').getBoundingClientRect())"
    )
    until(shown, "all('.stage th[scope=col]').at(-1).textContent", "255")


RESULTS = {
    "fragment": ".stage .cell",
    "banks": ".verdict",
    "descriptor": ".bit-strip",
    "tensor": ".plane",
    "check": ".summary h2",
}


@pytest.mark.parametrize("view", RESULTS)
def test_the_first_screen_of_a_phone_shows_the_result(shown: Browser, explorer: Path, view: str) -> None:
    shown.size(390, 844, phone=True)
    shown.open(explorer, f"view={view}")
    bottom = shown.run(f"document.querySelector({RESULTS[view]!r}).getBoundingClientRect().bottom")
    assert bottom < 660
    shown.run("document.querySelector('.more > summary')?.click()")
    assert shown.run("all('.more-body').every((one) => one.getBoundingClientRect().height > 60)")
    shown.size(1440, 900)
    until(shown, "all('.more').every((one) => one.open)", wanted=True)
