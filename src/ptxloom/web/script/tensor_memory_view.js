// The picture of tensor memory: what each warp reaches, and what an operand has there.

import { h } from "./dom.js";
import { hueOf } from "./grid.js";
import { bandsOf, span, TENSOR_LANES, textsOf } from "./tensor_memory.js";

const [MOST_BANDS, FEW_BANDS] = [8, 4]; // of columns, and on a phone
const NARROW = 500;

// The picture of it, a table a CTA; `show` is called with the row and column that a band begins with.
export function memoryMap(fragment, show) {
  const ctas = fragment.laneCount / TENSOR_LANES;
  return h(
    "div",
    { class: "memory" },
    Array.from({ length: ctas }, (_, cta) => {
      const rows = bandsOf(fragment, cta, innerWidth < NARROW ? FEW_BANDS : MOST_BANDS);
      const perWarp = rows.length / 4;
      const head = h(
        "tr",
        {},
        h("th", { scope: "col" }, "warp"),
        h("th", { scope: "col" }, "lanes"),
        rows[0].map(({ columns }) => h("th", { scope: "col" }, `C${span(columns)}`)),
      );
      const body = rows.map((row, place) =>
        h(
          "tr",
          {},
          place % perWarp ? null : h("th", { scope: "row", rowspan: perWarp }, String(place / perWarp)),
          h("th", { scope: "row" }, span(row[0].lanes)),
          row.map((band) => cellOf(fragment, band, show)),
        ),
      );
      return h(
        "figure",
        { class: "block" },
        h(
          "figcaption",
          {},
          h("b", {}, ctas > 1 ? `Tensor memory of CTA ${cta}` : "Tensor memory"),
          " warp w of a CTA reaches lanes 32 (w mod 4) and 31 more; C is a column from the address on",
        ),
        h(
          "div",
          { class: "memory-scroll" },
          h("table", { class: "memory-table" }, h("thead", {}, head), h("tbody", {}, body)),
        ),
      );
    }),
  );
}

function cellOf(fragment, band, show) {
  if (!band.held.length) return h("td", { class: "is-free" }, "free");
  const lines = textsOf(fragment, band.held);
  const [first] = band.held;
  return h(
    "td",
    { class: `hue-${hueOf(first, "lane", fragment)}` },
    h(
      "button",
      { type: "button", click: () => show({ row: first.row, column: first.column }) },
      lines.map((line) => h("span", {}, line)),
    ),
  );
}
