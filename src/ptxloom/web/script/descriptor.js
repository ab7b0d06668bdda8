// Matrix descriptors: 64 bits, what they say, the address of each row, and remarks. See ptxloom.descriptors.

import { swizzled } from "./banks.js";

const CHUNK_BYTES = 16;
const CHUNK_BITS = 128;
const CORE_ROWS = 8;
const STEP_BITS = 256;
const ADDRESS_END = 1 << 18;
const UNUSED_LEADING = 16;
const LINE_BITS = 7;
const FIELDS = {
  "matrix start address": "start",
  "leading dimension byte offset": "leading",
  "stride dimension byte offset": "stride",
  "matrix base offset": "base",
  "leading dimension stride mode": "leadingIsAddress",
  "swizzling mode": "swizzle",
  "fixed constant": "version",
};

export function makeMode(facts, name) {
  const [spanBytes, atomBytes] = facts.modes[name];
  const base = Math.log2(atomBytes);
  const swizzle = { bits: Math.log2(spanBytes / atomBytes), base, shift: LINE_BITS - base };
  const patternBytes = 2 ** (LINE_BITS + swizzle.bits);
  return {
    name,
    spanBytes,
    swizzle,
    chunks: spanBytes / CHUNK_BYTES,
    patternBytes,
    patternRows: patternBytes / spanBytes,
    alignmentBytes: swizzle.bits ? patternBytes : CHUNK_BYTES,
  };
}

// Where the byte lies that stands at an address before swizzling.
export function placedBy(mode, address, base = 0) {
  const shifted = address - base * 2 ** LINE_BITS;
  return address ^ swizzled(mode.swizzle, shifted) ^ shifted;
}

export function commas(value) {
  return value.toLocaleString("en-US");
}

export function hex(value, digits) {
  return `0x${value.toString(16).padStart(digits, "0")}`;
}

// --- the 64 bits ---

function ones(bits) {
  return (1n << BigInt(bits)) - 1n;
}

// The words of a descriptor from the lowest bit up, each with what it holds.
export function wordsOf(facts, bits, generation) {
  return facts.generations[generation].words.map(([name, first, count]) => ({
    name,
    field: FIELDS[name],
    first,
    count,
    held: Number((bits >> BigInt(first)) & ones(count)),
  }));
}

// A descriptor from 64 bits; `problem` where they name a swizzling mode that there is not.
export function fromBits(facts, bits, generation) {
  const of = facts.generations[generation];
  const words = wordsOf(facts, bits, generation);
  const held = Object.fromEntries(words.map((word) => [word.field, word.held]));
  const swizzle = Object.keys(of.codes).find((name) => of.codes[name] === held.swizzle);
  if (swizzle === undefined)
    return {
      problem: `swizzling mode ${held.swizzle} is none of ${Object.entries(of.codes)
        .map(([name, code]) => `${code} (${name})`)
        .join(", ")}`,
    };
  const masks = words.reduce(
    (mask, word) => mask | (word.field === "version" ? 0n : ones(word.count) << BigInt(word.first)),
    0n,
  );
  const version = BigInt(of.version) << 46n;
  return {
    generation,
    swizzle,
    start: held.start * CHUNK_BYTES,
    leading: held.leading * CHUNK_BYTES,
    stride: held.stride * CHUNK_BYTES,
    base: held.base,
    leadingIsAddress: Boolean(of.version && held.leadingIsAddress),
    stray: (bits ^ version) & ~masks & ones(64),
  };
}

export function toBits(facts, descriptor) {
  const of = facts.generations[descriptor.generation];
  const held = {
    start: descriptor.start / CHUNK_BYTES,
    leading: descriptor.leading / CHUNK_BYTES,
    stride: descriptor.stride / CHUNK_BYTES,
    base: descriptor.base,
    version: of.version,
    leadingIsAddress: Number(descriptor.leadingIsAddress),
    swizzle: of.codes[descriptor.swizzle],
  };
  return (
    of.words.reduce((bits, [name, first]) => bits | (BigInt(held[FIELDS[name]]) << BigInt(first)), 0n) ^
    descriptor.stray
  );
}

// The generation that the fixed constant in bits 46 to 48 says.
export function generationOf(bits) {
  return ((bits >> 46n) & 7n) === 1n ? "tcgen05" : "wgmma";
}

export function isStored(value) {
  return Number.isInteger(value) && value >= 0 && value < ADDRESS_END && value % CHUNK_BYTES === 0;
}

// --- where the matrix lies: an operand is { descriptor, rows, columns, element, major } ---

export function bitsOfElement(facts, operand) {
  return facts.elements[operand.element];
}

// The shared address of the byte in which an element begins: the canonical layout, then the swizzle.
export function addressOf(facts, operand, row, column) {
  const { descriptor } = operand;
  const mode = makeMode(facts, descriptor.swizzle);
  const width = bitsOfElement(facts, operand);
  let [leading, stride] = [descriptor.leading, descriptor.stride].map((offset) => Math.floor((8 * offset) / width));
  if (operand.major === "mn" && mode.chunks === 1) [leading, stride] = [stride, leading];
  const perChunk = CHUNK_BITS / width;
  const pitch = perChunk * mode.chunks;
  const [along, across] = operand.major === "k" ? [column, row] : [row, column];
  const contiguous = (along % pitch) + Math.floor(along / pitch) * leading;
  const strided = (across % mode.patternRows) * pitch + Math.floor(across / mode.patternRows) * stride;
  return placedBy(mode, descriptor.start + Math.floor(((contiguous + strided) * width) / 8), descriptor.base);
}

// Eight rows of 16 bytes each, along K first.
export function coreMatrices(facts, operand) {
  const perRow = CHUNK_BITS / bitsOfElement(facts, operand);
  const isK = operand.major === "k";
  const [tall, wide] = isK ? [CORE_ROWS, perRow] : [perRow, CORE_ROWS];
  const found = [];
  for (let row = 0; row < operand.rows; row += tall)
    for (let k = 0; k < operand.columns; k += wide) {
      const places = Array.from({ length: CORE_ROWS }, (_, i) => (isK ? [row + i, k] : [row, k + i]));
      found.push({ row, k, places, addresses: places.map(([r, c]) => addressOf(facts, operand, r, c)) });
    }
  return found;
}

// The descriptor of a tile as TMA brings it, and of each step along K; or why it cannot be so.
export function ofTile(facts, tile) {
  const mode = makeMode(facts, tile.swizzle);
  const width = facts.elements[tile.element];
  const step = STEP_BITS / width;
  if (tile.rows < 8 || tile.rows % 8 || tile.columns < step || tile.columns % step) {
    return { problem: `the tile must be of a multiple of 8 along M or N and of ${step} along K for ${tile.element}` };
  }
  const along = ((tile.major === "k" ? tile.columns : tile.rows) * width) / 8;
  if (along % mode.spanBytes)
    return {
      problem: `the tile must be of whole ${tile.swizzle} rows along ${tile.major.toUpperCase()}: ${along} bytes are not a multiple of ${mode.spanBytes}`,
    };
  if ((tile.rows * tile.columns * width) / 8 > facts.sharedBytes)
    return { problem: `the tile is larger than shared memory, ${commas(facts.sharedBytes)} bytes` };
  if (tile.start % mode.alignmentBytes)
    return {
      problem: `the start address must be a multiple of ${commas(mode.alignmentBytes)}, where a ${tile.swizzle} pattern begins`,
    };
  const across = tile.major === "k" ? tile.rows : tile.columns;
  let [leading, stride] = [across * mode.spanBytes, mode.patternRows * mode.spanBytes];
  if (tile.major === "mn" && mode.chunks === 1) [leading, stride] = [stride, leading];
  const isLooked = tile.major === "mn" || mode.chunks * CHUNK_BITS < STEP_BITS;
  const descriptor = {
    generation: tile.generation,
    start: tile.start,
    leading: isLooked ? leading : UNUSED_LEADING,
    stride,
    swizzle: tile.swizzle,
    base: 0,
    leadingIsAddress: false,
    stray: 0n,
  };
  if (!isStored(descriptor.leading) || !isStored(descriptor.stride))
    return { problem: "an offset is more than 18 bits hold" };
  return { descriptor, rows: tile.rows <= 256 ? tile.rows : 64, columns: step };
}

// --- remarks: ptxloom.descriptors.remarks ---

export function remarksOf(facts, operand) {
  return [
    ...bitRemarks(facts, operand.descriptor),
    ...placeRemarks(facts, operand),
    ...startRemarks(facts, operand),
    ...typeRemarks(facts, operand),
  ];
}

function remark(name, wrong, text, advice) {
  return { name, wrong, text, advice };
}

function bitRemarks(facts, descriptor) {
  const found = [];
  const { version } = facts.generations[descriptor.generation];
  if (descriptor.stray) {
    const where = Array.from({ length: 64 }, (_, bit) => bit)
      .filter((bit) => (descriptor.stray >> BigInt(bit)) & 1n)
      .join(", ");
    const constant = version ? ` (bits 46 to 48 are 0b${version.toString(2).padStart(3, "0")})` : "";
    found.push(
      remark(
        "stray-bits",
        true,
        `bits that belong to no word are set, or a constant is wrong: bit ${where}`,
        `clear them${constant}: were address and offsets divided by 16 and masked to 14 bits?`,
      ),
    );
  }
  if (descriptor.base && descriptor.swizzle === "none") {
    found.push(remark("base-offset", true, "a base offset without a swizzle means nothing", "set bits 49 to 51 to 0"));
  }
  return found;
}

function overlapOf(facts, operand) {
  const seen = new Map();
  for (const core of coreMatrices(facts, operand)) {
    const name = `the one at (${core.row}, ${core.k})`;
    for (const at of core.addresses) {
      if (seen.has(at) && seen.get(at) !== name) return [seen.get(at), name, at];
      seen.set(at, name);
    }
  }
  return null;
}

function placeRemarks(facts, operand) {
  const found = [];
  const { descriptor } = operand;
  const shared = overlapOf(facts, operand);
  if (shared) {
    const swapped = { ...descriptor, leading: descriptor.stride, stride: descriptor.leading };
    const offsets = `leading ${commas(descriptor.leading)}, stride ${commas(descriptor.stride)} bytes`;
    if (!overlapOf(facts, { ...operand, descriptor: swapped })) {
      found.push(
        remark(
          "offsets-swapped",
          true,
          `the leading and the stride offset look swapped (${offsets}): as they are, core matrices overlap`,
          `exchange them: ${hex(toBits(facts, swapped), 16)}`,
        ),
      );
    } else {
      const [first, second, at] = shared;
      found.push(
        remark(
          "overlap",
          true,
          `core matrices overlap (${offsets}): ${first} and ${second} are both at ${hex(at, 5)}`,
          wantedOffsets(facts, operand),
        ),
      );
    }
  }
  const last = Math.max(...coreMatrices(facts, operand).flatMap((core) => core.addresses)) + CHUNK_BYTES;
  const end = facts.sharedBytes + 1024;
  if (last > end) {
    found.push(
      remark(
        "outside",
        true,
        `the matrix ends at ${hex(last, 5)}, and shared memory at ${hex(end, 5)}`,
        "check the start address and the offsets: are they in units of 16 bytes?",
      ),
    );
  }
  return found;
}

function wantedOffsets(facts, operand) {
  const mode = makeMode(facts, operand.descriptor.swizzle);
  const group = mode.patternRows * mode.spanBytes;
  if (mode.chunks === 1)
    return `core matrices are ${group} bytes: both offsets must be multiples of ${group} that keep them apart`;
  return `the stride offset leads to the next 8 of ${operand.major === "k" ? "M or N" : "K"}: at least ${commas(group)} bytes with this swizzle`;
}

function startRemarks(facts, operand) {
  const { descriptor } = operand;
  const mode = makeMode(facts, descriptor.swizzle);
  if (mode.chunks === 1) return [];
  const found = [];
  const rows = 2 ** mode.swizzle.bits - 1;
  const row = (descriptor.start >> LINE_BITS) & rows;
  if (descriptor.base & rows && !row) {
    found.push(
      remark(
        "base-offset",
        true,
        `the base offset is ${descriptor.base}, but the start address is at the beginning of a pattern`,
        "set bits 49 to 51 to 0",
      ),
    );
  } else if (row !== (descriptor.base & rows)) {
    const aligned = `a multiple of ${commas(mode.alignmentBytes)}`;
    found.push(
      remark(
        "pattern-start",
        false,
        `the start address ${hex(descriptor.start, 5)} is not at the beginning of a ${mode.name} pattern (${aligned})`,
        `align the tile to ${commas(mode.alignmentBytes)} bytes; TMA swizzles by the absolute address, which this descriptor agrees with, ` +
          `but code that swizzles offsets from the tile's beginning needs base offset ${row}`,
      ),
    );
  }
  if (operand.major === "k") {
    const inside = descriptor.start % mode.spanBytes;
    const width = Math.min(Math.floor((operand.columns * bitsOfElement(facts, operand)) / 8), mode.spanBytes);
    if (inside && inside + width > mode.spanBytes) {
      found.push(
        remark(
          "past-the-row",
          true,
          `K runs past the end of its ${mode.name} row: it begins ${inside} bytes into it and takes ${width}`,
          "step by 32 bytes within a row, then to the next tile along K",
        ),
      );
    }
  }
  return found;
}

function typeRemarks(facts, operand) {
  if (operand.descriptor.generation !== "wgmma") return [];
  const found = [];
  if (!facts.factorTypes.includes(operand.element)) {
    found.push(
      remark(
        "type",
        true,
        `wgmma does not multiply ${operand.element}`,
        `its types are ${facts.factorTypes.join(", ")}`,
      ),
    );
  } else if (operand.major === "mn" && !["f16", "bf16"].includes(operand.element)) {
    found.push(
      remark(
        "transposed-type",
        true,
        `wgmma takes MN-major operands of 16-bit types only, not of ${operand.element}`,
        "lay the tile out K-major",
      ),
    );
  }
  if (operand.rows % 8)
    found.push(
      remark(
        "extent",
        true,
        `${operand.rows} is neither an M nor an N of wgmma`,
        "M is 64; N is a multiple of 8 up to 256",
      ),
    );
  return found;
}
