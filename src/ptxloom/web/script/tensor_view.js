// A tensor map as moving parts: the tensor, the box that a copy takes of it, and the shared memory that it fills.

import {
  boxRemarks,
  countsOf,
  elementBytes,
  filledOf,
  mapWords,
  packedStrides,
  pitchBytes,
  refusal,
  rowOf,
  sharedBytesOf,
  transactionBytes,
} from "./tensor_map.js";
import { asTable, memoryPicture, remarkList, verdict } from "./memory.js";
import { commas, hex } from "./descriptor.js";
import { copyButton, field, fill, h, more, number, s, select } from "./dom.js";
import { readList, readNumber, readWord } from "./params.js";

const MOST_ROWS = 48;
const ROOM = [
  // for the tensor, by the width of the window, and around it, for a box that reaches beyond it
  { upTo: 760, width: 300, height: 180, margin: 24 },
  { upTo: 2199, width: 480, height: 220, margin: 110 },
  { upTo: Infinity, width: 640, height: 320, margin: 110 },
];

export const tensorView = { id: "tensor", title: "Tensor maps", make: makeView };

function makeView(app, panel) {
  const { facts } = app;
  const words = facts.mapWords;
  const view = {
    dataType: "FLOAT16",
    dims: "128, 64",
    strides: "",
    box: "64, 8",
    steps: "",
    interleave: "none",
    swizzle: "128B",
    promotion: "none",
    fill: "none",
    address: 4096,
    coordinate: "0, 0",
    shared: 1024,
  };
  const rail = h("div", { class: "rail" });
  const main = h("div", { class: "main" });
  const side = h("aside", { class: "side", "aria-label": "Remarks" });
  fill(panel, rail, main, side);
  const set = (change, keep) => {
    Object.assign(view, change);
    if (!keep) fill(rail, fields(facts, view, set));
    draw(facts, view, main, side, set);
    app.changed();
  };
  return {
    restore(params) {
      const list = (name) =>
        readList(params.get(name))
          ? params.get(name).replace(/[^\d,\- ]/g, "")
          : params.has("dims") && ["strides", "steps"].includes(name)
            ? ""
            : view[name];
      set({
        dataType: readWord(params, "dataType", Object.keys(facts.dataTypes), view.dataType),
        dims: list("dims"),
        strides: list("strides"),
        box: list("box"),
        steps: list("steps"),
        coordinate: list("coordinate"),
        interleave: readWord(params, "interleave", Object.keys(words.interleaves), view.interleave),
        swizzle: readWord(params, "swizzle", words.swizzles, view.swizzle),
        promotion: readWord(params, "promotion", words.promotions, view.promotion),
        fill: readWord(params, "fill", words.fills, view.fill),
        address: readNumber(params, "address", view.address),
        shared: readNumber(params, "shared", view.shared, 0, 2 ** 18),
      });
    },
    caption: () => `Tensor map of ${view.dims}`,
    params: () => ({ ...view }),
  };
}

function fields(facts, view, set) {
  const words = facts.mapWords;
  const list = (label, name, hint) => {
    const input = h("input", {
      type: "text",
      value: view[name],
      spellcheck: "false",
      input: () => {
        const isGood = !input.value.trim() || readList(input.value);
        input.setCustomValidity(isGood ? "" : "numbers with commas between them");
        if (isGood) set({ [name]: input.value }, true);
      },
    });
    return field(label, input, hint);
  };
  const one = (label, name, options) =>
    field(
      label,
      select(options, view[name], (value) => set({ [name]: value }, true)),
    );
  return [
    h("h2", {}, "Tensor"),
    list("Extents, the contiguous one first", "dims"),
    more(
      "Type, strides, box and copy",
      one("Type", "dataType", Object.keys(facts.dataTypes)),
      list("Strides in bytes", "strides", "of all but the first; empty: packed"),
      field(
        "Global address",
        number(view.address, (address) => set({ address }, true), { min: 0, step: 16 }),
      ),
      h("h2", {}, "Box"),
      list("Extents", "box"),
      list("Element strides", "steps", "empty: ones"),
      h(
        "div",
        { class: "pair" },
        one("Swizzle", "swizzle", words.swizzles),
        one("Interleave", "interleave", Object.keys(words.interleaves)),
      ),
      h("div", { class: "pair" }, one("Outside", "fill", words.fills), one("L2", "promotion", words.promotions)),
      h("h2", {}, "Copy"),
      list("Coordinate of the first element", "coordinate"),
      field(
        "Shared address",
        number(view.shared, (shared) => set({ shared }, true), { min: 0, step: 128 }),
      ),
    ),
  ];
}

function mapOf(facts, view) {
  const dims = readList(view.dims) || [];
  const made = {
    dataType: view.dataType,
    globalAddress: view.address,
    globalDim: dims,
    globalStrides: [],
    boxDim: readList(view.box) || [],
    elementStrides: readList(view.steps) || dims.map(() => 1),
    interleave: view.interleave,
    swizzle: view.swizzle,
    l2Promotion: view.promotion,
    oobFill: view.fill,
  };
  made.globalStrides = readList(view.strides) || (dims.length ? packedStrides(facts, made) : []);
  return made;
}

function draw(facts, view, main, side, set) {
  const map = mapOf(facts, view);
  const given = readList(view.coordinate) || [];
  const coordinate = map.globalDim.map((_, place) => given[place] ?? 0);
  const head = h(
    "div",
    { class: "title" },
    h("h2", { class: "spelling" }, `${[...map.globalDim].reverse().join(" × ")} ${map.dataType}`),
    h(
      "p",
      { class: "facts" },
      `cuTensorMapEncodeTiled, box ${[...map.boxDim].reverse().join(" × ")}, swizzle ${map.swizzle}`,
    ),
  );
  const refused = refusal(facts, map);
  if (refused) {
    fill(main, head, verdict(false, "The driver would refuse it", refused));
    fill(side, h("h2", {}, "Remarks"), h("p", { class: "hint" }, "A map that there is not has none."));
    return;
  }
  const box = { map, coordinate, sharedAddress: view.shared };
  const rows = countsOf(map)
    .slice(1)
    .reduce((size, count) => size * count, 1);
  const chunks = Array.from({ length: Math.min(rows, MOST_ROWS) }, (_, row) => rowOf(facts, box, row));
  const filled = filledOf(box);
  fill(
    main,
    head,
    h(
      "p",
      { class: "facts" },
      h("span", {}, `${commas(transactionBytes(facts, map))} bytes for the mbarrier`),
      h(
        "span",
        {},
        `${commas(sharedBytesOf(facts, map))} bytes of shared memory, rows ${pitchBytes(facts, map)} apart`,
      ),
      filled ? h("span", {}, `${commas(filled)} elements filled in from outside`) : null,
    ),
    plane(view, map, coordinate, facts, set),
    sharedPicture(chunks, rows),
    wordsOfMap(facts, map),
    asTable(
      "Where each row goes, as a table",
      ["row of the box", "pieces of 16 bytes: shared address, from coordinate"],
      chunks.map((row, place) => [
        place,
        row
          .map(
            (chunk) =>
              `${hex(chunk.sharedAddress, 5)} (${chunk.coordinate.join(", ")})${chunk.inside < chunk.elements ? " filled" : ""}`,
          )
          .join("; "),
      ]),
    ),
  );
  fill(
    side,
    h("h2", {}, "Remarks"),
    remarkList(boxRemarks(facts, box)),
    h("p", { class: "hint" }, "Tiled maps as an H200 makes and copies them. For im2col: ptxloom tensormap."),
  );
}

// The plane of the two first dimensions with the box on it: drag it, or move it by arrows.
function plane(view, map, coordinate, facts, set) {
  const [width, height] = [map.globalDim[0], map.globalDim[1] ?? 1];
  const [across, down] = [map.boxDim[0], map.boxDim[1] ?? 1];
  const room = ROOM.find(({ upTo }) => innerWidth <= upTo);
  const scale = Math.min(room.width / Math.max(width, across), room.height / Math.max(height, down));
  const margin = Math.min(room.margin, 16 + (Math.max(across, down) * scale) / 2);
  const step = Math.max(1, 16 / elementBytes(facts, map));
  const [x, y] = [margin + coordinate[0] * scale, margin + (coordinate[1] ?? 0) * scale];
  const move = (dx, dy) => {
    const next = coordinate.map((at, place) => (place === 0 ? at + dx * step : place === 1 ? at + dy : at));
    set({ coordinate: next.join(", ") });
    document.querySelector(".box-part")?.focus();
  };
  const rect = s("rect", {
    x,
    y,
    width: across * scale,
    height: Math.max(2, down * scale),
    class: "box-part",
    rx: 2,
    tabindex: 0,
    role: "slider",
    "aria-label": "the box: arrows move it",
    "aria-valuenow": coordinate[0],
    "aria-valuetext": `at ${coordinate.join(", ")}`,
    keydown: (event) => {
      const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (by) {
        event.preventDefault();
        move(...by);
      }
    },
    pointerdown: (event) => dragged(event, rect, scale, step, coordinate, set),
  });
  const [w, hgt] = [width * scale + 2 * margin, Math.max(2, height * scale) + 2 * margin];
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("b", {}, "Tensor"),
      ` dimensions 0 (across, ${width}) and 1 (down, ${height})${map.globalDim.length > 2 ? `, at ${coordinate.slice(2).join(", ")} of the others` : ""}; drag the box, or move it by arrows`,
    ),
    h(
      "div",
      { class: "picture" },
      s(
        "svg",
        { viewBox: `0 0 ${w} ${hgt}`, width: w, class: "plane" },
        s("rect", {
          x: margin,
          y: margin,
          width: width * scale,
          height: Math.max(2, height * scale),
          class: "tensor-part",
        }),
        rect,
      ),
    ),
  );
}

function dragged(event, rect, scale, step, coordinate, set) {
  event.preventDefault();
  const from = [event.clientX, event.clientY];
  let last = "";
  const at = ({ clientX, clientY }) => {
    const by = [Math.round((clientX - from[0]) / scale / step) * step, Math.round((clientY - from[1]) / scale)];
    const next = coordinate.map((start, place) => start + (by[place] ?? 0)).join(", ");
    if (next !== last) {
      last = next;
      set({ coordinate: next });
    }
  };
  const end = () => {
    removeEventListener("pointermove", at);
    removeEventListener("pointerup", end);
  };
  addEventListener("pointermove", at);
  addEventListener("pointerup", end);
}

function sharedPicture(chunks, rows) {
  const lines = new Map();
  chunks.forEach((row, number_) =>
    row.forEach((chunk) => {
      const line = Math.floor(chunk.sharedAddress / 128);
      if (!lines.has(line)) lines.set(line, []);
      const state = chunk.inside === chunk.elements ? "is-on" : chunk.inside ? "is-part" : "is-outside";
      lines.get(line).push({
        at: Math.floor((chunk.sharedAddress % 128) / 16),
        hue: chunk.inside ? number_ % 8 : null,
        text: chunk.inside ? chunk.coordinate.join(",") : "filled",
        state,
        tip: `${hex(chunk.sharedAddress, 5)}: from (${chunk.coordinate.join(", ")}), ${chunk.inside} of ${chunk.elements} elements inside the tensor`,
      });
    }),
  );
  const sorted = [...lines].sort((a, b) => a[0] - b[0]).map(([line, cells]) => [hex(line * 128, 5), cells]);
  const heads = Array.from({ length: 8 }, (_, chunk) => [chunk, `+${16 * chunk}`]);
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("b", {}, "Shared memory"),
      " what the copy puts where: pieces of 16 bytes by the coordinate of their first element; a colour a row of the box",
    ),
    memoryPicture(sorted, { unit: 16, heads, title: `what ${chunks.length} rows of the box fill of shared memory` }),
    rows > chunks.length ? h("p", { class: "hint" }, `and ${rows - chunks.length} rows more`) : null,
  );
}

function wordsOfMap(facts, map) {
  const words = mapWords(facts, map).map((word) => word.toString(16).padStart(8, "0"));
  const text = Array.from({ length: 8 }, (_, line) => words.slice(4 * line, 4 * line + 4).join(" ")).join("\n");
  return h(
    "div",
    { class: "code" },
    h(
      "div",
      { class: "code-head" },
      h("h3", {}, "The 128 bytes, as 32-bit words"),
      copyButton(() => text),
    ),
    h("pre", {}, text),
  );
}
