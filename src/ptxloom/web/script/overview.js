// All of a large matrix at once, a few pixels an element: what the table shows of it is framed, and moves by the mouse.

import { heldBy, holderOf } from "./fragment.js";
import { h } from "./dom.js";
import { hueOf } from "./grid.js";

const HEIGHT = 3; // pixels a row
const WIDEST = 8; // and a column, at most

// `move` is called with the row and column that the middle of the frame shall come to.
export function makeOverview(fragment, by, width, move) {
  const scale = Math.max(1, Math.min(WIDEST, Math.floor(width / fragment.columns)));
  const [w, hgt] = [fragment.columns * scale, fragment.rows * HEIGHT];
  const canvas = h("canvas", {
    class: "overview",
    "--widest": `${WIDEST * fragment.columns}px`,
    width: w,
    height: hgt,
    role: "img",
    "aria-label": `all ${fragment.rows} rows and ${fragment.columns} columns by colour; the sliders choose the part below`,
  });
  const context = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const at = ({ offsetX, offsetY }) => ({
    row: Math.floor((offsetY / canvas.clientHeight) * fragment.rows),
    column: Math.floor((offsetX / canvas.clientWidth) * fragment.columns),
  });
  canvas.addEventListener("pointerdown", (event) => move(at(event)));
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) move(at(event));
  });
  const base = painted();

  function painted() {
    const whole = document.createElement("canvas");
    [whole.width, whole.height] = [w, hgt];
    const brush = whole.getContext("2d");
    for (let row = 0; row < fragment.rows; row += 1)
      for (let column = 0; column < fragment.columns; column += 1) {
        const element = holderOf(fragment, 0, row, column);
        brush.fillStyle = colour(
          `--${by === "lane" && element.lane % 2 ? "tint" : "hue"}-${hueOf(element, by, fragment)}`,
        );
        brush.fillRect(column * scale, row * HEIGHT, scale, HEIGHT);
      }
    return whole;
  }

  // The frame around `shown`, and a lane's elements in ink.
  function draw(shown, lane) {
    context.drawImage(base, 0, 0);
    context.fillStyle = colour("--on-fill");
    if (lane >= 0)
      for (const { matrix, row, column } of heldBy(fragment, lane))
        if (!matrix) context.fillRect(column * scale, row * HEIGHT, scale, HEIGHT);
    context.lineWidth = 2;
    context.strokeStyle = colour("--on-fill");
    context.strokeRect(
      shown.column * scale + 1,
      shown.row * HEIGHT + 1,
      shown.columns * scale - 2,
      shown.rows * HEIGHT - 2,
    );
  }

  return { canvas, draw };
}
