// What an access to shared memory costs, and the swizzles that avoid it: ptxloom.banks.warps, .tiles, .traffic and .swizzles.

const BANKS = 32;
const WORD_BYTES = 4;
const ROW_BYTES = 16;
const MOST_BITS = 5;

export function makeAccess(spelling, row) {
  const [laneBytes, lanes, phaseLanes, isMatrix, isLoad, isAtomic, rounds] = row;
  const merges = Boolean(isLoad) && !isMatrix && lanes / phaseLanes > 1;
  return {
    spelling,
    laneBytes,
    lanes,
    phaseLanes,
    isMatrix: Boolean(isMatrix),
    isLoad: Boolean(isLoad),
    isAtomic: Boolean(isAtomic),
    rounds,
    merges,
  };
}

// CuTe's Swizzle<B,M,S>, on numbers below 2^31.
export function swizzled({ bits, base, shift }, offset) {
  const source = ((1 << bits) - 1) << (base + Math.max(shift, 0));
  const picked = offset & source;
  return offset ^ (shift >= 0 ? picked >> shift : picked << -shift);
}

// The phases of one warp, each with its banks. `addresses` are those of the lanes that take part, null for the others.
export function phasesOf(access, addresses) {
  return servedTogether(access, addresses).map((lanes) => {
    const wanted = lanes.filter((lane) => addresses[lane] !== null && addresses[lane] !== undefined);
    return phaseOf(access, wanted, addresses);
  });
}

function servedTogether(access, addresses) {
  const size = access.phaseLanes * (access.merges && areMerged(access, addresses) ? 2 : 1);
  const groups = [];
  for (let start = 0; start < access.lanes; start += size) {
    groups.push(Array.from({ length: size }, (_, place) => start + place));
  }
  return groups;
}

function areMerged(access, addresses) {
  const on = (lane) => addresses[lane] !== null && addresses[lane] !== undefined;
  const active = Array.from({ length: access.lanes }, (_, lane) => lane).filter(on);
  return [1, 2].some((d) => active.every((lane) => !on(lane ^ d) || addresses[lane] === addresses[lane ^ d]));
}

function phaseOf(access, lanes, addresses) {
  const words = Math.max(1, Math.floor(access.laneBytes / WORD_BYTES));
  const byWord = new Map();
  for (const lane of lanes) {
    const first = Math.floor(addresses[lane] / WORD_BYTES);
    for (let word = first; word < first + words; word += 1) {
      if (!byWord.has(word)) byWord.set(word, []);
      byWord.get(word).push(lane);
    }
  }
  const banks = new Map();
  for (const word of [...byWord.keys()].sort((a, b) => a - b)) {
    const bank = word % BANKS;
    if (!banks.has(bank)) banks.set(bank, []);
    const groups = access.isAtomic ? byWord.get(word).map((lane) => [lane]) : [byWord.get(word)];
    for (const group of groups) banks.get(bank).push({ address: word * WORD_BYTES, lanes: group });
  }
  const wavefronts = Math.max(0, ...[...banks.values()].map((words_) => words_.length));
  return { lanes, wavefronts, banks };
}

// What a warp costs: wavefronts, and how many would do.
export function costOfWarp(access, addresses) {
  const counts = servedTogether(access, addresses).map((lanes) => passesOf(access, lanes, addresses));
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  return {
    wavefronts: access.rounds * sum(counts),
    ideal: access.rounds * counts.filter(Boolean).length,
    ways: Math.max(0, ...counts),
  };
}

function passesOf(access, lanes, addresses) {
  const unit = Math.max(WORD_BYTES, access.laneBytes);
  const inUnits = (BANKS * WORD_BYTES) / unit;
  const seen = new Set();
  const byBanks = new Map();
  let most = 0;
  for (const lane of lanes) {
    if (addresses[lane] === null || addresses[lane] === undefined) continue;
    const wanted = Math.floor(addresses[lane] / unit);
    if (!access.isAtomic && seen.has(wanted)) continue;
    seen.add(wanted);
    const count = (byBanks.get(wanted % inUnits) || 0) + 1;
    byBanks.set(wanted % inUnits, count);
    if (count > most) most = count;
  }
  return most;
}

// --- a tile and the accesses to it ---

// The rows and byte columns that an access names, lane after lane and warp after warp; or why it does not fit.
export function trafficOf(tile, access, along) {
  const places = [];
  const rowBytes = (tile.columns * tile.elementBits) / 8;
  if (access.isMatrix) {
    const height = access.spelling.includes(".m16n16") ? 16 : 8;
    if (tile.rows % height)
      return {
        problem: `${access.spelling} takes matrices of ${height} rows, which do not divide the ${tile.rows} of the tile`,
      };
    for (let column = 0; column < rowBytes; column += ROW_BYTES)
      for (let row = 0; row < tile.rows; row += 1) places.push([row, column]);
    return { places };
  }
  if (rowBytes % access.laneBytes)
    return {
      problem: `${access.spelling} moves ${access.laneBytes} bytes a lane, which do not divide a row of ${rowBytes}`,
    };
  for (let row = 0; row < tile.rows; row += 1)
    for (let column = 0; column < rowBytes; column += access.laneBytes) places.push([row, column]);
  if (along === "column") places.sort((a, b) => a[1] - b[1] || a[0] - b[0]);
  return { places };
}

// The byte offset of each lane of each warp under an arrangement: rows padded, then offsets swizzled.
export function warpsOf(tile, access, places, arrangement) {
  const pitch = tile.pitchBytes + arrangement.paddingBytes;
  const warps = [];
  for (let start = 0; start < places.length; start += access.lanes) {
    warps.push(
      places.slice(start, start + access.lanes).map(([row, column]) => {
        const offset = row * pitch + column;
        return arrangement.swizzle ? swizzled(arrangement.swizzle, offset) : offset;
      }),
    );
  }
  return warps;
}

export function costOf(tile, traffic, arrangement) {
  let wavefronts = 0;
  let ideal = 0;
  for (const { access, kinds } of traffic) {
    for (const [offsets, times] of kinds(tile.pitchBytes + arrangement.paddingBytes)) {
      const placed = arrangement.swizzle ? offsets.map((offset) => swizzled(arrangement.swizzle, offset)) : offsets;
      const cost = costOfWarp(access, placed);
      wavefronts += times * cost.wavefronts;
      ideal += times * cost.ideal;
    }
  }
  return { arrangement, wavefronts, ideal, conflicts: wavefronts - ideal };
}

// Warps by the offsets of their lanes, and how many there are of each kind: two that differ by one XOR cost the same.
export function kindsOfWarps(access, places) {
  const known = new Map();
  return (pitch) => {
    if (!known.has(pitch)) {
      const offsets = places.map(([row, column]) => row * pitch + column);
      const found = new Map();
      for (let start = 0; start < offsets.length; start += access.lanes) {
        const kind = offsets.slice(start, start + access.lanes).map((offset) => offset ^ offsets[start]);
        const key = kind.join();
        found.set(key, [kind, (found.get(key)?.[1] || 0) + 1]);
      }
      known.set(pitch, [...found.values()]);
    }
    return known.get(pitch);
  };
}

// How much memory a tile takes; a swizzle moves bytes within blocks, of which the last counts whole.
export function storageBytes(tile, arrangement) {
  const dense = (tile.pitchBytes + arrangement.paddingBytes) * (tile.rows - 1) + (tile.columns * tile.elementBits) / 8;
  const block = arrangement.swizzle ? 2 ** (arrangement.swizzle.base + arrangement.swizzle.bits) : 1;
  return Math.ceil(dense / block) * block;
}

// Every swizzle of the fewest bits, and the smallest padding, that leave no conflict, best first; and the best there is.
export function findSwizzles(tile, traffic) {
  const cost = (arrangement) => costOf(tile, traffic, arrangement);
  const plain = cost({ paddingBytes: 0, swizzle: null });
  const candidates = swizzlesOf(tile, traffic).map((swizzle) => cost({ paddingBytes: 0, swizzle }));
  const padded = Array.from({ length: 8 }, (_, step) => cost({ paddingBytes: ROW_BYTES * (step + 1), swizzle: null }));
  const free = [plain, ...candidates].filter((each) => !each.conflicts);
  const fewest = Math.min(...free.map(bitsOf));
  const choices = free.filter((each) => bitsOf(each) === fewest);
  const padding = padded.find((each) => !each.conflicts);
  if (plain.conflicts && padding) choices.push(padding);
  choices.sort(byKeys((each) => rankOf(tile, each)));
  const all = [plain, ...candidates, ...padded];
  all.sort(byKeys((each) => [each.conflicts, storageBytes(tile, each.arrangement), bitsOf(each)]));
  return { plain, choices, best: all[0] };
}

function swizzlesOf(tile, traffic) {
  const together = Math.floor(Math.log2(Math.max(...traffic.map(({ access }) => access.laneBytes))));
  const top = Math.floor(Math.log2(tile.pitchBytes * tile.rows - 1)) + 1;
  const found = [];
  for (let bits = 1; bits <= MOST_BITS; bits += 1) {
    for (let base = together; base < top; base += 1) {
      for (let shift = bits; shift <= top - base - bits; shift += 1) found.push({ bits, base, shift });
    }
  }
  return found;
}

function bitsOf({ arrangement }) {
  return arrangement.swizzle ? arrangement.swizzle.bits : 0;
}

function rankOf(tile, { arrangement }) {
  const { base, shift } = arrangement.swizzle || { base: 0, shift: 0 };
  return [arrangement.paddingBytes, storageBytes(tile, arrangement), base, shift];
}

function byKeys(keys) {
  return (first, second) => {
    const [a, b] = [keys(first), keys(second)];
    const place = a.findIndex((key, at) => key !== b[at]);
    return place < 0 ? 0 : a[place] - b[place];
  };
}

// The swizzle on element indices, as CuTe writes it for a layout of these elements.
export function swizzleOfElements(swizzle, elementBits) {
  return { ...swizzle, base: swizzle.base + 3 - Math.log2(elementBits) };
}

// An arrangement as CuTe C++ writes it, and the element's index as C.
export function arrangementInCode(tile, arrangement) {
  const pitch = ((tile.pitchBytes + arrangement.paddingBytes) * 8) / tile.elementBits;
  const shape = `Shape<_${tile.rows}, _${tile.columns}>, Stride<Int<${pitch}>, _1>`;
  const index = `row * ${pitch} + column`;
  if (!arrangement.swizzle) return { cute: `Layout<${shape}>{}`, expression: index };
  const { bits, base, shift } = swizzleOfElements(arrangement.swizzle, tile.elementBits);
  const picked = `(i >> ${base + shift} & ${2 ** bits - 1})${base ? ` << ${base}` : ""}`;
  return {
    cute: `composition(Swizzle<${bits}, ${base}, ${shift}>{}, Layout<${shape}>{})`,
    expression: `(i = ${index}, i ^ (${picked}))`,
  };
}
