// Shared memory as lines of 128 bytes, a column a bank or a piece of 16 bytes, what lies there in each.

import { h, s } from "./dom.js";

const LABEL = 64;

// `lines` are [address, cells]; a cell is { at, span, text, hue, tip, state }, in columns of `unit` bytes.
export function memoryPicture(lines, { unit, title, heads }) {
  const columns = 128 / unit;
  const width = unit === 4 ? 24 : 84;
  const height = unit === 4 ? 20 : 26;
  const top = 20;
  const whole = LABEL + columns * width + 1;
  const parts = heads.map(([column, text]) =>
    s("text", { x: LABEL + (column + 0.5) * width, y: 13, class: "axis" }, text),
  );
  lines.forEach(([address, cells], line) => {
    const y = top + line * height;
    parts.push(s("text", { x: LABEL - 8, y: y + height / 2 + 4, class: "axis is-end" }, address));
    for (const { at, span = 1, text, hue, tip, state = "" } of cells) {
      const x = LABEL + at * width;
      parts.push(
        s(
          "g",
          { class: `word ${hue === null ? "is-blank" : `hue-${hue % 8}`} ${state}` },
          s("rect", { x: x + 0.5, y: y + 0.5, width: span * width - 1, height: height - 1, rx: 2 }),
          text ? s("text", { x: x + (span * width) / 2, y: y + height / 2 + 4 }, text) : null,
          tip ? s("title", {}, tip) : null,
        ),
      );
    }
  });
  return scroller(
    "picture",
    title,
    s(
      "svg",
      {
        viewBox: `0 0 ${whole} ${top + lines.length * height + 1}`,
        "--least": `${whole}px`,
        role: "img",
        "aria-label": title,
      },
      parts,
    ),
  );
}

// What scrolls sideways on a narrow screen, by the keyboard too.
export function scroller(name, label, ...children) {
  return h("div", { class: name, tabindex: 0, role: "region", "aria-label": label }, children);
}

// A plain table that says the same, behind a button.
export function asTable(summary, heads, rows) {
  return h(
    "details",
    { class: "as-table" },
    h("summary", {}, summary),
    scroller(
      "scroll",
      summary,
      h(
        "table",
        { class: "plain-table" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            heads.map((text) => h("th", { scope: "col" }, text)),
          ),
        ),
        h(
          "tbody",
          {},
          rows.map((row) =>
            h(
              "tr",
              {},
              row.map((text) => h("td", {}, String(text))),
            ),
          ),
        ),
      ),
    ),
  );
}

export function verdict(isGood, text, detail) {
  return h(
    "p",
    { class: `verdict ${isGood ? "is-good" : "is-bad"}` },
    h("b", {}, text),
    detail ? h("span", {}, detail) : null,
  );
}

export function remarkList(remarks) {
  if (!remarks.length) return h("p", { class: "hint" }, "Nothing to remark upon.");
  return h(
    "ul",
    { class: "remarks" },
    remarks.map(({ wrong, text, advice }) =>
      h(
        "li",
        { class: wrong ? "is-wrong" : "" },
        h("b", {}, wrong ? "Wrong" : "Note"),
        h("span", {}, text),
        advice ? h("span", { class: "hint" }, advice) : null,
      ),
    ),
  );
}
