// Paste PTX and see what the ISA data says of it, with carets.

import { checkText } from "./check.js";
import { announce, choices, copyButton, field, fill, h, more, select } from "./dom.js";
import { makeEditor } from "./editor.js";
import { readWord } from "./params.js";

const LONGEST = 2_000_000;
const LONGEST_IN_LINK = 4000;
const AT_ONCE = 20_000;
const MOST_SHOWN = 200;
const EXAMPLE = `.version 8.6
.target sm_90
.address_size 64

.visible .entry kernel()
{
    .reg .b32 %r<9>;
    .shared .align 128 .b8 tile[1024];

    ldmatrix.sync.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%r4];
    ldmatrix.sync.aligned.m8n8.x4.transposed.shared.b16 {%r0, %r1, %r2, %r3}, [%r4];
    ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [%r4];
    stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r4], {%r0, %r1, %r2};
    mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%r0,%r1,%r2,%r3};
    ldmatix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r4];
    ret;
}
`;

export const checkView = { id: "check", title: "Check PTX", make: makeView };

function makeView(app, panel) {
  const { facts } = app;
  const view = { text: EXAMPLE, target: "", version: "", wrap: "on" };
  const editor = makeEditor("PTX to check", facts.isa.opcodes, LONGEST, (text) => {
    view.text = text;
    soon();
    app.changed();
  });
  const take = (text) => {
    view.text = text.slice(0, LONGEST);
    editor.set(view.text);
    draw();
    app.changed();
  };
  const results = h("div", { class: "results", role: "region", "aria-label": "Findings" });
  const rail = h("div", { class: "rail" });
  const bar = h("div", { class: "editor-bar" });
  fill(panel, rail, h("div", { class: "main" }, bar, editor.element), h("div", { class: "findings-pane" }, results));
  takeDropped(editor.element, take);
  const drawBar = () => {
    const wrap = (value) => {
      view.wrap = value;
      editor.wrap(value === "on");
      drawBar();
    };
    fill(
      bar,
      opener(take),
      h("button", { type: "button", class: "quiet", click: () => take(EXAMPLE) }, "Example"),
      h(
        "button",
        {
          type: "button",
          class: "quiet",
          click: () => {
            take("");
            editor.area.focus();
          },
        },
        "Clear",
      ),
      h(
        "span",
        { class: "editor-wrap" },
        h("span", { class: "hint" }, "Long lines"),
        choices(
          "Long lines",
          [
            ["on", "wrap"],
            ["off", "scroll"],
          ],
          view.wrap,
          wrap,
        ),
      ),
    );
  };
  const drawRail = () => {
    const change = (name) => (value) => {
      view[name] = value;
      draw();
      app.changed();
    };
    fill(
      rail,
      more(
        "Target and version",
        h("h2", {}, "Judge it for"),
        field(
          "Target",
          select([["", "as the text says"], ...[...facts.isa.targets].reverse()], view.target, change("target")),
        ),
        field(
          "PTX version",
          select([["", "as the text says"], ...[...facts.isa.versions].reverse()], view.version, change("version")),
        ),
        limits(),
      ),
    );
  };
  const draw = () => drawFindings(facts, view, results, editor);
  let waiting = 0;
  const soon = () => {
    // a long text is judged when the typing rests
    clearTimeout(waiting);
    if (view.text.length < AT_ONCE) {
      draw();
      return;
    }
    editor.paint([]);
    waiting = setTimeout(draw, 250);
  };
  return {
    restore(params) {
      view.target = readWord(params, "target", facts.isa.targets, "");
      view.version = readWord(params, "ptx", facts.isa.versions, "");
      if (params.has("text")) view.text = params.get("text").slice(0, LONGEST);
      editor.set(view.text);
      editor.wrap(view.wrap === "on");
      drawBar();
      drawRail();
      draw();
    },
    caption: () => "Check PTX",
    params: () => ({
      target: view.target,
      ptx: view.version,
      text: view.text !== EXAMPLE && view.text.length <= LONGEST_IN_LINK ? view.text : "",
    }),
  };
}

// A button that reads a file of the user's own; it goes nowhere.
function opener(take) {
  const input = h("input", {
    type: "file",
    hidden: true,
    accept: ".ptx,.txt,text/plain",
    change: async () => {
      const [file] = input.files;
      if (file) take(await file.slice(0, LONGEST).text());
      input.value = "";
    },
  });
  return h(
    "span",
    {},
    h("button", { type: "button", class: "quiet", click: () => input.click() }, "Open a file"),
    input,
  );
}

function takeDropped(element, take) {
  element.addEventListener("dragover", (event) => {
    if ([...event.dataTransfer.types].includes("Files")) event.preventDefault();
  });
  element.addEventListener("drop", async (event) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    take(await file.slice(0, LONGEST).text());
  });
}

function limits() {
  return [
    h("h2", {}, "What is checked here"),
    h(
      "p",
      { class: "hint" },
      "Opcodes, qualifiers, the number of operands, the registers of matrix fragments, PTX version and target: what follows from the ISA data, in the words of ptxloom check.",
    ),
    h("h2", {}, "What is not"),
    h(
      "p",
      { class: "hint" },
      "Names, types, addresses, directives, control flow, and statements that are said below not to be read here. No finding here is no verdict: run",
    ),
    h(
      "div",
      { class: "line" },
      h("code", {}, "ptxloom check kernel.ptx"),
      copyButton(() => "ptxloom check kernel.ptx"),
    ),
  ];
}

function drawFindings(facts, view, results, editor) {
  const { findings, checked, platform } = checkText(facts.isa, view.text, view);
  const errors = findings.filter((each) => each.severity === "error").length;
  const unread = findings.length - errors;
  const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  const summary = `${errors ? counted(errors, "error") : "No error found here"} in ${counted(checked, "instruction")}${unread ? `; ${counted(unread, "statement")} not read` : ""}`;
  announce(summary);
  editor.paint(findings.filter((each) => each.severity === "error"));
  const shown = [platform.version && `PTX ${platform.version}`, platform.target].filter(Boolean).join(", ");
  const starts = lineStarts(view.text);
  const rest = findings.length - MOST_SHOWN;
  fill(
    results,
    h(
      "div",
      { class: "summary" },
      h("h2", { class: errors ? "is-bad" : "" }, summary),
      h("span", { class: "hint" }, shown ? `for ${shown}` : "version and target are not said: not checked here"),
    ),
    h(
      "ol",
      { class: "findings" },
      findings.slice(0, MOST_SHOWN).map((finding) => findingItem(view.text, starts, finding, editor)),
    ),
    rest > 0 ? h("p", { class: "hint" }, `and ${rest} more`) : null,
  );
}

function lineStarts(text) {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function lineOf(starts, offset) {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= offset) low = middle;
    else high = middle;
  }
  return low;
}

// Text that steers nothing: controls and direction overrides as pictures of themselves.
function harmless(text) {
  return text
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\u2426")
    .replace(/\t/g, "    ");
}

function findingItem(text, starts, finding, editor) {
  const line = lineOf(starts, finding.start);
  const end = starts[line + 1] === undefined ? text.length : starts[line + 1] - 1;
  const from = Math.max(starts[line], finding.start - 60);
  const shown = text.slice(from, Math.min(end, from + 140));
  const lead = harmless(text.slice(from, finding.start)).length;
  const carets = Math.max(1, harmless(text.slice(finding.start, Math.min(finding.end, from + 140))).length);
  const gutter = String(line + 1);
  const pad = " ".repeat(gutter.length);
  const code = h(
    "pre",
    { tabindex: 0, "aria-label": `line ${gutter}` },
    `${gutter} | ${harmless(shown)}\n${pad} | ${" ".repeat(lead)}`,
    h("b", {}, "^".repeat(carets)),
    finding.label ? ` ${harmless(finding.label)}` : "",
  );
  const go = h(
    "button",
    { type: "button", class: "where", click: () => editor.select(finding.start, finding.end) },
    `line ${gutter}`,
  );
  return h(
    "li",
    { class: finding.severity === "error" ? "is-error" : "is-unread" },
    h(
      "p",
      { class: "message" },
      go,
      ...quoted(finding.message),
      finding.rule ? h("span", { class: "rule" }, finding.rule) : null,
    ),
    code,
    finding.help ? h("p", { class: "hint" }, ...quoted(finding.help)) : null,
    finding.section ? h("p", { class: "hint" }, `PTX ISA ${finding.section}`) : null,
  );
}

// `code` between backticks as code.
function quoted(message) {
  return message.split("`").map((part, place) => (place % 2 ? h("code", {}, harmless(part)) : harmless(part)));
}
