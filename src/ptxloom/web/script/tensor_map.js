// Tiled tensor maps and what one copy fetches: ptxloom.descriptors.encoding, tensor_map, box and remarks.

import { commas, hex, makeMode, placedBy } from "./descriptor.js";

const ADDRESS_END = 2 ** 57;
const STRIDE_END = 2 ** 40;
const COPY_ALIGNMENT = 128;
const CHUNK_BYTES = 16;

function typeOf(facts, made) {
  const [code, size, isFloat, rounds] = facts.dataTypes[made.dataType];
  return { code, elementBytes: size, isFloat: Boolean(isFloat), rounds: Boolean(rounds) };
}

// The bytes from one element of the first dimension to the next: a slice's, where the tensor is interleaved.
export function elementBytes(facts, made) {
  return facts.mapWords.interleaves[made.interleave] || typeOf(facts, made).elementBytes;
}

export function packedStrides(facts, made) {
  const strides = [elementBytes(facts, made)];
  for (const extent of made.globalDim.slice(0, -1)) strides.push(strides.at(-1) * extent);
  return strides.slice(1);
}

function stepsOf(made) {
  return [made.interleave === "none" ? 1 : made.elementStrides[0], ...made.elementStrides.slice(1)];
}

// Of an interleaved tensor: the dimension that counts slices, of which a copy takes one, whatever the box says.
function sliceDimensionOf(made) {
  return made.boxDim.length - 2;
}

export function countsOf(made) {
  const counts = made.boxDim.map((extent, place) => Math.ceil(extent / stepsOf(made)[place]));
  if (made.interleave !== "none") counts[sliceDimensionOf(made)] = 1;
  return counts;
}

function product(numbers) {
  return numbers.reduce((size, number) => size * number, 1);
}

export function transactionBytes(facts, made) {
  return product(countsOf(made)) * elementBytes(facts, made);
}

function encodedBoxBytes(facts, made) {
  return (
    product(made.boxDim.map((extent, place) => Math.floor(extent / made.elementStrides[place]))) *
    typeOf(facts, made).elementBytes
  );
}

// --- every check of the driver, in its order: the first refusal as a sentence, or nothing ---

export function refusal(facts, made) {
  return (
    commonRefusal(facts, made) ||
    numbersRefusal("box_dim", made.boxDim, made.globalDim.length, 1, 256) ||
    numbersRefusal("element_strides", made.elementStrides, made.globalDim.length, 1, 8) ||
    boxRefusal(facts, made)
  );
}

function refuse(argument, value, legal) {
  return `${argument} is ${value}; it must be ${legal}`;
}

function tuple(values) {
  return `(${values.join(", ")}${values.length === 1 ? "," : ""})`;
}

function commonRefusal(facts, made) {
  const unit = made.interleave === "32B" ? 32 : 16;
  const rank = made.globalDim.length;
  if (made.globalAddress % unit || made.globalAddress < 0 || made.globalAddress >= ADDRESS_END) {
    return refuse("global_address", `'${hex(made.globalAddress, 1)}'`, `a multiple of ${unit}, of at most 57 bits`);
  }
  if (rank < 1 || rank > 5) return refuse("global_dim", tuple(made.globalDim), "of 1 to 5 dimensions");
  if (made.interleave !== "none" && rank < 3) {
    return refuse(
      "interleave",
      `'${made.interleave}'`,
      `none for a tensor of ${rank} dimensions; interleaved ones have 3 or more`,
    );
  }
  const wrong =
    numbersRefusal("global_dim", made.globalDim, rank, 1, 2 ** 32) ||
    numbersRefusal("global_strides", made.globalStrides, rank - 1, 0, STRIDE_END - 1);
  if (wrong) return wrong;
  if (made.globalStrides.some((stride) => stride % unit))
    return refuse("global_strides", tuple(made.globalStrides), `multiples of ${unit}, in bytes`);
  if (made.oobFill === "nan" && !typeOf(facts, made).isFloat)
    return refuse("oob_fill", "'nan'", `none for ${made.dataType}: only floating-point types have NaN`);
  return "";
}

function numbersRefusal(argument, values, count, least, most) {
  if (values.length !== count)
    return refuse(argument, tuple(values), `${count} number${count === 1 ? "" : "s"} for a tensor of this rank`);
  const wrong = values.find((value) => !Number.isInteger(value) || value < least || value > most);
  if (wrong === undefined) return "";
  return refuse(
    argument,
    values.length === 1 ? wrong : tuple(values),
    `from ${commas(least)} to ${commas(most)}${values.length > 1 ? " each" : ""}`,
  );
}

function boxRefusal(facts, made) {
  const of = typeOf(facts, made);
  const inner = made.boxDim[0];
  if ((inner * of.elementBytes) % 16)
    return refuse("box_dim", inner, `a multiple of ${16 / of.elementBytes}: 16 bytes of ${made.dataType}`);
  const span = made.swizzle === "none" ? 0 : facts.modes[made.swizzle][0];
  if (span && made.interleave === "none" && inner * of.elementBytes > span) {
    const most = span / of.elementBytes;
    return refuse(
      "box_dim",
      inner,
      `at most ${most}: ${most} elements of ${made.dataType} are the ${span} bytes of the swizzle`,
    );
  }
  const bytes = encodedBoxBytes(facts, made);
  if (bytes > facts.sharedBytes) {
    return refuse(
      "box_dim",
      tuple(made.boxDim),
      `of at most ${commas(facts.sharedBytes)} bytes, the size of shared memory; here are ${commas(bytes)}`,
    );
  }
  return "";
}

// The 128 bytes as 32 words.
export function mapWords(facts, made) {
  const words = Array.from({ length: 32 }, () => 0);
  const of = typeOf(facts, made);
  const { interleaves, swizzles, promotions, fills } = facts.mapWords;
  words[0] = made.globalAddress % 2 ** 32;
  words[1] = Math.floor(made.globalAddress / 2 ** 32);
  words[2] =
    (made.globalDim.length - 1) * 2 ** 4 +
    of.code * 2 ** 7 +
    Object.keys(interleaves).indexOf(made.interleave) * 2 ** 11 +
    swizzles.indexOf(made.swizzle) * 2 ** 13 +
    fills.indexOf(made.oobFill) * 2 ** 15 +
    Number(of.rounds) * 2 ** 16 +
    promotions.indexOf(made.l2Promotion) * 2 ** 17;
  made.globalStrides.forEach((stride, place) => {
    words[3 + place] = Math.floor(stride / 16) % 2 ** 32;
    words[7] += (Math.floor(stride / 2 ** 36) % 16) * 2 ** (4 * place);
  });
  made.globalDim.forEach((extent, place) => {
    words[8 + place] = extent - 1;
  });
  words[13] = made.elementStrides.reduce(
    (sum, step, place) => sum + (step - 1) * 2 ** (3 * place),
    (made.boxDim[0] - 1) * 2 ** 24,
  );
  words[14] = made.boxDim.slice(1).reduce((sum, extent, place) => sum + (extent - 1) * 2 ** (8 * place), 0);
  words[16] = encodedBoxBytes(facts, made);
  words[18] = makeMode(facts, made.swizzle).alignmentBytes;
  return words;
}

// --- one copy: a box is { map, coordinate, sharedAddress } ---

export function pitchBytes(facts, made) {
  const row = countsOf(made)[0] * elementBytes(facts, made);
  const span = made.interleave === "none" && made.swizzle !== "none" ? facts.modes[made.swizzle][0] : 0;
  return Math.max(row, span);
}

export function sharedBytesOf(facts, made) {
  return product(countsOf(made).slice(1)) * pitchBytes(facts, made);
}

// One element of the box: where it comes from and goes to.
export function placeOf(facts, box, index) {
  const { map } = box;
  const counts = countsOf(map);
  const steps = stepsOf(map);
  const coordinate = index.map((at, place) => box.coordinate[place] + at * steps[place]);
  const isInside = coordinate.every((at, place) => at >= 0 && at < map.globalDim[place]);
  const strides = [elementBytes(facts, map), ...map.globalStrides];
  const globalAddress = coordinate.reduce((sum, at, place) => sum + at * strides[place], map.globalAddress);
  let row = 0;
  let extent = 1;
  index.slice(1).forEach((at, place) => {
    row += at * extent;
    extent *= counts[place + 1];
  });
  const target = box.sharedAddress + row * pitchBytes(facts, map) + index[0] * elementBytes(facts, map);
  return { index, coordinate, isInside, globalAddress, sharedAddress: placedBy(makeMode(facts, map.swizzle), target) };
}

// A row of the box in pieces of 16 bytes, in the tensor's order.
export function rowOf(facts, box, number) {
  const counts = countsOf(box.map);
  const outer = [];
  let rest = number;
  for (const count of counts.slice(1)) {
    outer.push(rest % count);
    rest = Math.floor(rest / count);
  }
  const width = elementBytes(facts, box.map);
  const chunks = [];
  for (let byte = 0; byte < counts[0] * width; byte += CHUNK_BYTES) {
    const first = Math.floor(byte / width);
    const held = Array.from({ length: Math.max(1, Math.floor(CHUNK_BYTES / width)) }, (_, at) =>
      placeOf(facts, box, [first + at, ...outer]),
    );
    chunks.push({
      sharedAddress: held[0].sharedAddress ^ (byte % width),
      coordinate: held[0].coordinate,
      elements: held.length,
      inside: held.filter((place) => place.isInside).length,
    });
  }
  return chunks;
}

// How many elements lie outside the tensor.
export function filledOf(box) {
  const counts = countsOf(box.map);
  const steps = stepsOf(box.map);
  const inside = counts.map((count, place) => {
    let held = 0;
    for (let at = 0; at < count; at += 1) {
      const here = box.coordinate[place] + steps[place] * at;
      held += here >= 0 && here < box.map.globalDim[place] ? 1 : 0;
    }
    return held;
  });
  return product(counts) - product(inside);
}

export function boxRemarks(facts, box) {
  const { map } = box;
  const found = [];
  const say = (name, wrong, text, advice) => found.push({ name, wrong, text, advice });
  if (map.elementStrides[0] !== 1 && map.interleave === "none") {
    say(
      "element-stride",
      false,
      `the element stride ${map.elementStrides[0]} of dimension 0 is ignored: the map is not interleaved`,
      "take every element, or put the dimension elsewhere",
    );
  }
  const slices = sliceDimensionOf(map);
  if (map.interleave !== "none" && map.boxDim[slices] !== 1) {
    say(
      "slices",
      false,
      `the box's extent ${map.boxDim[slices]} of dimension ${slices} is ignored: a copy takes one slice`,
      "copy the slices one by one, and expect the bytes of one",
    );
  }
  let below = map.globalDim[0] * elementBytes(facts, map);
  map.globalStrides.forEach((stride, place) => {
    const extent = map.globalDim[place + 1];
    if (extent <= 1) return;
    if (stride < below)
      say(
        "strides-overlap",
        false,
        `dimension ${place + 1} steps by ${commas(stride)} bytes, but one step holds ${commas(below)}`,
        "is the stride in bytes, and of this dimension?",
      );
    below = stride * extent;
  });
  copyRemarks(facts, box, say);
  return found;
}

function copyRemarks(facts, box, say) {
  const { map, coordinate, sharedAddress } = box;
  const width = elementBytes(facts, map);
  const mode = makeMode(facts, map.swizzle);
  if (map.interleave === "none" && (coordinate[0] * width) % CHUNK_BYTES) {
    say(
      "inner-coordinate",
      true,
      `coordinate ${coordinate[0]} of dimension 0 is not at a multiple of 16 bytes: an illegal instruction`,
      `take a multiple of ${CHUNK_BYTES / width}`,
    );
  }
  if (sharedAddress % COPY_ALIGNMENT) {
    say(
      "shared-address",
      true,
      `shared address ${hex(sharedAddress, 5)} is not a multiple of ${COPY_ALIGNMENT}: a misaligned address`,
      `align the buffer to ${COPY_ALIGNMENT} bytes`,
    );
  } else if (mode.swizzle.bits && sharedAddress % mode.alignmentBytes) {
    const align = commas(mode.alignmentBytes);
    say(
      "pattern-start",
      false,
      `${mode.name} patterns begin at multiples of ${align}, not at shared address ${hex(sharedAddress, 5)}`,
      `align the buffer to ${align} bytes, as matrix descriptors require`,
    );
  }
  const shared = sharedBytesOf(facts, map);
  if (shared > facts.sharedBytes) {
    say(
      "too-large",
      true,
      `the copy reaches over ${commas(shared)} bytes of shared memory, and a CTA has ${commas(facts.sharedBytes)}`,
      "take a smaller box",
    );
  }
  const row = countsOf(map)[0] * width;
  if (pitchBytes(facts, map) > row) {
    say(
      "padding",
      false,
      `rows of ${row} bytes are ${pitchBytes(facts, map)} apart, as wide as the swizzle: the copy reaches over ${commas(shared)} bytes, and its mbarrier counts ${commas(transactionBytes(facts, map))}`,
      "leave space for the padding in the buffer; expect the bytes without it",
    );
  }
  if (map.oobFill === "nan" && filledOf(box)) say("nan-fill", false, "the fill is 0x7ff7 in every 16 bits", "");
}
