// A fragment: where every element of a matrix operand lives. The digits come from Python; see ptxloom.fragments.model.

const AXES = ["matrix", "row", "column", "copy", "address"];
const TENSOR_LANES = 128;
const NAMES = {
  a: ["m", "k"],
  b: ["k", "n"],
  c: ["m", "n"],
  d: ["m", "n"],
  e: ["row", "group"],
  sfa: ["m", "block"],
  sfb: ["n", "block"],
};

export function makeFragment(row, spelling, operand, evidence) {
  const [lanes, values, width, stride, shift, registerBits, addressed, confirmed, inTensorMemory] = row;
  const extent = (axis) =>
    [...lanes, ...values].reduce((size, digit) => (AXES[digit[0]] === axis ? size * digit[2] : size), 1);
  const valuesPerLane = values.reduce((size, digit) => size * digit[2], 1);
  return {
    spelling,
    operand,
    lanes,
    values,
    width,
    stride,
    shift,
    registerBits,
    addressed: Boolean(addressed),
    inTensorMemory: Boolean(inTensorMemory),
    evidence: evidence[confirmed],
    onSilicon: confirmed === 0,
    laneCount: 1 << lanes.length,
    valuesPerLane,
    registers: (valuesPerLane * stride) / registerBits,
    matrices: extent("matrix"),
    rows: extent("row"),
    columns: extent("column"),
    copies: extent("copy"),
  };
}

// The element that is a lane's value V, counted across its registers.
export function elementAt(fragment, lane, value) {
  const at = { matrix: 0, row: 0, column: 0, copy: 0, address: 0 };
  for (const [number, digits] of [
    [lane, fragment.lanes],
    [value, fragment.values],
  ]) {
    let rest = number;
    for (const [axis, weight, radix] of digits) {
      at[AXES[axis]] += weight * (rest % radix);
      rest = Math.floor(rest / radix);
    }
  }
  const bits = value * fragment.stride;
  const register = Math.floor(bits / fragment.registerBits);
  return {
    lane,
    value,
    register,
    bit: (bits % fragment.registerBits) + fragment.shift,
    width: fragment.width,
    matrix: at.matrix,
    row: at.row,
    column: at.column,
  };
}

// The element at a coordinate; of several copies the first.
export function holderOf(fragment, matrix, row, column) {
  const at = { matrix, row, column, copy: 0, address: 0 };
  const number = (digits) =>
    digits.reduce(
      (sum, [axis, weight, radix], place) => sum + (Math.floor(at[AXES[axis]] / weight) % radix) * 2 ** place,
      0,
    );
  return elementAt(fragment, number(fragment.lanes), number(fragment.values));
}

// The lane whose address names a row of ldmatrix or stmatrix; -1 where lanes name none.
export function addressLane(fragment, matrix, row) {
  return fragment.addressed ? matrix * fragment.rows + row : -1;
}

// The row whose address a lane names; null where its address is ignored.
export function addressedRow(fragment, lane) {
  if (!fragment.addressed || lane >= fragment.matrices * fragment.rows) return null;
  return { matrix: Math.floor(lane / fragment.rows), row: lane % fragment.rows };
}

// Whether a lane holds any of it: of tensor memory some do if the operand's address names another lane than 0.
export function reaches(fragment, lane) {
  return !fragment.lanes.some(([axis], place) => AXES[axis] === "address" && Math.floor(lane / 2 ** place) % 2);
}

export function heldBy(fragment, lane) {
  if (!reaches(fragment, lane)) return [];
  return Array.from({ length: fragment.valuesPerLane }, (_, value) => elementAt(fragment, lane, value));
}

// How CuTe users write a holder: thread, value, register; in tensor memory lane and column, and which part of it.
export function holderLabel(fragment, element) {
  if (fragment.inTensorMemory) {
    const part = fragment.stride < fragment.registerBits ? `.${(element.bit - fragment.shift) / fragment.stride}` : "";
    const cta = element.lane < TENSOR_LANES ? "" : "CTA1 ";
    return `${cta}L${element.lane % TENSOR_LANES} C${element.register}${part}`;
  }
  return `T${element.lane} V${element.value}:R${element.register}`;
}

// What a matrix is called.
export function matrixTitle(fragment, matrix) {
  if (fragment.operand === "e") return `selector ${matrix}`;
  if (fragment.operand.startsWith("sf"))
    return fragment.matrices > 1 ? `scale factor id ${matrix * fragment.columns}` : "scale factor id 0";
  if (fragment.inTensorMemory)
    return fragment.operand !== "r"
      ? fragment.operand.toUpperCase()
      : fragment.matrices > 1
        ? `CTA ${matrix}`
        : "part of tensor memory";
  if (fragment.spelling.startsWith("tcgen05"))
    return fragment.matrices > 1 ? `half ${matrix}` : "part of tensor memory";
  return `matrix ${matrix}`;
}

// What rows and columns are called.
export function axisNames(fragment) {
  return (
    NAMES[fragment.operand] ||
    (fragment.inTensorMemory
      ? ["row", fragment.stride === fragment.registerBits ? "word" : "element"]
      : ["row", "column"])
  );
}

// What one register of every lane T holds, as a sentence; see ptxloom.views.fragments.formulas.
export function registerLine(fragment, register) {
  const held = Math.max(1, Math.floor(fragment.registerBits / fragment.stride));
  const of = (axis) => coordinateFormula(fragment, axis, register, held);
  const matrix = fragment.matrices > 1 ? ` of ${matrixTitle(fragment, of("matrix"))}` : "";
  const several = held > 1 ? `; e is 0 to ${held - 1}, from the low bits up` : "";
  return `lane T holds row ${of("row")}, column ${of("column")}${matrix}${several}`;
}

function coordinateFormula(fragment, axis, register, held) {
  const inside = Math.floor(Math.log2(held));
  let rest = register;
  let constant = 0;
  for (const [of, weight, radix] of fragment.values.slice(inside)) {
    if (AXES[of] === axis) constant += weight * (rest % radix);
    rest = Math.floor(rest / radix);
  }
  const terms = [
    ...formulaTerms("T", fragment.lanes, axis),
    ...formulaTerms("e", fragment.values.slice(0, inside), axis),
  ];
  if (constant || !terms.length) terms.push(String(constant));
  return terms.join(" + ");
}

// The part of a coordinate that the digits of one number give: neighbours that stay neighbours together.
function formulaTerms(name, digits, axis) {
  const terms = [];
  const goesOn = (first, place) =>
    place < digits.length &&
    digits[place][0] === digits[first][0] &&
    digits[place][2] === digits[first][2] &&
    digits[place][1] === digits[first][1] * 2 ** (place - first);
  for (let place = 0; place < digits.length; place += 1) {
    const first = place;
    if (AXES[digits[first][0]] !== axis) continue;
    while (goesOn(first, place + 1)) place += 1;
    terms.push(formulaTerm(name, first, place + 1 - first, digits.length, digits[first][1]));
  }
  return terms;
}

function formulaTerm(name, first, count, whole, weight) {
  let text = first ? `${name}/${2 ** first}` : name;
  if (first + count < whole) text = `${text}%${2 ** count}`;
  if (weight === 1) return text;
  return text === name ? `${weight}*${name}` : `${weight}*(${text})`;
}
