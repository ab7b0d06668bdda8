// A field to find one of many spellings: type words in any order, choose with the arrows.

import { h } from "./dom.js";

const MOST_SHOWN = 80;
let count = 0;

export function picker(label, spellings, choose) {
  count += 1;
  const id = `list-${count}`;
  let shown = [];
  let at = -1;
  const list = h("ul", { class: "list", role: "listbox", id, "aria-label": label, hidden: true });
  const input = h("input", {
    type: "text",
    class: "search",
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": id,
    "aria-autocomplete": "list",
    "aria-label": label,
    spellcheck: "false",
    autocomplete: "off",
    placeholder: "x4 trans, mma f16, wgmma n256",
    focus: () => {
      input.select();
      open("");
    },
    input: () => open(input.value),
    keydown: press,
    blur: () => setTimeout(close, 120),
  });

  function open(text) {
    const words = text
      .toLowerCase()
      .split(/[\s.]+/)
      .filter(Boolean);
    const found = spellings.filter((spelling) => words.every((word) => spelling.includes(word)));
    shown = found.slice(0, MOST_SHOWN);
    at = -1;
    const rest = found.length - shown.length;
    list.replaceChildren(
      ...shown.map((spelling, place) =>
        h(
          "li",
          {
            role: "option",
            id: `${id}-${place}`,
            "aria-selected": "false",
            mousedown: (event) => {
              event.preventDefault();
              take(place);
            },
          },
          spelling,
        ),
      ),
      ...(rest
        ? [h("li", { class: "more", role: "presentation" }, `and ${rest.toLocaleString("en")} more: type to narrow`)]
        : []),
    );
    if (!found.length)
      list.replaceChildren(h("li", { class: "more", role: "presentation" }, "no form has all of these words"));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
  }

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    input.value = current;
  }

  function mark(place) {
    list.children[at]?.setAttribute("aria-selected", "false");
    at = (place + shown.length) % shown.length;
    const option = list.children[at];
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", option.id);
  }

  function take(place) {
    current = shown[place];
    choose(current);
    close();
    input.blur();
  }

  function press(event) {
    if (event.key === "Escape") {
      close();
      return;
    }
    if (list.hidden && event.key.startsWith("Arrow")) open("");
    if (!shown.length || !["ArrowDown", "ArrowUp", "Enter"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "Enter") take(Math.max(at, 0));
    else mark(event.key === "ArrowDown" ? at + 1 : Math.max(at, 0) - 1);
  }

  let current = "";
  return {
    element: h("div", { class: "picker" }, input, list),
    set(spelling) {
      current = spelling;
      input.value = spelling;
      input.title = spelling;
    },
    search(text) {
      input.focus();
      input.value = text;
      open(text);
    },
  };
}
