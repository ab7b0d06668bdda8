// An editor for PTX: a text area over the same text in colours, with line numbers and marks. The browser edits; this paints.

import { h } from "./dom.js";
import { wordsOf } from "./highlight.js";

const MOST_IN_COLOUR = 4000; // lines; a longer text has numbers and marks, and no colours

// `changed` is called with the text whenever it is edited.
export function makeEditor(label, opcodes, longest, changed) {
  const known = new Set(opcodes);
  const lines = h("pre", { class: "editor-lines", "aria-hidden": "true" });
  const area = h("textarea", {
    class: "paste",
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
    wrap: "soft",
    "aria-label": label,
    maxlength: longest,
    input: () => changed(area.value),
  });
  const element = h("div", { class: "editor" }, h("div", { class: "editor-body" }, lines, area));
  let painted = []; // the line elements with the keys that they were made from

  // Lines that are as they were stay; the others are made anew.
  function paint(marks) {
    const wanted = keysOf(area.value, marks);
    const isColoured = wanted.length <= MOST_IN_COLOUR;
    const same = (before, after) =>
      before !== undefined &&
      before.isColoured === isColoured &&
      before.text === after.text &&
      before.isComment === after.isComment &&
      before.marks === after.marks;
    const most = Math.min(painted.length, wanted.length);
    let head = 0;
    while (head < most && same(painted[head], wanted[head])) head += 1;
    let tail = 0;
    while (tail < most - head && same(painted.at(-1 - tail), wanted.at(-1 - tail))) tail += 1;
    const gone = painted.slice(head, painted.length - tail);
    const made = wanted
      .slice(head, wanted.length - tail)
      .map((key) => ({ ...key, isColoured, element: lineElement(key, isColoured ? known : null) }));
    const after = painted[painted.length - tail]?.element || null;
    for (const { element: old } of gone) old.remove();
    const fragment = document.createDocumentFragment();
    fragment.append(...made.map((one) => one.element));
    lines.insertBefore(fragment, after);
    painted = [...painted.slice(0, head), ...made, ...painted.slice(painted.length - tail)];
    element.style.setProperty("--digits", String(Math.max(2, String(painted.length).length)));
  }

  function keysOf(text, marks) {
    const byLine = marksByLine(text, marks);
    let isComment = false;
    return text.split("\n").map((line, place) => {
      const key = { text: line, isComment, marks: byLine.get(place) || "" };
      isComment = commentAfter(line, isComment);
      return key;
    });
  }

  return {
    element,
    area,
    paint,
    set(text) {
      area.value = text;
    },
    wrap(isWrapped) {
      element.classList.toggle("is-wrapped", isWrapped);
    },
    // Select a part of the text, and bring its line into view.
    select(start, end) {
      area.focus({ preventScroll: true });
      area.setSelectionRange(start, end);
      const line = area.value.slice(0, start).split("\n").length - 1;
      painted[line]?.element.scrollIntoView({ block: "center", inline: "nearest" });
    },
  };
}

// Whether a comment is open after a line; cheap where a line has none.
function commentAfter(line, isComment) {
  return isComment || line.includes("/*") ? wordsOf(line, isComment, new Set()).isComment : false;
}

// What is marked in each line, as "from-to from-to", so that two lines are compared by one comparison.
function marksByLine(text, marks) {
  const found = new Map();
  if (!marks.length) return found;
  let line = 0;
  let start = 0;
  for (const { start: from, end: to } of [...marks].sort((a, b) => a.start - b.start)) {
    for (let next = text.indexOf("\n", start); next >= 0 && next < from; next = text.indexOf("\n", start)) {
      line += 1;
      start = next + 1;
    }
    const end = text.indexOf("\n", start);
    const last = Math.min(to, end < 0 ? text.length : end);
    found.set(line, `${found.get(line) || ""}${from - start}-${Math.max(last, from + 1) - start} `);
  }
  return found;
}

function lineElement({ text, isComment, marks }, known) {
  const spans = marks
    .split(" ")
    .filter(Boolean)
    .map((one) => one.split("-").map(Number));
  const words = known ? wordsOf(text, isComment, known).words : [];
  const cuts = [...new Set([0, text.length, ...words.flatMap(([from, to]) => [from, to]), ...spans.flat()])]
    .filter((cut) => cut <= text.length)
    .sort((a, b) => a - b);
  const kindAt = (at) => words.find(([from, to]) => from <= at && at < to)?.[2];
  const parts = cuts.slice(0, -1).map((from, place) => {
    const kind = kindAt(from);
    const isMarked = spans.some(([start, end]) => start <= from && from < end);
    const part = text.slice(from, cuts[place + 1]);
    return kind || isMarked
      ? h("span", { class: `${kind ? `ptx-${kind}` : ""}${isMarked ? " is-marked" : ""}`.trim() }, part)
      : part;
  });
  return h("div", { class: marks ? "code-line has-mark" : "code-line" }, parts.length ? parts : "\u200b");
}
