// What an access to a tile costs: its phases and their banks, and the arrangements that leave no conflict.

import {
  arrangementInCode,
  costOf,
  costOfWarp,
  findSwizzles,
  kindsOfWarps,
  phasesOf,
  swizzleOfElements,
  swizzled,
  trafficOf,
  warpsOf,
} from "./banks.js";
import { asTable, memoryPicture, scroller, verdict } from "./memory.js";
import { choices, copyButton, field, fill, h, more, number, s, select } from "./dom.js";
import { commas } from "./descriptor.js";
import { readNumber, readWord } from "./params.js";

const FIRST = "ldmatrix.sync.aligned.m8n8.x4.b16";
const ALONG = [
  ["row", "along rows"],
  ["column", "down columns"],
];
const ELEMENTS = ["f16", "bf16", "f32", "tf32", "f64", "e4m3", "s8"];
const ALSO = [
  ["", "nothing else"],
  ["st.shared.v4.b32", "cp.async (16 bytes a thread)"],
  ["ldmatrix.sync.aligned.m8n8.x4.trans.b16", "ldmatrix.x4.trans"],
  ["st.shared.b32", "st.shared.b32"],
];
const MOST_LINES = 32;
const START = {
  access: FIRST,
  along: "row",
  rows: 64,
  columns: 64,
  element: "f16",
  pitch: 128,
  padding: 0,
  swizzle: null,
  warp: 0,
  phase: 0,
  also: "",
};

export const bankView = { id: "banks", title: "Banks", make: makeView };

function makeView(app, panel) {
  const { facts } = app;
  const view = { ...START };
  const rail = h("div", { class: "rail" });
  const main = h("div", { class: "main" });
  const side = h("aside", { class: "side", "aria-label": "Arrangements without conflicts" });
  fill(panel, rail, main, side);
  const set = (change, keep) => {
    Object.assign(view, change);
    if (!keep) drawRail();
    draw(facts, view, main, side, set);
    app.changed();
  };
  const drawRail = () =>
    fill(
      rail,
      h("h2", {}, "Access"),
      accessFields(facts, view, set),
      more(
        "Tile and arrangement",
        alsoField(view, set),
        h("h2", {}, "Tile"),
        tileFields(facts, view, set),
        h("h2", {}, "Arrangement"),
        arrangementFields(facts, view, set),
      ),
    );
  return {
    restore(params) {
      const known = readWord(params, "access", [...facts.accesses.keys()], view.access);
      const element = readWord(params, "element", ELEMENTS, view.element);
      const swizzle = (params.get("swizzle") || "").split(".").map(Number);
      const isSwizzle =
        params.has("swizzle") &&
        swizzle.length === 3 &&
        swizzle.every((each) => Number.isInteger(each) && each >= 0 && each < 16) &&
        swizzle[2] >= swizzle[0];
      set({
        access: known,
        element,
        along: readWord(params, "along", ["row", "column"], view.along),
        rows: readNumber(params, "rows", view.rows, 8, 256),
        columns: readNumber(params, "columns", view.columns, 1, 512),
        pitch: readNumber(params, "pitch", view.pitch, 16, 4096),
        padding: readNumber(params, "padding", params.has("access") ? 0 : view.padding, 0, 128),
        swizzle: isSwizzle
          ? { bits: swizzle[0], base: swizzle[1], shift: swizzle[2] }
          : params.has("access")
            ? null
            : view.swizzle,
        warp: readNumber(params, "warp", view.warp, 0, 9999),
        phase: readNumber(params, "phase", view.phase, 0, 31),
        also: readWord(
          params,
          "also",
          ALSO.map(([value]) => value),
          view.also,
        ),
      });
    },
    caption: () => `Banks of ${view.access}`,
    params: () => ({
      access: view.access,
      along: view.along === "row" ? "" : view.along,
      rows: view.rows,
      columns: view.columns,
      element: view.element,
      pitch: view.pitch,
      padding: view.padding || "",
      swizzle: view.swizzle ? `${view.swizzle.bits}.${view.swizzle.base}.${view.swizzle.shift}` : "",
      warp: view.warp || "",
      phase: view.phase || "",
      also: view.also,
    }),
  };
}

// --- what can be changed ---

function accessFields(facts, view, set) {
  const plain = !facts.accesses.get(view.access).isMatrix;
  return [
    field(
      "Instruction",
      select(
        [...facts.accesses.keys()].map((each) => [each, each.replace(".sync.aligned", "")]),
        view.access,
        (access) => set({ access, warp: 0, phase: 0 }),
      ),
    ),
    plain
      ? field(
          "Neighbouring lanes",
          choices("Neighbouring lanes", ALONG, view.along, (along) => set({ along, warp: 0, phase: 0 })),
        )
      : null,
  ];
}

function alsoField(view, set) {
  return field(
    "The tile is also touched by",
    select(ALSO, view.also, (also) => set({ also })),
  );
}

function tileFields(facts, view, set) {
  const width = facts.elements[view.element];
  return [
    h(
      "div",
      { class: "pair" },
      field(
        "Rows",
        number(view.rows, (rows) => set({ rows, warp: 0 }, true), { min: 8, max: 256, step: 8 }),
      ),
      field(
        "Columns",
        number(
          view.columns,
          (columns) => set({ columns, warp: 0, pitch: Math.max(view.pitch, (columns * width) / 8) }, true),
          { min: 1, max: 512 },
        ),
      ),
      field(
        "Element",
        select(ELEMENTS, view.element, (element) =>
          set({ element, swizzle: null, pitch: Math.max(view.pitch, (view.columns * facts.elements[element]) / 8) }),
        ),
      ),
    ),
    field(
      "Pitch, bytes from row to row",
      number(view.pitch, (pitch) => set({ pitch, warp: 0 }, true), { min: 16, max: 4096, step: 16 }),
    ),
    slider("Pitch", view.pitch, 16, 512, 16, (pitch) => set({ pitch, warp: 0 })),
  ];
}

function slider(label, value, min, max, step, change) {
  const control = h("input", {
    type: "range",
    min,
    max,
    step,
    value,
    "aria-label": label,
    change: () => change(Number(control.value)),
  });
  return control;
}

function arrangementFields(facts, view, set) {
  const of = view.swizzle || { bits: 0, base: 3, shift: 3 };
  const change = (part) => (value) => {
    const swizzle = { ...of, [part]: value };
    swizzle.shift = Math.max(swizzle.shift, swizzle.bits);
    set({ swizzle: swizzle.bits ? swizzle : null, phase: 0 }, part !== "bits");
  };
  return [
    field(
      "Padding, bytes a row",
      number(view.padding, (padding) => set({ padding, warp: 0 }, true), { min: 0, max: 128, step: 16 }),
    ),
    h(
      "div",
      { class: "pair" },
      field("Swizzle B", number(of.bits, change("bits"), { min: 0, max: 5 })),
      field("M", number(of.base, change("base"), { min: 0, max: 10 })),
      field("S", number(of.shift, change("shift"), { min: 0, max: 10 })),
    ),
    h("p", { class: "hint" }, `On indices of ${view.element}, as CuTe counts: M low bits stay together.`),
  ];
}

// --- what comes of it ---

// The tile in the words of banks.js, and why it cannot be so.
function tileOf(facts, view) {
  const elementBits = facts.elements[view.element];
  const rowBytes = (view.columns * elementBits) / 8;
  const tile = { rows: view.rows, columns: view.columns, elementBits, pitchBytes: view.pitch };
  if (rowBytes % 16)
    return { problem: `${view.columns} of ${view.element} are ${rowBytes} bytes: rows are a multiple of 16 bytes` };
  if (view.pitch < rowBytes || view.pitch % 16)
    return { problem: `the pitch is a multiple of 16, at least the ${rowBytes} bytes of a row` };
  if (view.rows * (view.pitch + view.padding) > facts.sharedBytes)
    return { problem: `the tile is larger than shared memory, ${commas(facts.sharedBytes)} bytes` };
  return { tile };
}

function bytesSwizzle(view, elementBits) {
  return view.swizzle ? { ...view.swizzle, base: view.swizzle.base - 3 + Math.log2(elementBits) } : null;
}

function draw(facts, view, main, side, set) {
  const access = facts.accesses.get(view.access);
  const { tile, problem } = tileOf(facts, view);
  const traffic = tile ? trafficOf(tile, access, view.along) : {};
  const swizzle = tile ? bytesSwizzle(view, tile.elementBits) : null;
  const torn = swizzle && (swizzle.base < 0 || 2 ** swizzle.base < access.laneBytes);
  const why =
    problem ||
    traffic.problem ||
    (torn
      ? `this swizzle tears the ${access.laneBytes} bytes of a lane apart: M must be at least ${Math.log2((8 * access.laneBytes) / tile.elementBits)}`
      : "");
  if (why) {
    fill(main, heading(view), verdict(false, "It cannot lie so", why));
    fill(side);
    return;
  }
  const arrangement = { paddingBytes: view.padding, swizzle };
  const warps = warpsOf(tile, access, traffic.places, arrangement);
  view.warp = Math.min(view.warp, warps.length - 1);
  const phases = phasesOf(access, padded(warps[view.warp]));
  view.phase = Math.min(view.phase, phases.length - 1);
  const all = [{ access, kinds: kindsOfWarps(access, traffic.places) }];
  const cost = costOf(tile, all, arrangement);
  const here = costOfWarp(access, padded(warps[view.warp]));
  fill(
    main,
    heading(view),
    verdict(
      !cost.conflicts,
      cost.conflicts ? `${here.ways}-way bank conflict` : "No bank conflict",
      `${here.wavefronts} wavefronts where ${here.ideal} would do in this warp; ${commas(cost.wavefronts)} where ${commas(cost.ideal)} would do over the tile`,
    ),
    stepper(view, warps, phases, set),
    bankPicture(view, access, phases[view.phase], traffic.places),
    tilePicture(view, tile, access, arrangement, phases[view.phase], warps[view.warp]),
    phaseTable(phases),
    codeOf(tile, arrangement),
  );
  drawSide(facts, view, tile, access, traffic, all, side, set);
}

function padded(addresses) {
  return Array.from({ length: 32 }, (_, lane) => addresses[lane] ?? null);
}

function heading(view) {
  return h(
    "div",
    { class: "title" },
    h("h2", { class: "spelling" }, view.access),
    h(
      "p",
      { class: "facts" },
      `A tile of ${view.rows} × ${view.columns} ${view.element}, rows ${view.pitch + view.padding} bytes apart${view.swizzle ? `, behind Swizzle<${view.swizzle.bits},${view.swizzle.base},${view.swizzle.shift}>` : ""}`,
    ),
  );
}

function stepper(view, warps, phases, set) {
  const step = (name, by, most, label) =>
    h(
      "button",
      {
        type: "button",
        class: "quiet",
        disabled: view[name] + by < 0 || view[name] + by >= most,
        "aria-label": label,
        click: () => {
          set({ [name]: view[name] + by, ...(name === "warp" ? { phase: 0 } : {}) }, true);
          document.querySelector(`[aria-label="${label}"]`)?.focus();
        },
      },
      by < 0 ? "‹" : "›",
    );
  return h(
    "div",
    { class: "stepper" },
    h(
      "span",
      {},
      step("phase", -1, phases.length, "previous phase"),
      h("b", {}, `Phase ${view.phase + 1} of ${phases.length}`),
      step("phase", 1, phases.length, "next phase"),
    ),
    warps.length > 1
      ? h(
          "span",
          {},
          step("warp", -1, warps.length, "previous access"),
          h("b", {}, `Access ${view.warp + 1} of ${warps.length}`),
          step("warp", 1, warps.length, "next access"),
        )
      : null,
    h(
      "span",
      { class: "hint" },
      `${phases[view.phase].wavefronts} wavefront${phases[view.phase].wavefronts === 1 ? "" : "s"} in this phase`,
    ),
  );
}

function hueOfLane(access, lane) {
  return access.isMatrix || access.phaseLanes <= 8 ? lane % 8 : Math.floor(lane / 4) % 8;
}

// The 32 banks: over each the words that it must give, one a wavefront.
function bankPicture(view, access, phase) {
  const width = 24;
  const height = 20;
  const most = Math.max(1, phase.wavefronts);
  const parts = [];
  for (let bank = 0; bank < 32; bank += 1) {
    const words = phase.banks.get(bank) || [];
    parts.push(
      s(
        "text",
        { x: 64 + (bank + 0.5) * width, y: most * height + 15, class: `axis${words.length > 1 ? " is-hot" : ""}` },
        String(bank),
      ),
    );
    words.forEach(({ address, lanes }, place) => {
      const y = (most - 1 - place) * height;
      parts.push(
        s(
          "g",
          { class: `word is-on hue-${hueOfLane(access, lanes[0])}${place ? " is-extra" : ""}` },
          s("rect", { x: 64.5 + bank * width, y: y + 0.5, width: width - 1, height: height - 1, rx: 2 }),
          s("text", { x: 64 + (bank + 0.5) * width, y: y + 14 }, `T${lanes[0]}`),
          s("title", {}, `bank ${bank}, wavefront ${place + 1}: byte ${address}, lane ${lanes.join(", ")}`),
        ),
      );
    });
  }
  const title = `Phase ${view.phase + 1}: the busiest bank gives ${phase.wavefronts} words, so it takes ${phase.wavefronts} wavefronts`;
  return h(
    "figure",
    {},
    h("figcaption", {}, h("b", {}, "Banks"), " each column a bank, each box a word it must give, one a wavefront"),
    scroller(
      "picture",
      title,
      s(
        "svg",
        {
          viewBox: `0 0 ${64 + 32 * width + 1} ${most * height + 20}`,
          "--least": `${64 + 32 * width + 1}px`,
          role: "img",
          "aria-label": title,
        },
        parts,
      ),
    ),
  );
}

// The tile in shared memory, the words of the phase lit.
function tilePicture(view, tile, access, arrangement, phase, addresses) {
  const pitch = tile.pitchBytes + arrangement.paddingBytes;
  const rowBytes = (tile.columns * tile.elementBits) / 8;
  const wanted = new Map();
  for (const words of phase.banks.values()) for (const { address, lanes } of words) wanted.set(address, lanes);
  const first = Math.floor(Math.min(...addresses) / 128);
  const lines = new Map();
  for (let row = 0; row < tile.rows; row += 1)
    for (let byte = 0; byte < rowBytes; byte += 4) {
      const plain = row * pitch + byte;
      const at = arrangement.swizzle ? swizzled(arrangement.swizzle, plain) : plain;
      const line = Math.floor(at / 128);
      if (line < first || line >= first + MOST_LINES) continue;
      if (!lines.has(line)) lines.set(line, []);
      const lanes = wanted.get(at);
      const column = (byte * 8) / tile.elementBits;
      lines.get(line).push({
        at: Math.floor((at % 128) / 4),
        hue: lanes ? hueOfLane(access, lanes[0]) : row % 8,
        state: lanes ? "is-on" : "is-off",
        text: lanes ? `T${lanes[0]}` : byte % 16 ? "" : String(row),
        tip: `row ${row}, column ${column}: byte ${at}, bank ${Math.floor(at / 4) % 32}${lanes ? `; lane ${lanes.join(", ")}` : ""}`,
      });
    }
  const rows = [...lines]
    .sort((a, b) => a[0] - b[0])
    .map(([line, cells]) => [`0x${(line * 128).toString(16).padStart(4, "0")}`, cells]);
  const heads = Array.from({ length: 32 }, (_, bank) => [bank, String(bank)]);
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("b", {}, "Shared memory"),
      " lines of 128 bytes, a column a bank; the words of this phase with their lanes, others with their row",
    ),
    memoryPicture(rows, { unit: 4, heads, title: `the tile in shared memory, ${rows.length} lines of 128 bytes` }),
  );
}

function phaseTable(phases) {
  const rows = phases.flatMap((phase, number_) =>
    [...phase.banks]
      .sort((a, b) => a[0] - b[0])
      .map(([bank, words]) => [
        number_ + 1,
        bank,
        words.length,
        words.map(({ address, lanes }) => `byte ${address}: lane ${lanes.join(" ")}`).join("; "),
      ]),
  );
  return asTable("Phases and banks as a table", ["phase", "bank", "wavefronts", "words and their lanes"], rows);
}

function codeOf(tile, arrangement) {
  const { cute, expression } = arrangementInCode(tile, arrangement);
  const line = (label, text) =>
    h(
      "div",
      { class: "line" },
      h("span", { class: "hint" }, label),
      h("code", {}, text),
      copyButton(() => text),
    );
  return h(
    "div",
    { class: "code" },
    h("h3", {}, "Write it"),
    line("CuTe C++", cute),
    line("C, the element's index", expression),
  );
}

// --- suggestions ---

const found = new Map();

function drawSide(facts, view, tile, access, traffic, all, side, set) {
  const also = view.also ? facts.accesses.get(view.also) : null;
  const alsoTraffic = also ? trafficOf(tile, also, "row") : null;
  const key = JSON.stringify([tile, view.access, view.along, view.also]);
  if (!found.has(key)) {
    if (found.size > 50) found.clear();
    const both = alsoTraffic?.places ? [...all, { access: also, kinds: kindsOfWarps(also, alsoTraffic.places) }] : all;
    found.set(key, findSwizzles(tile, both));
  }
  const { plain, choices: free, best } = found.get(key);
  const card = (one) => {
    const { swizzle, paddingBytes } = one.arrangement;
    const of = swizzle && swizzleOfElements(swizzle, tile.elementBits);
    const isHere = paddingBytes === view.padding && JSON.stringify(of) === JSON.stringify(view.swizzle);
    const name = of
      ? `Swizzle<${of.bits},${of.base},${of.shift}>`
      : paddingBytes
        ? `${paddingBytes} bytes of padding`
        : "As it is";
    return h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: "plain card",
          "aria-pressed": String(isHere),
          click: () => set({ swizzle: of, padding: paddingBytes, phase: 0 }),
        },
        h("b", {}, name),
        h(
          "span",
          { class: "hint" },
          one.conflicts ? `${commas(one.wavefronts)} wavefronts where ${commas(one.ideal)} would do` : "no conflict",
        ),
      ),
    );
  };
  fill(
    side,
    h("h2", {}, free.length ? "Leave no conflict" : "Nothing leaves no conflict"),
    h(
      "p",
      { class: "hint" },
      free.length
        ? "Every swizzle of the fewest bits, and the smallest padding, counted over all accesses to the tile. Press one and watch."
        : "This costs least.",
    ),
    h("ul", { class: "cards" }, (free.length ? free : [best]).slice(0, 12).map(card)),
    h("h3", {}, "As it came"),
    h("ul", { class: "cards" }, plain.conflicts || !free.length ? card(plain) : null),
    alsoTraffic?.problem ? h("p", { class: "hint" }, alsoTraffic.problem) : null,
  );
}
