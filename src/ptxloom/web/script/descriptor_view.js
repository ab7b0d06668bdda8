// A matrix descriptor as moving parts: its 64 bits, its words, the address of each row, and what is odd about it.

import {
  addressOf,
  commas,
  coreMatrices,
  fromBits,
  generationOf,
  hex,
  isStored,
  makeMode,
  ofTile,
  remarksOf,
  toBits,
  wordsOf,
} from "./descriptor.js";
import { asTable, memoryPicture, remarkList, scroller, verdict } from "./memory.js";
import { choices, copyButton, field, fill, h, more, number, select } from "./dom.js";
import { readNumber, readWord } from "./params.js";

const MAJORS = [
  ["k", "K"],
  ["mn", "M or N"],
];
const MOST_LINES = 40;

export const descriptorView = { id: "descriptor", title: "Descriptors", make: makeView };

function makeView(app, panel) {
  const { facts } = app;
  const elements = Object.keys(facts.elements);
  const first = ofTile(facts, {
    rows: 64,
    columns: 64,
    element: "f16",
    major: "k",
    swizzle: "128B",
    start: 1024,
    generation: "wgmma",
  });
  const view = {
    bits: toBits(facts, first.descriptor),
    generation: "wgmma",
    element: "f16",
    major: "k",
    rows: 64,
    columns: 16,
    tileColumns: 64,
    problem: "",
  };
  const rail = h("div", { class: "rail" });
  const main = h("div", { class: "main" });
  const side = h("aside", { class: "side", "aria-label": "Remarks" });
  fill(panel, rail, main, side);
  const set = (change, keep) => {
    Object.assign(view, { problem: "" }, change);
    if (!keep)
      fill(
        rail,
        bitFields(facts, view, set),
        more(
          "Words, operand and tile",
          wordFields(facts, view, set),
          operandFields(facts, view, elements, set),
          tileFields(facts, view, set),
        ),
      );
    draw(facts, view, main, side, set);
    app.changed();
  };
  return {
    restore(params) {
      const text = params.get("bits") || "";
      const bits = /^0x[0-9a-fA-F]{1,16}$/.test(text) ? BigInt(text) : view.bits;
      const element = readWord(params, "element", elements, view.element);
      set({
        bits,
        generation: readWord(
          params,
          "generation",
          Object.keys(facts.generations),
          params.has("bits") ? generationOf(bits) : view.generation,
        ),
        element,
        major: readWord(params, "major", ["k", "mn"], view.major),
        rows: readNumber(params, "rows", view.rows, 1, 256),
        columns: readNumber(params, "columns", view.columns, 1, 1024 / facts.elements[element]),
      });
    },
    caption: () => `Descriptor ${hex(view.bits, 16)}`,
    params: () => ({
      bits: hex(view.bits, 16),
      generation: view.generation,
      element: view.element,
      major: view.major,
      rows: view.rows,
      columns: view.columns,
    }),
  };
}

// --- what can be changed ---

function bitFields(facts, view, set) {
  const input = h("input", {
    type: "text",
    value: hex(view.bits, 16),
    spellcheck: "false",
    pattern: "0x[0-9a-fA-F]{1,16}|[0-9]{1,20}",
    input: () => {
      const text = input.value.trim();
      if (!/^(0x[0-9a-fA-F]{1,16}|\d{1,20})$/.test(text)) return;
      const bits = BigInt(text);
      if (bits < 2n ** 64n) set({ bits, generation: generationOf(bits) }, true);
    },
  });
  const generations = Object.keys(facts.generations).map((name) => [name, name]);
  return [
    h("h2", {}, "Descriptor"),
    field("64 bits", input),
    field(
      "Read by",
      choices("Read by", generations, view.generation, (generation) => regenerate(facts, view, generation, set)),
    ),
  ];
}

// The same matrix for the other generation, where its swizzle exists there.
function regenerate(facts, view, generation, set) {
  const now = fromBits(facts, view.bits, view.generation);
  const isThere = !now.problem && Object.hasOwn(facts.generations[generation].codes, now.swizzle);
  set({
    generation,
    bits: isThere ? toBits(facts, { ...now, generation, stray: 0n, leadingIsAddress: false }) : view.bits,
  });
}

function wordFields(facts, view, set) {
  const now = fromBits(facts, view.bits, view.generation);
  if (now.problem) return null;
  const change = (part) => (value) => {
    if (part === "base" || isStored(value)) set({ bits: toBits(facts, { ...now, [part]: value }) }, true);
  };
  const offset = (label, part) => field(label, number(now[part], change(part), { min: 0, max: 262128, step: 16 }));
  return [
    h("div", { class: "pair" }, offset("Start", "start"), offset("Leading", "leading"), offset("Stride", "stride")),
    h(
      "div",
      { class: "pair" },
      field(
        "Swizzle",
        select(Object.keys(facts.generations[view.generation].codes), now.swizzle, (swizzle) =>
          set({ bits: toBits(facts, { ...now, swizzle }) }, true),
        ),
      ),
      field("Base offset", number(now.base, change("base"), { min: 0, max: 7 })),
    ),
    h("p", { class: "hint" }, "Addresses and offsets in bytes, multiples of 16."),
  ];
}

function operandFields(facts, view, elements, set) {
  const most = 1024 / facts.elements[view.element];
  return [
    h("h2", {}, "Operand"),
    h(
      "div",
      { class: "pair" },
      field(
        "M or N",
        number(view.rows, (rows) => set({ rows }, true), { min: 1, max: 256 }),
      ),
      field(
        "K",
        number(view.columns, (columns) => set({ columns }, true), { min: 1, max: most }),
      ),
      field(
        "Element",
        select(elements, view.element, (element) => set({ element, columns: 256 / facts.elements[element] })),
      ),
    ),
    field(
      "Contiguous along",
      choices("Contiguous along", MAJORS, view.major, (major) => set({ major })),
    ),
  ];
}

function tileFields(facts, view, set) {
  const make = (swizzle) => {
    const now = fromBits(facts, view.bits, view.generation);
    const start = now.problem ? 0 : now.start - (now.start % makeMode(facts, swizzle).alignmentBytes);
    const tile = {
      rows: Math.max(8, view.rows),
      columns: view.tileColumns,
      element: view.element,
      major: view.major,
      swizzle,
      start,
      generation: view.generation,
    };
    const made = ofTile(facts, tile);
    set(made.problem ? { problem: made.problem } : { bits: toBits(facts, made.descriptor), columns: made.columns });
  };
  const options = Object.keys(facts.generations[view.generation].codes).map((name) => [name, name]);
  return [
    h("h2", {}, "Make one for a tile"),
    field(
      "K of the whole tile",
      number(view.tileColumns, (tileColumns) => set({ tileColumns }, true), { min: 8, max: 1024, step: 8 }),
    ),
    h(
      "div",
      { class: "chips", role: "group", "aria-label": "Make a descriptor with a swizzle" },
      options.map(([name]) => h("button", { type: "button", class: "chip", click: () => make(name) }, name)),
    ),
  ];
}

// --- what comes of it ---

function draw(facts, view, main, side) {
  const descriptor = fromBits(facts, view.bits, view.generation);
  const head = h(
    "div",
    { class: "title" },
    h("h2", { class: "spelling" }, hex(view.bits, 16)),
    h(
      "p",
      { class: "facts" },
      h("span", {}, `PTX ISA ${facts.generations[view.generation].section}`),
      copyButton(() => hex(view.bits, 16)),
    ),
  );
  const strip = bitStrip(facts, view);
  const problem =
    view.problem ||
    descriptor.problem ||
    (descriptor.leadingIsAddress ? "the leading offset is an address (bit 52 is 1): it is not drawn" : "");
  if (problem) {
    fill(main, head, strip, verdict(false, "It cannot be drawn", problem));
    fill(side, h("h2", {}, "Remarks"), h("p", { class: "hint" }, "There is nothing to place."));
    return;
  }
  const operand = {
    descriptor,
    rows: view.rows,
    columns: Math.min(view.columns, 1024 / facts.elements[view.element]),
    element: view.element,
    major: view.major,
  };
  fill(main, head, strip, memoryOf(facts, operand), rowTable(facts, operand));
  fill(
    side,
    h("h2", {}, "Remarks"),
    remarkList(remarksOf(facts, operand)),
    h(
      "p",
      { class: "hint" },
      view.generation === "wgmma"
        ? "Confirmed on an H200: CuTe's canonical layouts, swizzled by the absolute address."
        : `Not run on silicon by us: the manual (${facts.generations.tcgen05.section}) and CUTLASS say so.`,
    ),
  );
}

// The 64 bits, coloured by the words that they belong to.
function bitStrip(facts, view) {
  const words = wordsOf(facts, view.bits, view.generation);
  const of = (bit) => words.findIndex((word) => bit >= word.first && bit < word.first + word.count);
  const cell = (bit) => {
    const word = of(bit);
    return h(
      "i",
      {
        class: `bit-cell ${word < 0 ? "is-none" : `hue-${word}`}`,
        title: word < 0 ? `bit ${bit}: no word` : `bit ${bit}: ${words[word].name}`,
      },
      String((view.bits >> BigInt(bit)) & 1n),
    );
  };
  const half = (from) =>
    h(
      "div",
      { class: "bit-row" },
      h("span", { class: "axis" }, String(from)),
      Array.from({ length: 32 }, (_, place) => cell(from - place)),
      h("span", { class: "axis" }, String(from - 31)),
    );
  const inBytes = ["start", "leading", "stride"];
  return scroller(
    "bit-strip",
    "the 64 bits and their words",
    h("div", { "aria-hidden": "true" }, half(63), half(31)),
    h(
      "table",
      { class: "plain-table words" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Bits", "Word", "Holds", "Means"].map((text) => h("th", { scope: "col" }, text)),
        ),
      ),
      h(
        "tbody",
        {},
        [...words]
          .reverse()
          .map((word) =>
            h(
              "tr",
              {},
              h("td", {}, word.count > 1 ? `${word.first + word.count - 1} to ${word.first}` : String(word.first)),
              h("td", {}, h("span", { class: `swatch hue-${words.indexOf(word)}` }), word.name),
              h("td", {}, hex(word.held, 1)),
              h(
                "td",
                {},
                inBytes.includes(word.field) ? `${commas(word.held * 16)} bytes` : wordMeaning(facts, view, word),
              ),
            ),
          ),
      ),
    ),
  );
}

function wordMeaning(facts, view, word) {
  if (word.field !== "swizzle") return String(word.held);
  const { codes } = facts.generations[view.generation];
  return Object.keys(codes).find((name) => codes[name] === word.held) || "none of the modes";
}

// Lines of 128 bytes with the pieces of 16 bytes that core matrices take.
function memoryOf(facts, operand) {
  const lines = new Map();
  coreMatrices(facts, operand).forEach((core, number_) =>
    core.addresses.forEach((address, place) => {
      const line = Math.floor(address / 128);
      if (!lines.has(line)) lines.set(line, new Map());
      const [row, k] = core.places[place];
      const at = Math.floor((address % 128) / 16);
      const taken = lines.get(line).get(at);
      lines.get(line).set(at, {
        at,
        hue: number_ % 8,
        text: taken ? "overlap" : `${row}, ${k}`,
        state: taken ? "is-clash" : "is-on",
        tip: `${hex(address, 5)}: row ${row}, k ${k} of the core matrix at (${core.row}, ${core.k})`,
      });
    }),
  );
  const sorted = [...lines].sort((a, b) => a[0] - b[0]);
  const rows = sorted.slice(0, MOST_LINES).map(([line, cells]) => [hex(line * 128, 5), [...cells.values()]]);
  const heads = Array.from({ length: 8 }, (_, chunk) => [chunk, `+${16 * chunk}`]);
  const rest = sorted.length - rows.length;
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("b", {}, "Shared memory"),
      ` lines of 128 bytes in pieces of 16: the ${operand.major === "k" ? "row and first k" : "first row and k"} of each; a colour a core matrix`,
    ),
    memoryPicture(rows, {
      unit: 16,
      heads,
      title: `where ${operand.rows} rows of ${operand.columns} ${operand.element} lie in shared memory`,
    }),
    rest > 0 ? h("p", { class: "hint" }, `and ${rest} lines more`) : null,
  );
}

function rowTable(facts, operand) {
  const per = 128 / facts.elements[operand.element];
  const columns = Array.from({ length: Math.ceil(operand.columns / per) }, (_, place) => place * per);
  const rows = Array.from({ length: operand.rows }, (_, row) => [
    row,
    ...columns.map((k) => hex(addressOf(facts, operand, row, k), 5)),
  ]);
  return asTable("Where each row lies, as a table", ["row", ...columns.map((k) => `k ${k}`)], rows);
}
