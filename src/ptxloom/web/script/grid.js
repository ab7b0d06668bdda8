// A matrix as a table of cells, each its holder; a large one through a window of rows and columns.

import { addressLane, axisNames, holderLabel, holderOf, matrixTitle } from "./fragment.js";
import { h } from "./dom.js";

const MOST_ROWS = 64;
const LEAST = { cell: 46, several: 42, small: 36, corner: 28, tiny: 18 }; // the narrowest cells, in pixels
const WIDEST = 64;
const NARROW = 500; // a phone
const GAP = 2; // between cells
const BESIDE = 20; // between matrices
const HEADS = { addressed: 84, several: 60, plain: 40 }; // the numbers of the rows, with and without the lanes that pass addresses

export function hueOf(element, by, fragment) {
  if (by === "register") return element.register % 8;
  if (by === "matrix") return element.matrix % 8;
  return Math.floor(element.lane / (fragment.laneCount > 32 ? 16 : 4)) % 8;
}

// One element in a sentence.
export function placeSentence(fragment, element) {
  const bits = bitsWords(element);
  if (fragment.inTensorMemory) return tensorSentence(fragment, element, bits);
  const of = fragment.matrices > 1 ? ` of ${matrixTitle(fragment, element.matrix)}` : "";
  const holder = `row ${element.row}, column ${element.column}${of}: lane ${element.lane}, register ${element.register}, ${bits}`;
  const lane = addressLane(fragment, element.matrix, element.row);
  return lane < 0 ? holder : `${holder}; lane ${lane} passes the row's address`;
}

function tensorSentence(fragment, element, bits) {
  const [down, across] = axisNames(fragment);
  const [cta, lane] = [Math.floor(element.lane / 128), element.lane % 128];
  const of = fragment.matrices > 1 ? ` of ${matrixTitle(fragment, element.matrix)}` : "";
  const owner = fragment.laneCount > 128 ? ` of CTA ${cta}` : "";
  return `${down} ${element.row}, ${across} ${element.column}${of}: lane ${lane}, column ${element.register}${owner}, ${bits}; warp ${Math.floor(lane / 32)} reaches it`;
}

export function bitsWords(element) {
  return element.width === 1 ? `bit ${element.bit}` : `bits ${element.bit + element.width - 1} to ${element.bit}`;
}

// How wide the cells are in so much room, and how many columns fit: of a large matrix multiples of eight.
export function fitOf(fragments, width) {
  const [fragment] = fragments;
  if (fragments.length > 1) return cornerFit(fragments, width);
  const { matrices, columns } = fragment;
  const head = fragment.addressed ? HEADS[matrices > 1 ? "several" : "addressed"] : HEADS.plain;
  const least = width < NARROW ? LEAST.small : LEAST[matrices > 1 ? "several" : "cell"];
  for (let beside = matrices; beside > 0; beside = Math.floor(beside / 2)) {
    const cell = Math.floor((width - (beside - 1) * BESIDE - beside * head) / (beside * columns)) - GAP;
    if (cell >= least || (beside === 1 && columns <= 8))
      return { cell: Math.min(WIDEST, Math.max(cell, LEAST.corner)), columns };
  }
  const most = Math.max(8, 8 * Math.floor((width - head) / (least + GAP) / 8));
  const shown = Math.min(columns, most);
  return { cell: Math.min(WIDEST, Math.floor((width - head) / shown) - GAP), columns: shown };
}

// A beside D, B above it: as wide as both of them have room.
function cornerFit(fragments, width) {
  const widest = Math.max(...fragments.map((one) => one.columns));
  if (width < NARROW)
    return {
      cell: Math.max(LEAST.tiny, Math.min(LEAST.cell, Math.floor((width - HEADS.plain) / widest) - GAP)),
      columns: widest,
    }; // one under the other
  const columns =
    fragments.find((one) => one.operand === "a").columns + fragments.find((one) => one.operand === "d").columns;
  const cell = Math.floor((width - 2 * HEADS.plain - BESIDE) / columns) - GAP;
  return { cell: Math.max(LEAST.corner, Math.min(44, cell)), columns: widest };
}

// The part of a matrix that is shown from a row and a column on, where `most` columns fit.
export function windowOf(fragment, from, most) {
  const clamp = (value, size, count) => Math.max(0, Math.min(value, size - Math.min(size, count)));
  const [row, column] = [clamp(from.row, fragment.rows, MOST_ROWS), clamp(from.column, fragment.columns, most)];
  return { row, column, rows: Math.min(MOST_ROWS, fragment.rows), columns: Math.min(most, fragment.columns) };
}

// The class of what shows an element: its hue, and of every second lane the tint.
export function fillOf(element, by, fragment) {
  return `hue-${hueOf(element, by, fragment)}${by === "lane" && element.lane % 2 ? " is-second" : ""}`;
}

// A table of one matrix. `cells` maps each cell's element; `heads` the row headers with the lane that passes an address.
export function matrixGrid(fragment, matrix, by, from, title, fit) {
  const shown = windowOf(fragment, from, fit.columns);
  const cells = [];
  const heads = [];
  const numbers = Array.from({ length: shown.columns }, (_, place) => shown.column + place);
  const top = h(
    "tr",
    {},
    h("td", { class: "corner" }, fragment.addressed ? "address" : ""),
    numbers.map((column) => h("th", { scope: "col" }, String(column))),
  );
  const rows = Array.from({ length: shown.rows }, (_, place) => {
    const row = shown.row + place;
    const head = rowHead(fragment, matrix, row);
    heads.push({ element: head, matrix, row, lane: addressLane(fragment, matrix, row) });
    return h(
      "tr",
      {},
      head,
      numbers.map((column) => {
        const element = holderOf(fragment, matrix, row, column);
        const cell = h(
          "td",
          {
            class: `cell ${fillOf(element, by, fragment)}`,
            tabindex: -1,
            "data-at": cells.length,
            "aria-label": placeSentence(fragment, element),
          },
          h(
            "b",
            {},
            `${fragment.inTensorMemory ? "L" : "T"}${fragment.inTensorMemory ? element.lane % 128 : element.lane}`,
          ),
          h("i", {}, holderLabel(fragment, element).split(" ").pop()),
        );
        cells.push({ cell, element, fragment });
        return cell;
      }),
    );
  });
  const table = h(
    "table",
    {
      class: `matrix${fit.cell < 50 ? " is-dense" : ""}`,
      role: "grid",
      "aria-label": `${title}, ${fragment.rows} rows by ${fragment.columns} columns`,
    },
    h("thead", {}, top),
    h("tbody", {}, rows),
  );
  if (cells.length) cells[0].cell.tabIndex = 0;
  return { table, cells, heads, columns: shown.columns };
}

function rowHead(fragment, matrix, row) {
  const lane = addressLane(fragment, matrix, row);
  const label = lane < 0 ? null : `row ${row}: lane ${lane} passes its address`;
  return h(
    "th",
    { scope: "row", "aria-label": label, "data-lane": lane < 0 ? null : lane },
    lane < 0 ? null : h("span", { class: `tag ${fillOf({ lane }, "lane", fragment)}` }, `T${lane}`),
    h("span", { class: "index" }, String(row)),
  );
}

// Arrow keys among the cells of one table.
export function moveInGrid(grid, event) {
  const here = grid.cells.findIndex(({ cell }) => cell === document.activeElement);
  if (here < 0) return false;
  const [row, column] = [Math.floor(here / grid.columns), here % grid.columns];
  const last = grid.cells.length / grid.columns - 1;
  const to = {
    ArrowRight: [row, Math.min(column + 1, grid.columns - 1)],
    ArrowLeft: [row, Math.max(column - 1, 0)],
    ArrowDown: [Math.min(row + 1, last), column],
    ArrowUp: [Math.max(row - 1, 0), column],
    Home: [row, 0],
    End: [row, grid.columns - 1],
    PageUp: [0, column],
    PageDown: [last, column],
  }[event.key];
  if (!to) return false;
  event.preventDefault();
  focusCell(grid, to[0] * grid.columns + to[1]);
  return true;
}

export function focusCell(grid, place) {
  for (const { cell } of grid.cells) cell.tabIndex = -1;
  grid.cells[place].cell.tabIndex = 0;
  grid.cells[place].cell.focus();
}
