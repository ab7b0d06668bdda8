// A matrix as a table of cells, each its holder; a large one through a window of rows and columns.

import { addressLane, holderLabel, holderOf, matrixTitle } from "./fragment.js";
import { h } from "./dom.js";

const MOST_ROWS = 32;
const MOST_COLUMNS = 32;

export function hueOf(element, by, fragment) {
  if (by === "register") return element.register % 8;
  if (by === "matrix") return element.matrix % 8;
  return Math.floor(element.lane / (fragment.laneCount > 32 ? 16 : 4)) % 8;
}

// One element in a sentence.
export function placeSentence(fragment, element) {
  const bits = bitsWords(element);
  const of = fragment.matrices > 1 ? ` of ${matrixTitle(fragment, element.matrix)}` : "";
  const holder = `row ${element.row}, column ${element.column}${of}: lane ${element.lane}, register ${element.register}, ${bits}`;
  const lane = addressLane(fragment, element.matrix, element.row);
  return lane < 0 ? holder : `${holder}; lane ${lane} passes the row's address`;
}

export function bitsWords(element) {
  return element.width === 1 ? `bit ${element.bit}` : `bits ${element.bit + element.width - 1} to ${element.bit}`;
}

// The part of a matrix that is shown from a row and a column on.
export function windowOf(fragment, from) {
  const clamp = (value, size, most) => Math.max(0, Math.min(value, size - Math.min(size, most)));
  const [row, column] = [clamp(from.row, fragment.rows, MOST_ROWS), clamp(from.column, fragment.columns, MOST_COLUMNS)];
  return { row, column, rows: Math.min(MOST_ROWS, fragment.rows), columns: Math.min(MOST_COLUMNS, fragment.columns) };
}

// A table of one matrix. `cells` maps each cell's element; `heads` the row headers with the lane that passes an address.
export function matrixGrid(fragment, matrix, by, from, title) {
  const shown = windowOf(fragment, from);
  const cells = [];
  const heads = [];
  const numbers = Array.from({ length: shown.columns }, (_, place) => shown.column + place);
  const top = h("tr", {}, h("td", { class: "corner" }, fragment.addressed ? "address" : ""), numbers.map((column) => h("th", { scope: "col" }, String(column))));
  const rows = Array.from({ length: shown.rows }, (_, place) => {
    const row = shown.row + place;
    const head = rowHead(fragment, matrix, row);
    heads.push({ element: head, matrix, row, lane: addressLane(fragment, matrix, row) });
    return h("tr", {}, head, numbers.map((column) => {
      const element = holderOf(fragment, matrix, row, column);
      const cell = h("td", {
        class: `cell hue-${hueOf(element, by, fragment)}`, tabindex: -1, "data-at": cells.length,
        "aria-label": placeSentence(fragment, element),
      }, h("b", {}, `T${element.lane}`), h("i", {}, holderLabel(element).split(" ")[1]));
      cells.push({ cell, element, fragment });
      return cell;
    }));
  });
  const wide = shown.columns > 16 ? " is-dense" : "";
  const table = h("table", { class: `matrix${wide}`, role: "grid", "aria-label": `${title}, ${fragment.rows} rows by ${fragment.columns} columns` }, h("thead", {}, top), h("tbody", {}, rows));
  if (cells.length) cells[0].cell.tabIndex = 0;
  return { table, cells, heads, columns: shown.columns };
}

function rowHead(fragment, matrix, row) {
  const lane = addressLane(fragment, matrix, row);
  const label = lane < 0 ? null : `row ${row}: lane ${lane} passes its address`;
  return h("th", { scope: "row", "aria-label": label, "data-lane": lane < 0 ? null : lane },
    lane < 0 ? null : h("span", { class: `tag hue-${Math.floor(lane / 4) % 8}` }, `T${lane}`), h("span", { class: "index" }, String(row)));
}

// Arrow keys among the cells of one table.
export function moveInGrid(grid, event) {
  const here = grid.cells.findIndex(({ cell }) => cell === document.activeElement);
  if (here < 0) return false;
  const [row, column] = [Math.floor(here / grid.columns), here % grid.columns];
  const last = grid.cells.length / grid.columns - 1;
  const to = {
    ArrowRight: [row, Math.min(column + 1, grid.columns - 1)], ArrowLeft: [row, Math.max(column - 1, 0)],
    ArrowDown: [Math.min(row + 1, last), column], ArrowUp: [Math.max(row - 1, 0), column],
    Home: [row, 0], End: [row, grid.columns - 1], PageUp: [0, column], PageDown: [last, column],
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
