"""The explorer in a browser: it shows what Python says, by mouse, keyboard and link; nothing leaves it or gets in."""

from __future__ import annotations

import importlib.util
import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from ptxloom.atoms.wrappers import emit
from ptxloom.fragments import fragment
from ptxloom.isa.matrix import variants
from ptxloom.web import page

if TYPE_CHECKING:
    from browser import Browser

MOST_BYTES = 1_500_000
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
    for _ in range(400):
        if shown.run(expression) == wanted:
            return
        time.sleep(0.01)
    assert shown.run(expression) == wanted


def test_the_page_is_one_small_file_and_the_same_each_time() -> None:
    made = page()
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
    shown.run("new Promise((done) => setTimeout(done, 60))")
    link = shown.run("location.hash")
    assert "pin=r.0.2.1" in link
    shown.open(explorer, link[1:])
    assert text(shown, ".holder") == "T8 V1:R0"
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


@pytest.mark.parametrize("parameter", ["view", "form", "operand", "by", "pin", "from", "code"])
def test_a_hostile_link_does_nothing(shown: Browser, parameter: str) -> None:
    for value in HOSTILE:
        go(shown, f"view=fragment&{parameter}={quote(value)}")
        assert shown.run("document.querySelectorAll('img, iframe, object, embed, main script, [onload]').length") == 0
        assert shown.run("document.querySelectorAll('.stage .cell').length") > 0


def axe() -> str | None:
    """The accessibility checker's script, where the package that brings it is installed."""
    found = importlib.util.find_spec("axe_core_python")
    folder = Path(found.origin).parent if found is not None and found.origin else None
    return (folder / "axe.min.js").read_text(encoding="utf-8") if folder else None


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
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
