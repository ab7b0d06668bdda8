// Elements made of values. Text becomes text nodes and nothing else: there is no way from here to markup.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(
    ...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

let said = null;

// What a screen reader says next.
export function announce(text) {
  said ??= document.getElementById("said");
  if (said.textContent !== text) said.textContent = text;
}

// A row of buttons of which one is pressed; arrows move between them.
export function choices(label, options, chosen, choose) {
  const buttons = options.map(([value, text, title]) =>
    h(
      "button",
      {
        type: "button",
        class: "choice",
        role: "radio",
        "aria-checked": String(value === chosen),
        title,
        tabindex: value === chosen ? 0 : -1,
        click: () => choose(value),
      },
      text,
    ),
  );
  return h(
    "div",
    { class: "choices", role: "radiogroup", "aria-label": label, keydown: (event) => moveAmong(buttons, event) },
    buttons,
  );
}

// Arrow keys, Home and End among buttons.
export function moveAmong(buttons, event) {
  const here = buttons.indexOf(document.activeElement);
  const to = {
    ArrowRight: here + 1,
    ArrowDown: here + 1,
    ArrowLeft: here - 1,
    ArrowUp: here - 1,
    Home: 0,
    End: buttons.length - 1,
  }[event.key];
  if (here < 0 || to === undefined) return;
  event.preventDefault();
  const next = buttons[(to + buttons.length) % buttons.length];
  next.focus();
  next.click();
}

const NARROW = matchMedia("(max-width: 760px)");
const opened = new Set();

// What a wide window always shows, and a phone behind a button, so that its first screen has room for the result.
export function more(summary, ...children) {
  const details = h(
    "details",
    {
      class: "more",
      "data-name": summary,
      toggle: () => {
        if (!NARROW.matches) return;
        if (details.open) opened.add(summary);
        else opened.delete(summary);
      },
    },
    h("summary", {}, summary),
    h("div", { class: "more-body" }, children),
  );
  details.open = !NARROW.matches || opened.has(summary);
  return details;
}

// Open or close what `more` made, as the window's width wants it.
export function fitMore(within) {
  for (const details of within.querySelectorAll(".more"))
    details.open = !NARROW.matches || opened.has(details.dataset.name);
}

NARROW.addEventListener("change", () => fitMore(document));

// A labelled field.
export function field(label, control, hint) {
  return h(
    "label",
    { class: "field" },
    h("span", { class: "field-label" }, label),
    control,
    hint ? h("span", { class: "hint" }, hint) : null,
  );
}

export function select(options, chosen, choose, attributes = {}) {
  const control = h(
    "select",
    { ...attributes, change: () => choose(control.value) },
    options.map((option) => {
      const [value, text] = Array.isArray(option) ? option : [option, option];
      return h("option", { value, selected: String(value) === String(chosen) }, text);
    }),
  );
  return control;
}

export function number(value, change, attributes = {}) {
  const control = h("input", {
    type: "number",
    inputmode: "numeric",
    value,
    ...attributes,
    input: () => {
      if (control.value !== "" && control.checkValidity()) change(Number(control.value));
    },
  });
  return control;
}

// A button that copies what `text` gives when it is pressed.
export function copyButton(text, label = "Copy") {
  const button = h(
    "button",
    {
      type: "button",
      class: "quiet",
      click: async () => {
        const done = await copied(text());
        button.textContent = done ? "Copied" : "Press Ctrl+C";
        announce(done ? "copied" : "select and copy");
        setTimeout(() => {
          button.textContent = label;
        }, 1400);
      },
    },
    label,
  );
  return button;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "sr", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
