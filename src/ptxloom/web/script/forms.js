// The forms of an instruction, and what a written row of qualifiers means: ptxloom.isa.resolution.forms and ptxloom.isa.form.

export const MOST_QUALIFIERS = 40;
const LAYOUTS = ["row", "col"];
const PLAIN_TYPE = /^([busf])([0-9]{1,3})$/;
const MINIFLOAT = /^(u?)e([0-9])m([0-9])$/;
const PACKED = /^(.+?)x([0-9]{1,2})(?:_p([0-9]{1,3}))?$/;
const WIDTHS = {
  b: [1, 2, 4, 6, 8, 16, 32, 64, 128],
  u: [2, 4, 8, 16, 32, 64],
  s: [2, 4, 8, 16, 32, 64],
  f: [16, 32, 64],
};
const NAMED_TYPES = ["pred", "bf16", "tf32", "s2f6"];

export function isType(word) {
  const packed = PACKED.exec(word);
  return isScalar(packed ? packed[1] : word) && (!packed || Number(packed[2]) > 1);
}

function isScalar(word) {
  if (NAMED_TYPES.includes(word)) return true;
  const plain = PLAIN_TYPE.exec(word);
  if (plain && WIDTHS[plain[1]].includes(Number(plain[2]))) return true;
  const mini = MINIFLOAT.exec(word);
  const bits = mini ? Number(mini[2]) + Number(mini[3]) + (mini[1] ? 0 : 1) : 0;
  return bits >= 4 && bits <= 8;
}

// The ISA data of one instruction, its rows given names.
export function makeSpec(opcode, row) {
  const [section, lines, operands, constraints, features, [repeatable, ignores, misreads, leads, ignoresIn]] = row;
  return {
    opcode,
    section,
    misreads,
    ignores,
    ignoresIn,
    repeatable: new Set(repeatable),
    leads: new Set(leads),
    lines: lines.map(makeLine),
    operands: new Map(
      Object.entries(operands).map(([name, [kind, length, when, spare]]) => [name, { kind, length, when, spare }]),
    ),
    constraints: constraints.map(([when, require, why, lax]) => ({ when, require, why, lax: Boolean(lax) })),
    features: features.map(([name, when, needs, operand, gone]) => ({ name, when, needs, operand, gone })),
  };
}

function makeLine([slots, operands]) {
  const slotsOf = new Map();
  slots.forEach(([, values], place) =>
    values.forEach((value) => {
      slotsOf.set(value, [...(slotsOf.get(value) || []), place]);
    }),
  );
  return {
    slots: slots.map(([name, values, optional]) => ({ name, values, optional: Boolean(optional) })),
    operands: operands.map(([name, bracketed, optional, partner, extra, spare, alone]) => ({
      name,
      bracketed: Boolean(bracketed),
      optional: Boolean(optional),
      partner,
      extra,
      spare,
      alone: Boolean(alone),
    })),
    slotsOf,
    spellings: slots.reduce((size, [, values, optional]) => size * (values.length + optional), 1),
  };
}

// Whether a filling meets a condition; `absent` stands in the slots that its line does not have.
export function holds(condition, filling, absent) {
  return condition.every(([name, values]) => {
    const held = filling.has(name) ? filling.get(name) : absent;
    return values.includes(held) || (values[0].startsWith(".") && held === filling.get(values[0].slice(1)));
  });
}

export function admits(constraint, filling) {
  return !holds(constraint.when, filling, undefined) || holds(constraint.require, filling, "");
}

export function makeForm(spec, line, filling) {
  return { spec, line, filling, words: [...filling.values()].filter(Boolean) };
}

export function laxitiesOf(form) {
  return form.spec.constraints.filter((each) => each.lax && !admits(each, form.filling));
}

// Every legal form, in the order of the syntax lines.
export function formsOf(spec) {
  const found = [];
  for (const line of spec.lines) {
    expand(
      line.slots.map((slot) => [slot.name, slot.optional ? ["", ...slot.values] : slot.values]),
      spec,
      line,
      found,
      Infinity,
    );
  }
  return found;
}

// The forms that leave out, where they may, all that is neither in `words` nor asked for by a constraint.
export function nearbyForms(spec, words, most) {
  const asked = new Set(spec.constraints.flatMap((each) => each.require.flatMap(([, values]) => values)));
  const found = [];
  for (const line of spec.lines) {
    expand(
      line.slots.map((slot) => [slot.name, nearChoices(slot, words, asked)]),
      spec,
      line,
      found,
      most,
    );
  }
  return found;
}

function nearChoices(slot, words, asked) {
  const written = slot.values.filter((value) => words.has(value));
  if (slot.optional) return [...written, "", ...slot.values.filter((value) => asked.has(value) && !words.has(value))];
  return written.length ? written : slot.values;
}

// The cross product of choices, the last one fastest, less what the constraints remove.
function expand(rows, spec, line, found, most) {
  const at = rows.map(() => 0);
  for (let more = true; more && found.length < most;) {
    const filling = new Map(rows.map(([name, choices], place) => [name, choices[at[place]]]));
    if (spec.constraints.every((each) => admits(each, filling))) found.push(makeForm(spec, line, filling));
    more = false;
    for (let place = rows.length - 1; place >= 0 && !more; place -= 1) {
      at[place] += 1;
      if (at[place] < rows[place][1].length) more = true;
      else at[place] = 0;
    }
  }
}

// The form that qualifiers name, whatever their order; of several forms of a spelling the one with so many operands.
export function resolve(spec, qualifiers, operands, memory) {
  if (qualifiers.length > MOST_QUALIFIERS) return { form: null, ignored: [], repeated: [], others: [] };
  const places = qualifiers.map((_, place) => place);
  const repeated = places.filter(
    (place) => spec.repeatable.has(qualifiers[place]) && qualifiers.indexOf(qualifiers[place]) < place,
  );
  const lax = !spec.ignoresIn.length || spec.ignoresIn.some((word) => qualifiers.includes(word));
  const ignored = places.filter((place) => lax && spec.ignores.includes(qualifiers[place]));
  for (const passed of ignored.length ? [[], ignored] : [[]]) {
    const found = readWords(spec, qualifiers, operands, passed, repeated, memory);
    if (found.form) return found;
  }
  const strange = ignored.filter((place) => !spec.lines.some((line) => line.slotsOf.has(qualifiers[place])));
  return { form: null, ignored: strange, repeated, others: [] };
}

function readWords(spec, qualifiers, operands, ignored, repeated, memory) {
  const words = qualifiers.filter((_, place) => !ignored.includes(place) && !repeated.includes(place));
  const leading = qualifiers.map((word) => spec.leads.has(word));
  const inOrder = leading.every((lead, place) => !lead || place === 0 || leading[place - 1]);
  const ranked = new Map();
  for (const [line, filling] of inOrder ? readingsOf(spec, words, memory) : []) {
    if (!spec.constraints.every((each) => each.lax || admits(each, filling))) continue;
    const form = makeForm(spec, line, filling);
    const miscounted = operands >= 0 && !isWithin(operands, lineCounts(line));
    const rank = 2 * miscounted + (laxitiesOf(form).length > 0);
    ranked.set(rank, [...(ranked.get(rank) || []), form]);
  }
  if (!ranked.size) return { form: null, ignored, repeated, others: [] };
  const [form, ...others] = ranked.get(Math.min(...ranked.keys()));
  return { form, ignored, repeated, others };
}

export function isWithin(count, [least, most]) {
  return least <= count && count <= most;
}

function lineCounts(line) {
  return [line.operands.filter((slot) => !slot.optional).length, line.operands.length];
}

// Every syntax line that has a place for each word, and what its slots then hold; constraints left aside.
export function readingsOf(spec, words, memory) {
  const found = [];
  for (const line of spec.lines) {
    const placed = placeWords(spec, line, words, memory);
    const filling = placed && fillingOf(line, words, placed);
    if (filling) found.push([line, filling]);
  }
  return found;
}

function placeWords(spec, line, words, memory) {
  const taken = [];
  const last = new Map();
  for (const word of words) {
    const slot = (line.slotsOf.get(word) || []).find((place) => !taken.includes(place));
    if (slot === undefined) return null;
    const sort = sortOf(spec, word, memory);
    if (sort && slot < (last.has(sort) ? last.get(sort) : -1)) return null;
    last.set(sort, slot);
    taken.push(slot);
  }
  return taken;
}

// Among which words a word keeps its place.
function sortOf(spec, word, memory) {
  if (isType(word)) return "type";
  if (spec.leads.has(word)) return "lead";
  if (LAYOUTS.includes(word)) return "layout";
  return memory.includes(word.split("::")[0]) ? "space" : "";
}

function fillingOf(line, words, placed) {
  const bySlot = new Map(placed.map((slot, place) => [slot, words[place]]));
  if (line.slots.some((slot, place) => !bySlot.has(place) && !slot.optional)) return null;
  return new Map(line.slots.map((slot, place) => [slot.name, bySlot.get(place) || ""]));
}

// The least and the most operands that a form takes.
export function countsOf(form) {
  const rules = form.spec.operands;
  const bound = form.line.operands.filter((slot) => rules.get(slot.name).when);
  const standing = bound.filter((slot) => form.filling.get(rules.get(slot.name).when)).length;
  const free = form.line.operands.filter((slot) => !rules.get(slot.name).when);
  return [free.filter((slot) => !slot.optional).length + standing, free.length + standing];
}

// The slots that so many operands fill, in order; none if the form does not take so many.
export function slotsFor(form, count) {
  if (!isWithin(count, countsOf(form))) return [];
  const rules = form.spec.operands;
  const here = form.line.operands.filter(
    (slot) => !rules.get(slot.name).when || form.filling.get(rules.get(slot.name).when),
  );
  let surplus = here.length - count;
  for (const slot of [...here].reverse()) {
    if (surplus && slot.optional && !rules.get(slot.name).when) {
      here.splice(here.indexOf(slot), 1);
      surplus -= 1;
    }
  }
  return here;
}
