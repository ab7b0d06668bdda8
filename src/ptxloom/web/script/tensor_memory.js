// Tensor memory as everybody draws it: 128 lanes down, columns across, the warp beside the lanes that it reaches.
// See ptxloom.views.fragments.tensor_memory.

import { axisNames, heldBy, matrixTitle } from "./fragment.js";

export const TENSOR_LANES = 128;
const QUARTER = 32;
const QUARTER_DIGITS = 5;
const ROW = 1; // the axis

// The bands of a CTA's tensor memory, by lanes, then columns: { lanes, columns, held }.
export function bandsOf(fragment, cta, most) {
  const height = bandHeight(fragment);
  const width = Math.ceil(fragment.registers / most);
  const rows = [];
  for (let lane = 0; lane < TENSOR_LANES; lane += height) {
    const held = Array.from({ length: height }, (_, at) => heldBy(fragment, cta * TENSOR_LANES + lane + at)).flat();
    const row = [];
    for (let column = 0; column < fragment.registers; column += width) {
      const last = Math.min(column + width, fragment.registers) - 1;
      row.push({
        lanes: [lane, lane + height - 1],
        columns: [column, last],
        held: held.filter((one) => one.register >= column && one.register <= last),
      });
    }
    rows.push(row);
  }
  return rows;
}

// How many lanes are shown as one: those of one run of rows, a quarter at most.
function bandHeight(fragment) {
  let height = 1;
  for (const [axis, weight] of fragment.lanes.slice(0, QUARTER_DIGITS)) {
    if (axis !== ROW || weight !== height) break;
    height *= 2;
  }
  return height > 1 ? height : QUARTER;
}

// Numbers in any order as runs: "0–3, 8–11".
export function runsOf(numbers) {
  const found = [];
  for (const number of [...new Set(numbers)].sort((a, b) => a - b)) {
    if (found.length && number === found[found.length - 1][1] + 1) found[found.length - 1][1] = number;
    else found.push([number, number]);
  }
  return found.map(span).join(", ");
}

export function span([first, last]) {
  return first === last ? String(first) : `${first}–${last}`;
}

// Which rows and columns a band has, and of several matrices which.
export function textsOf(fragment, held) {
  const [down, across] = axisNames(fragment);
  const lines = [`${down} ${runsOf(held.map((one) => one.row))}`, `${across} ${runsOf(held.map((one) => one.column))}`];
  if (new Set(held.map((one) => one.lane)).size === 1) lines[0] = `lane ${held[0].lane % TENSOR_LANES}: ${lines[0]}`;
  if (fragment.matrices > 1)
    lines.push(
      matricesOf(
        fragment,
        [...new Set(held.map((one) => one.matrix))].sort((a, b) => a - b),
      ),
    );
  return lines;
}

function matricesOf(fragment, matrices) {
  const [noun] = matrixTitle(fragment, 0).replace("scale factor id", "id").split(" ");
  return `${noun} ${matrices.map((matrix) => matrixTitle(fragment, matrix).split(" ").pop()).join(", ")}`;
}
