// Who holds what: the map of any form, lit from element to lane, register, bits and address, and back.

import {
  addressedRow,
  axisNames,
  elementAt,
  heldBy,
  holderLabel,
  holderOf,
  matrixTitle,
  registerLine,
} from "./fragment.js";
import { announce, choices, copyButton, field, fill, h, more } from "./dom.js";
import { bitsWords, fillOf, fitOf, matrixGrid, moveInGrid, placeSentence, windowOf } from "./grid.js";
import { makeOverview } from "./overview.js";
import { needsOf } from "./check.js";
import { picker } from "./picker.js";
import { TENSOR_LANES } from "./tensor_memory.js";
import { memoryMap } from "./tensor_memory_view.js";

const FIRST = "ldmatrix.sync.aligned.m8n8.x4.b16";
const FAMILIES = ["ldmatrix", "stmatrix", "movmatrix", "mma.sync", "mma.sp", "wmma", "wgmma", "tcgen05"];
const BY = [
  ["lane", "Lane"],
  ["register", "Register"],
  ["matrix", "Matrix"],
];
const ROLES = {
  r: "its elements",
  a: "A",
  b: "B",
  c: "C",
  d: "D",
  e: "E, the metadata",
  sfa: "the scales of A",
  sfb: "the scales of B",
};
const LANGUAGES = { cuda: "CUDA C++", ptx: "PTX", triton: "Triton", cute: "CuTe C++", "cute-dsl": "CuTe DSL" };
const MOST_IN_CORNER = 2048;
const CORNER = "abd";

export const fragmentView = { id: "fragment", title: "Fragments", make: makeView };

function makeView(app, panel) {
  const { facts } = app;
  const known = new Set(facts.spellings);
  const view = {
    form: "",
    operand: "r",
    by: "lane",
    from: { row: 0, column: 0 },
    pin: null,
    language: "cuda",
    grids: [],
    fit: null,
    overview: null,
  };
  const find = picker("Instruction", facts.spellings, (form) => choose({ form }));
  const parts = {
    families: h(
      "div",
      { class: "chips" },
      FAMILIES.map((family) =>
        h("button", { type: "button", class: "chip", click: () => find.search(family) }, family),
      ),
    ),
    operands: h("div"),
    by: h("div"),
    lanes: h("div"),
    head: h("div", { class: "title" }),
    memory: h("div"),
    stage: h("div", { class: "stage" }),
    pager: h("div", { class: "pager" }),
    notes: h("div", { class: "notes" }),
    code: h("div", { class: "code" }),
    inspector: h("div", { class: "inspect" }),
  };
  fill(
    panel,
    h(
      "div",
      { class: "rail" },
      h("h2", {}, "Instruction"),
      find.element,
      parts.families,
      parts.operands,
      more("Colours and lanes", parts.by, parts.lanes),
    ),
    h("div", { class: "main" }, parts.head, parts.memory, parts.pager, parts.stage, parts.notes, parts.code),
    h("aside", { class: "side", "aria-label": "The element" }, parts.inspector),
  );
  wire(view, parts, app);
  new ResizeObserver(() => refit(view, parts, app, choose)).observe(parts.stage);

  function choose(change) {
    Object.assign(view, change);
    const operands = facts.operandsOf(view.form);
    if (!isOperand(view, operands, facts))
      view.operand = operands.includes("d") && operands.includes("a") ? "d" : operands[0];
    if (change.form || change.operand)
      Object.assign(
        view,
        { pin: null, from: { row: 0, column: 0 } },
        change.pin ? { pin: change.pin } : {},
        change.from ? { from: change.from } : {},
      );
    draw(view, parts, app, choose);
    app.changed();
  }

  return {
    restore(params) {
      const form = known.has(params.get("form")) ? params.get("form") : view.form || firstOfForms(known);
      const numbers = (name, count) => readNumbers(params.get(name), count);
      const [row, column] = numbers("from", 2) || [0, 0];
      choose({
        form,
        operand: params.get("operand") || view.operand,
        by: BY.some(([by]) => by === params.get("by")) ? params.get("by") : view.by,
        language: Object.hasOwn(LANGUAGES, params.get("code")) ? params.get("code") : view.language,
        from: { row, column },
      });
      find.set(form);
      view.pin = pinFrom(view, facts, params.get("pin"));
      light(view, parts, view.pin);
    },
    caption: () =>
      `${view.form}${view.operand === "r" ? "" : `, ${view.operand === "all" ? "A·B" : view.operand.toUpperCase()}`}`,
    params: () => ({
      form: view.form,
      operand: view.operand,
      by: view.by === "lane" ? "" : view.by,
      code: view.language === "cuda" ? "" : view.language,
      from: view.from.row || view.from.column ? `${view.from.row}.${view.from.column}` : "",
      pin: pinText(view.pin),
    }),
  };
}

function firstOfForms(known) {
  return known.has(FIRST) ? FIRST : [...known][0];
}

function isOperand(view, operands, facts) {
  return operands.includes(view.operand) || (view.operand === "all" && hasCorner(view.form, operands, facts));
}

// Whether all operands of a product are small enough to be seen together.
function hasCorner(form, operands, facts) {
  const fragments = [...CORNER].map((operand) => operands.includes(operand) && facts.fragmentOf(form, operand));
  return fragments.every(
    (one) =>
      one && one.matrices === 1 && one.rows <= 32 && one.columns <= 32 && one.rows * one.columns <= MOST_IN_CORNER,
  );
}

// So many small numbers with dots between them, or nothing.
export function readNumbers(text, count) {
  const found = /^\d{1,9}(\.\d{1,9})*$/.test(text || "") ? text.split(".").map(Number) : [];
  return found.length === count ? found : null;
}

// --- what is pinned: an element, a lane, a register of a lane ---

function pinText(pin) {
  if (!pin) return "";
  if (pin.kind === "lane") return `lane.${pin.lane}`;
  return `${pin.fragment.operand}.${pin.element.matrix}.${pin.element.row}.${pin.element.column}`;
}

function pinFrom(view, facts, text) {
  const [kind, ...rest] = (text || "").split(".");
  const found = readNumbers(rest.join("."), kind === "lane" ? 1 : 3);
  if (!found || !view.grids.length) return null;
  const shown = view.grids.map((grid) => grid.fragment);
  if (kind === "lane") return found[0] < shown[0].laneCount ? { kind, lane: found[0], fragment: shown[0] } : null;
  const fragment = shown.find((one) => one.operand === kind);
  const [matrix, row, column] = found;
  if (!fragment || matrix >= fragment.matrices || row >= fragment.rows || column >= fragment.columns) return null;
  return { kind: "element", fragment, element: holderOf(fragment, matrix, row, column) };
}

// --- drawing ---

function draw(view, parts, app, choose) {
  const { facts } = app;
  const operands = facts.operandsOf(view.form);
  const shown = view.operand === "all" ? [...CORNER] : [view.operand];
  const fragments = shown.map((operand) => facts.fragmentOf(view.form, operand));
  drawHead(view, parts, app, fragments[0]);
  const options = operands.map((operand) => [operand, operand === "r" ? "r" : operand.toUpperCase(), ROLES[operand]]);
  if (hasCorner(view.form, operands, facts)) options.push(["all", "A·B", "A left, B above, D in the corner"]);
  fill(
    parts.operands,
    options.length > 1
      ? field(
          "Operand",
          choices("Operand", options, view.operand, (operand) => choose({ operand })),
        )
      : null,
  );
  fill(
    parts.by,
    field(
      "Colour by",
      choices("Colour by", BY, view.by, (by) => choose({ by, pin: view.pin })),
    ),
  );
  fill(parts.memory, fragments[0].inTensorMemory ? memoryMap(fragments[0], (from) => choose({ from })) : null);
  drawGrids(view, parts, fragments, choose);
  drawLanes(view, parts, fragments[0]);
  fill(
    parts.notes,
    h("h3", {}, "How to read it"),
    facts.notesOf(view.form, shown[0]).map((line) => h("p", {}, line)),
    h(
      "p",
      {},
      fragments[0].inTensorMemory
        ? "L5 C1 reads: lane 5 of tensor memory, column 1 from where the address points; C1.2 is its third part, from bit 0 up."
        : "T5 V1:R0 reads: lane 5 holds this element, as its value 1, in its register 0.",
    ),
    fragments.length === 1 && !fragments[0].inTensorMemory ? formulas(fragments[0]) : null,
  );
  drawCode(view, parts, app, choose);
  light(view, parts, view.pin);
}

function drawHead(view, parts, app, fragment) {
  const needs = needsOf(app.facts.isa, view.form);
  fill(
    parts.head,
    h(
      "h2",
      { class: "spelling" },
      view.form.split(".").flatMap((word, place) => (place ? [h("wbr"), `.${word}`] : [word])),
    ),
    h(
      "p",
      { class: "facts" },
      h(
        "span",
        { class: fragment.onSilicon ? "badge is-sure" : "badge" },
        fragment.onSilicon ? "Run on an H200" : "Not run on silicon by us",
      ),
      fragment.onSilicon ? null : h("span", {}, fragment.evidence),
      needs ? h("span", {}, needs) : null,
      copyButton(() => view.form, "Copy spelling"),
    ),
  );
}

// The tables anew where the window has room for wider cells or more columns, or for fewer.
function refit(view, parts, app, choose) {
  if (!view.grids.length || !parts.stage.clientWidth) return;
  const fragments = (view.operand === "all" ? [...CORNER] : [view.operand]).map((operand) =>
    app.facts.fragmentOf(view.form, operand),
  );
  const fit = fitOf(fragments, parts.stage.clientWidth);
  if (fit.cell === view.fit.cell && fit.columns === view.fit.columns) return;
  drawGrids(view, parts, fragments, choose);
  light(view, parts, view.pin);
}

function drawGrids(view, parts, fragments, choose) {
  view.grids = [];
  const width = parts.stage.clientWidth || Math.min(innerWidth - 24, 900); // before it is shown for the first time
  view.fit = fitOf(fragments, width);
  parts.stage.style.setProperty("--cell", `${view.fit.cell}px`);
  const isCorner = fragments.length > 1;
  const blocks = fragments.flatMap((fragment) =>
    Array.from({ length: fragment.matrices }, (_, matrix) => {
      const role = fragment.operand === "r" ? "" : `${ROLES[fragment.operand]}`;
      const name = [role, fragment.matrices > 1 || !role ? matrixTitle(fragment, matrix) : ""]
        .filter(Boolean)
        .join(", ");
      const grid = { ...matrixGrid(fragment, matrix, view.by, view.from, name, view.fit), fragment, matrix };
      view.grids.push(grid);
      return h(
        "figure",
        { class: `block in-${fragment.operand}` },
        h("figcaption", {}, h("b", {}, name), ` ${axesOf(fragment)}`),
        grid.table,
      );
    }),
  );
  fill(
    parts.stage,
    h("div", { class: isCorner ? "corner-stage" : blocks.length > 1 ? "blocks is-several" : "blocks" }, blocks),
  );
  drawPager(view, parts, fragments[0], width, choose);
}

function axesOf(fragment) {
  const [down, across] = axisNames(fragment).map((name) => (name.length > 1 ? `${name}s` : name));
  return `${fragment.rows} × ${fragment.columns}, ${down} × ${across}`;
}

// Which part of a large operand is shown, and the way to the rest.
function drawPager(view, parts, fragment, width, choose) {
  const shown = windowOf(fragment, view.from, view.fit.columns);
  if (shown.rows === fragment.rows && shown.columns === fragment.columns) {
    view.overview = null;
    fill(parts.pager);
    return;
  }
  const slider = (axis, size, count) => {
    if (count === size) return null;
    const control = h("input", {
      type: "range",
      min: 0,
      max: size - count,
      step: 8,
      value: shown[axis],
      "aria-label": `first ${axis} shown`,
      input: () => {
        choose({ from: { ...view.from, [axis]: Number(control.value) } });
        parts.pager.querySelector(`[aria-label="first ${axis} shown"]`)?.focus();
      },
    });
    return h("label", {}, h("span", {}, `${axis}s ${shown[axis]} to ${shown[axis] + count - 1} of ${size}`), control);
  };
  view.overview = fragment.matrices > 1 ? null : overviewOf(view, parts, fragment, width, choose);
  fill(
    parts.pager,
    view.overview?.canvas,
    slider("row", fragment.rows, shown.rows),
    slider("column", fragment.columns, shown.columns),
  );
}

// The picture of the whole; the one that is there, where it shows the same.
function overviewOf(view, parts, fragment, width, choose) {
  const key = [view.form, view.operand, view.by, width].join(" ");
  if (view.overview?.key === key) return view.overview;
  return { key, ...makeOverview(fragment, view.by, width, (to) => moveFrame(view, parts, fragment, to, choose)) };
}

// Put the middle of the frame where the mouse is, in steps of eight.
function moveFrame(view, parts, fragment, to, choose) {
  const shown = windowOf(fragment, view.from, view.fit.columns);
  const middle = (axis, size, count) => Math.max(0, Math.min(size - count, 8 * Math.round((to[axis] - count / 2) / 8)));
  const from = {
    row: middle("row", fragment.rows, shown.rows),
    column: middle("column", fragment.columns, shown.columns),
  };
  if (from.row !== shown.row || from.column !== shown.column) choose({ from });
}

function drawLanes(view, parts, fragment) {
  const buttons = Array.from({ length: fragment.laneCount }, (_, lane) =>
    h(
      "button",
      {
        type: "button",
        class: `lane ${fillOf({ lane }, "lane", fragment)}`,
        tabindex: lane ? -1 : 0,
        "data-lane": lane,
        "aria-label": laneName(fragment, lane),
        "aria-pressed": "false",
      },
      String(fragment.inTensorMemory ? lane % TENSOR_LANES : lane),
    ),
  );
  view.lanes = buttons;
  fill(
    parts.lanes,
    h(
      "h2",
      {},
      fragment.inTensorMemory ? "Lanes of tensor memory" : fragment.laneCount > 32 ? "Lanes of the warpgroup" : "Lanes",
    ),
    h("div", { class: "lanes", role: "group", "aria-label": "Lanes" }, buttons),
  );
}

function formulas(fragment) {
  const most = Math.min(fragment.registers, 8);
  const rows = Array.from({ length: most }, (_, register) =>
    h("li", {}, h("b", {}, `R${register}`), ` ${registerLine(fragment, register)}`),
  );
  const rest = fragment.registers - most;
  return h(
    "details",
    {},
    h("summary", {}, "As formulas"),
    h("ul", { class: "formulas" }, rows, rest ? h("li", {}, `and ${rest} registers more, in the same way`) : null),
  );
}

async function drawCode(view, parts, app, choose) {
  const options = Object.entries(LANGUAGES);
  const output = h("pre", { tabindex: 0, "aria-label": `${LANGUAGES[view.language]} code` });
  fill(
    parts.code,
    h(
      "div",
      { class: "code-head" },
      h("h3", {}, "Write it"),
      choices("Language", options, view.language, (language) => choose({ language, pin: view.pin })),
      copyButton(() => output.textContent),
    ),
    output,
  );
  const code = await app.code();
  const answers = code.of[view.form];
  const text = answers ? code.texts[answers[code.languages.indexOf(view.language)]] : "";
  output.classList.toggle("is-none", !text || text.startsWith("!"));
  output.textContent = text
    ? text.replace(/^!/, "")
    : "There is no wrapper of this instruction; its operands are above.";
}

// --- light ---

function wire(view, parts, app) {
  const pin = (focus) => {
    view.pin = focus && !samePin(view.pin, focus) ? focus : null;
    light(view, parts, view.pin);
    app.changed();
  };
  const over = (event) => {
    const focus = focusOf(view, event.target);
    if (focus && !samePin(focus, view.lit)) light(view, parts, focus);
  };
  for (const part of [parts.stage, parts.lanes, parts.inspector]) {
    part.addEventListener("pointerover", over);
    part.addEventListener("focusin", over);
    part.addEventListener("click", (event) => {
      const focus = focusOf(view, event.target);
      if (focus) pin(focus);
    });
  }
  parts.stage.closest(".view").addEventListener("keydown", (event) => {
    if (event.key === "Escape" && view.lit) pin(null);
  });
  parts.stage.addEventListener("keydown", (event) => {
    const grid = view.grids.find(({ table }) => table.contains(event.target));
    if (!grid || moveInGrid(grid, event)) return;
    const focus = focusOf(view, event.target);
    if (focus && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      pin(focus);
    }
  });
  parts.lanes.addEventListener("keydown", (event) => moveLanes(view, event));
}

function moveLanes(view, event) {
  const per = 8; // lanes beside each other
  const here = view.lanes.indexOf(document.activeElement);
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: per, ArrowUp: -per }[event.key];
  const next = view.lanes[here + (step || 0)];
  if (here < 0 || !step || !next) return;
  event.preventDefault();
  for (const lane of view.lanes) lane.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function samePin(one, other) {
  return pinText(one) === pinText(other);
}

// What an element of the page stands for.
function focusOf(view, target) {
  const part = target.closest("[data-at], [data-lane], [data-value]");
  if (!part) return null;
  const grid = view.grids.find(({ table }) => table.contains(part));
  if (part.dataset.at !== undefined && grid) {
    const { element, fragment } = grid.cells[Number(part.dataset.at)];
    return { kind: "element", fragment, element };
  }
  const fragment = grid ? grid.fragment : view.shown?.fragment || view.grids[0].fragment;
  if (part.dataset.lane !== undefined)
    return {
      kind: "lane",
      fragment,
      lane: Number(part.dataset.lane),
      row: grid ? addressedRow(fragment, Number(part.dataset.lane)) : null,
    };
  return { kind: "element", fragment, element: elementAt(fragment, view.shown.lane, Number(part.dataset.value)) };
}

// Light all that belongs to the focus, and say it.
function light(view, parts, focus) {
  view.lit = focus;
  const lane = focus ? (focus.lane ?? focus.element.lane) : -1;
  const address =
    focus?.element && focus.fragment.addressed ? focus.element.matrix * focus.fragment.rows + focus.element.row : -1;
  for (const grid of view.grids) lightGrid(grid, focus, lane, address);
  view.lanes.forEach((button, number) => {
    button.classList.toggle("is-it", number === lane);
    button.classList.toggle("is-address", number === address && number !== lane);
    button.setAttribute(
      "aria-pressed",
      String(Boolean(view.pin) && number === (view.pin.lane ?? view.pin.element.lane)),
    );
  });
  parts.stage.classList.toggle("has-light", Boolean(focus));
  view.overview?.draw(windowOf(view.grids[0].fragment, view.from, view.fit.columns), lane);
  inspect(view, parts, focus, lane, address);
}

function lightGrid(grid, focus, lane, address) {
  const it = focus?.element;
  for (const { cell, element, fragment } of grid.cells) {
    const isIt =
      Boolean(it) &&
      fragment === focus.fragment &&
      element.matrix === it.matrix &&
      element.row === it.row &&
      element.column === it.column;
    const isLane = element.lane === lane;
    cell.classList.toggle("is-it", isIt);
    cell.classList.toggle(
      "is-register",
      isLane && Boolean(it) && fragment === focus.fragment && element.register === it.register,
    );
    cell.classList.toggle("is-lane", isLane);
    cell.classList.toggle("is-feed", Boolean(it) && feeds(fragment, element, focus));
  }
  for (const head of grid.heads) {
    const named =
      focus?.kind === "lane" ? head.lane === lane : head.lane === address && grid.fragment === focus?.fragment;
    head.element.classList.toggle("is-address", head.lane >= 0 && named);
  }
}

// Whether an element of A or B goes into one of D, or comes from the same sums.
function feeds(fragment, element, { fragment: of, element: it }) {
  if (fragment.operand === of.operand) return false;
  const pair = of.operand + fragment.operand;
  if (pair === "da" || pair === "ad") return element.row === it.row;
  if (pair === "db" || pair === "bd") return element.column === it.column;
  if (pair === "ab") return element.row === it.column;
  return pair === "ba" && element.column === it.row;
}

// The panel beside: the element, its bits in the lane's registers, the lane that passes the address.
function inspect(view, parts, focus, lane, address) {
  parts.inspector.classList.toggle("is-idle", !focus);
  if (!focus) {
    fill(
      parts.inspector,
      h("h2", {}, "Point at an element"),
      h(
        "p",
        { class: "hint" },
        "Its lane, register and bits light up, and the lane whose address supplies its row. Point at a lane to see all that it holds. Click, or press Enter, to keep it in the link; arrows move, Escape clears.",
      ),
    );
    return;
  }
  const { fragment, element } = focus;
  view.shown = { fragment, lane };
  const sentence = element ? placeSentence(fragment, element) : laneSentence(fragment, lane);
  announce(sentence);
  fill(
    parts.inspector,
    h(
      "h2",
      { class: "holder" },
      element ? holderLabel(fragment, element) : laneName(fragment, lane).replace("lane", "Lane"),
    ),
    element ? elementFacts(fragment, element, address) : h("p", {}, `${laneSentence(fragment, lane)}.`),
    h("h3", {}, `${fragment.inTensorMemory ? "Columns" : "Registers"} of ${laneName(fragment, lane)}`),
    registerBars(fragment, lane, element, view.by),
  );
}

// A lane of a warp or of several, or of tensor memory, of a pair's CTA.
function laneName(fragment, lane) {
  if (!fragment.inTensorMemory) return `lane ${lane}`;
  return `lane ${lane % TENSOR_LANES}${fragment.laneCount > TENSOR_LANES ? ` of CTA ${Math.floor(lane / TENSOR_LANES)}` : ""}`;
}

function laneSentence(fragment, lane) {
  const row = addressedRow(fragment, lane);
  if (fragment.inTensorMemory && !heldBy(fragment, lane).length)
    return `${laneName(fragment, lane)} is left free; an address that names another lane moves all of it`;
  const holder = fragment.inTensorMemory ? "column" : "register";
  const holds = `holds ${fragment.valuesPerLane} element${fragment.valuesPerLane > 1 ? "s" : ""} in ${fragment.registers} ${holder}${fragment.registers > 1 ? "s" : ""}`;
  if (!fragment.addressed) return `${laneName(fragment, lane)} ${holds}`;
  return `lane ${lane} ${holds}; ${row ? `its address names row ${row.row} of ${matrixTitle(fragment, row.matrix)}` : "its address is ignored"}`;
}

function elementFacts(fragment, element, address) {
  const rows = [
    ["Element", `${axisNames(fragment)[0]} ${element.row}, ${axisNames(fragment)[1]} ${element.column}`],
    fragment.matrices > 1 ? ["Of", matrixTitle(fragment, element.matrix)] : null,
    ["Lane", laneName(fragment, element.lane).replace("lane ", "")],
    fragment.inTensorMemory ? null : ["Value", `V${element.value}`],
    fragment.inTensorMemory ? ["Column", `C${element.register}`] : ["Register", `R${element.register}`],
    ["Bits", bitsWords(element).replace(/^bits? /, "")],
    address >= 0 ? ["Address", `lane ${address} passes it`] : null,
  ];
  return h(
    "dl",
    { class: "table" },
    rows.filter(Boolean).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );
}

// A lane's registers as bars of bits, each element a part.
function registerBars(fragment, lane, it, by) {
  const held = heldBy(fragment, lane);
  const most = 16;
  const first = Math.max(0, Math.min((it?.register ?? 0) - 4, fragment.registers - most));
  const registers = Array.from({ length: Math.min(most, fragment.registers) }, (_, place) => first + place);
  const bars = registers.map((register) => {
    const parts = held.filter((element) => element.register === register).reverse();
    return h(
      "div",
      { class: "register" },
      h("span", { class: "register-name" }, `${fragment.inTensorMemory ? "C" : "R"}${register}`),
      h(
        "div",
        { class: "bits" },
        parts.map((element) =>
          h(
            "button",
            {
              type: "button",
              class: `bit ${fillOf(element, by, fragment)}${it && it.value === element.value ? " is-it" : ""}`,
              tabindex: -1,
              "data-value": element.value,
              "aria-label": `V${element.value}: ${placeSentence(fragment, element)}`,
            },
            parts.length > 8
              ? ""
              : `${fragment.matrices > 1 ? `${element.matrix}: ` : ""}${element.row},${element.column}`,
          ),
        ),
      ),
    );
  });
  const rest = fragment.registers - registers.length;
  return h(
    "div",
    { class: "registers" },
    h("div", { class: "register-scale" }, h("span", {}, String(fragment.registerBits - 1)), h("span", {}, "0")),
    bars,
    rest ? h("p", { class: "hint" }, `${rest} ${fragment.inTensorMemory ? "columns" : "registers"} more`) : null,
  );
}
