// The page: unpacks what Python wrote, makes the tabs, and keeps the address in step with what is shown.

import { bankView } from "./bank_view.js";
import { checkView } from "./check_view.js";
import { descriptorView } from "./descriptor_view.js";
import { announce, copyButton, fill, fitMore, h, moveAmong } from "./dom.js";
import { makeFacts, unpacked } from "./facts.js";
import { fragmentView } from "./fragment_view.js";
import { tensorView } from "./tensor_view.js";

const VIEWS = [fragmentView, bankView, descriptorView, tensorView, checkView];
const THEMES = ["auto", "light", "dark"];
const LONGEST_LINK = 60000;

async function start() {
  const facts = makeFacts(await unpacked(document.getElementById("facts").textContent));
  const code = once(() => unpacked(document.getElementById("code").textContent));
  const app = {
    facts,
    code,
    changed: () => later(() => writeLink(app)),
    go: (id, params) => show(app, id, params),
    views: new Map(),
    at: "",
  };
  makeTools(app);
  makeTabs(app);
  restore(app);
  addEventListener("hashchange", () => {
    if (location.hash !== app.written) restore(app);
  });
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  });
  document.documentElement.dataset.ready = "yes";
  performance.mark("ready");
}

function once(make) {
  let made = null;
  return () => {
    made ??= make();
    return made;
  };
}

let waiting = 0;

function later(what) {
  clearTimeout(waiting);
  waiting = setTimeout(what, 120); // browsers count how often a page changes its address
}

// The view and its parameters from the address; what it does not understand it leaves out.
function restore(app) {
  app.written = location.hash;
  const text = location.hash.length <= LONGEST_LINK ? location.hash.slice(1) : "";
  const params = new URLSearchParams(text);
  const id = VIEWS.some((view) => view.id === params.get("view")) ? params.get("view") : VIEWS[0].id;
  show(app, id, params);
}

function show(app, id, params) {
  if (!app.views.has(id)) {
    const view = VIEWS.find((each) => each.id === id);
    const panel = h("section", {
      class: `view view-${id}`,
      role: "tabpanel",
      id: `panel-${id}`,
      "aria-labelledby": `tab-${id}`,
    });
    app.views.set(id, { panel, ...view.make(app, panel) });
  }
  const view = app.views.get(id);
  app.at = id;
  if (params || !view.isMade) view.restore(params || new URLSearchParams());
  view.isMade = true;
  fill(document.getElementById("main"), view.panel);
  fitMore(view.panel);
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const here = tab.id === `tab-${id}`;
    tab.setAttribute("aria-selected", String(here));
    tab.tabIndex = here ? 0 : -1;
    if (here) tab.setAttribute("aria-controls", `panel-${id}`);
    else tab.removeAttribute("aria-controls");
  }
  writeLink(app);
}

function writeLink(app) {
  if (location.hash !== app.written) return; // a link was followed, and is about to be shown
  const view = app.views.get(app.at);
  document.title = `${view.caption()}: ptxloom explorer`;
  const params = new URLSearchParams({ view: app.at });
  for (const [name, value] of Object.entries(view.params()))
    if (value !== "" && value !== null) params.set(name, value);
  try {
    history.replaceState(null, "", `#${params}`);
  } catch {
    location.hash = `#${params}`; // some browsers keep files from the other way
  }
  app.written = location.hash;
}

function makeTabs(app) {
  const tabs = VIEWS.map((view) =>
    h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${view.id}`,
        class: "tab",
        "aria-selected": "false",
        tabindex: -1,
        click: () => show(app, view.id),
      },
      view.title,
    ),
  );
  const list = document.getElementById("tabs");
  list.append(...tabs);
  list.addEventListener("keydown", (event) => moveAmong(tabs, event));
}

function makeTools(app) {
  const theme = h("button", {
    type: "button",
    class: "quiet",
    click: () => setTheme(theme, THEMES[(THEMES.indexOf(theme.dataset.theme) + 1) % THEMES.length]),
  });
  setTheme(theme, "auto");
  document.getElementById("tools").append(
    theme,
    copyButton(() => `${location.href.split("#")[0]}${app.written}`, "Copy link"),
  );
}

function setTheme(button, theme) {
  button.dataset.theme = theme;
  button.textContent = { auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark" }[theme];
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

start().catch((error) => {
  document.getElementById("waiting").textContent =
    `The explorer could not start: ${error.message}. It needs a browser of 2023 or later.`;
  announce("the explorer could not start");
});
