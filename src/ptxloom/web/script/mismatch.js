// Why no form of an instruction fits what is written, and in which words: ptxloom.isa.resolution.mismatch and ptxloom.isa.resolution.phrase.

import { admits, formsOf, isType, laxitiesOf, MOST_QUALIFIERS, nearbyForms, readingsOf, resolve } from "./forms.js";
import { nearMisses } from "./spelling.js";

const NUMBERED = /^(?:[vxL]?\d+|\d+d|\w+::\d+)$/;
const SHAPE = /^m[1-9][0-9]{0,3}n[1-9][0-9]{0,3}(?:k[1-9][0-9]{0,3})?$/;
const MOST_FORMS = 2000;
const MOST_NEAR = 3;
const LEAST = 3;
const MOST_LISTED = 12;

// `isa` holds `spaces` and `memory`, the names of state spaces, `scopes`, and what others call qualifiers, `elsewhere`.
export function problemsOf(spec, qualifiers, isa) {
  if (qualifiers.length > MOST_QUALIFIERS) return [{ kind: "too-many", most: MOST_QUALIFIERS }];
  const resolution = resolve(spec, qualifiers, -1, isa.memory);
  if (resolution.form) return [];
  const passed = new Set([...resolution.ignored, ...resolution.repeated]);
  const kept = qualifiers.map((word, place) => [place, word]).filter(([place]) => !passed.has(place));
  const pool = makePool(spec, new Set(kept.map(([, word]) => word)), isa);
  for (const find of [unknown, repeated, clashes, missing, outOfPlace, disordered, broken]) {
    const found = find(pool, kept);
    if (found.length) return found;
  }
  return [{ kind: "no-form" }];
}

function makePool(spec, words, isa) {
  const few = spec.lines.reduce((sum, line) => sum + line.spellings, 0) <= MOST_FORMS;
  if (few && !spec.allForms) spec.allForms = formsOf(spec);
  const forms = few ? spec.allForms : nearbyForms(spec, words, MOST_FORMS);
  const slots = new Map();
  for (const line of spec.lines)
    for (const slot of line.slots)
      for (const word of slot.values) {
        slots.set(word, (slots.get(word) || new Set()).add(slot.name));
      }
  return { spec, isa, forms, slots, vocabulary: [...slots.keys()], wordSets: forms.map((form) => new Set(form.words)) };
}

function fits(pool, words, at, other) {
  const form = resolve(pool.spec, [...words.slice(0, at), other, ...words.slice(at + 1)], -1, pool.isa.memory).form;
  return form !== null && !laxitiesOf(form).length;
}

function unknown(pool, kept) {
  const found = [];
  const words = kept.map(([, word]) => word);
  kept.forEach(([place, word], at) => {
    const taken = Object.hasOwn(pool.spec.misreads, word) ? pool.spec.misreads[word] : "";
    if (taken) {
      found.push({ kind: "misread", place, taken, expected: likeWords(pool, taken) });
    } else if (!pool.slots.has(word)) {
      const expected = likeWords(pool, word);
      const fitting = expected.filter((other) => fits(pool, words, at, other));
      const near = firstOf(
        calledElsewhere(pool, word, pool.vocabulary),
        () => longerWords(pool, words, at),
        () =>
          nearWord(
            word,
            firstOf(
              fitting,
              () => expected,
              () => pool.vocabulary,
            ),
          ),
      );
      found.push({ kind: "unknown", place, near, expected: fitting.length ? fitting : expected });
    }
  });
  return found;
}

function firstOf(first, ...others) {
  let found = first;
  for (const other of others) if (!found.length) found = other();
  return found;
}

function longerWords(pool, words, at) {
  const longer = pool.vocabulary.filter((other) => other.split(/_|::/).includes(words[at]));
  const fitting = longer.filter((other) => fits(pool, words, at, other));
  return fitting.length ? fitting : longer.slice(0, MOST_NEAR);
}

function calledElsewhere(pool, word, known) {
  const low = word.toLowerCase();
  const name = Object.hasOwn(pool.isa.elsewhere, low) ? pool.isa.elsewhere[low] : "";
  if (known.includes(name)) return [name];
  const letters = /^[A-Za-z]+$/.test(word);
  const shorter = known.filter((other) => other.length >= LEAST && letters && low.startsWith(other));
  return shorter.sort((a, b) => a.length - b.length).slice(-1);
}

function nearWord(word, known) {
  return SHAPE.test(word) || NUMBERED.test(word) ? [] : nearMisses(word, known, 3).slice(0, 1);
}

// The qualifiers of the instruction that are of the same sort as a word.
function likeWords(pool, word) {
  const isSpace = (each) => pool.isa.spaces.includes(each.split("::")[0]);
  const sorts = [
    (each) => SHAPE.test(each),
    isType,
    isSpace,
    (each) => /^x[0-9]+$/.test(each),
    (each) => pool.isa.scopes.includes(each),
  ];
  const sort = sorts.find((is) => is(word));
  if (sort) return pool.vocabulary.filter(sort);
  if (!NUMBERED.test(word)) return [];
  const bare = (each) => each.replace(/\d+/g, "");
  return pool.vocabulary.filter((other) => other !== word && bare(other) === bare(word));
}

function pairsOf(rows) {
  return rows.flatMap((first, at) => rows.slice(at + 1).map((second) => [first, second]));
}

function repeated(pool, kept) {
  const found = [];
  for (const [[first, word], [place, other]] of pairsOf(kept)) {
    const slots = pool.slots.get(word);
    const others = pool.slots.get(other);
    if (word === other) {
      const twice = pool.forms.some((form) => form.words.filter((each) => each === word).length > 1);
      if (!twice) found.push({ kind: "repeated", place, first });
    } else if (slots && others && slots.size === 1 && others.size === 1 && [...slots][0] === [...others][0]) {
      found.push({ kind: "crowded", place, first, slot: [...slots][0] });
    }
  }
  return found;
}

// Pairs that no form has together; the word with the most clashes goes first, of equals the later one.
function clashes(pool, kept) {
  const word = new Map(kept);
  const apart = ([a, b]) => !pool.wordSets.some((words) => words.has(word.get(a)) && words.has(word.get(b)));
  let pairs = pairsOf(kept.map(([place]) => place)).filter(apart);
  const found = [];
  let left = [...kept];
  while (pairs.length) {
    const tally = pairs.flat();
    const rank = (each) => [
      tally.filter((one) => one === each).length,
      Number(isIdle(pool, left, each)),
      rankOfWord(pool, word.get(each)),
    ];
    const place = tally.reduce((best, each) => (isGreater(rank(each), rank(best)) ? each : best));
    const pair = pairs.find((each) => each.includes(place));
    const other = pair[0] + pair[1] - place;
    pairs = pairs.filter((each) => !each.includes(place));
    const rest = left.filter(([each]) => each !== other);
    left = left.filter(([each]) => each !== place);
    const both = new Set([word.get(place), word.get(other)]);
    const [why] = reasonOf(pool, both, both);
    found.push({
      kind: "clash",
      place,
      other,
      why,
      instead: additions(
        pool,
        left.map(([, one]) => one),
      ),
      insteadOfOther: additions(
        pool,
        rest.map(([, one]) => one),
      ),
    });
  }
  return found;
}

function isGreater(first, second) {
  const at = first.findIndex((one, place) => one !== second[place]);
  return at >= 0 && first[at] > second[at];
}

// Whether the words name a form without the one at a place, which says no type.
function isIdle(pool, words, place) {
  const here = words.find(([each]) => each === place)[1];
  const rest = words.filter(([each]) => each !== place).map(([, word]) => word);
  return !isType(here) && additions(pool, rest).some((row) => !row.length);
}

function rankOfWord(pool, word) {
  return Math.max(...pool.spec.lines.filter((line) => line.slotsOf.has(word)).map((line) => line.slotsOf.get(word)[0]));
}

// The reason of a constraint on words of `about` that applies to `words`, and which of these ask for it.
function reasonOf(pool, words, about) {
  const slots = new Set([...about].flatMap((word) => [...(pool.slots.get(word) || [])]));
  for (const constraint of pool.spec.constraints) {
    const values = constraint.when.map(([, allowed]) => allowed.filter((word) => words.has(word)));
    const required = constraint.require.some(([name]) => slots.has(name));
    if (required && values.every((each) => each.length)) return [constraint.why, new Set(values.flat())];
  }
  return ["", new Set()];
}

function missing(pool, kept) {
  const words = kept.map(([, word]) => word);
  const ordered = additions(pool, words, true);
  const rows = ordered.some((row) => row.length) ? ordered : additions(pool, words);
  if (!rows.some((row) => row.length)) return [];
  const wanted = [...rows[0], ...words];
  const form = pool.forms[pool.wordSets.findIndex((own) => wanted.every((word) => own.has(word)))];
  const earlier = new Set(form.words.slice(0, form.words.indexOf(rows[0][0])));
  const after = Math.max(-1, ...kept.filter(([, word]) => earlier.has(word)).map(([place]) => place));
  const [why, asking] = reasonOf(pool, new Set(words), new Set(rows.length === 1 ? rows[0] : []));
  const because = kept.find(([, word]) => asking.has(word));
  return [{ kind: "missing", additions: rows, after, because: because ? because[0] : -1, why }];
}

// The smallest rows of qualifiers that make legal forms of `words`, each in the manual's order.
function additions(pool, words, inOrder = false) {
  const written = tallyOf(words);
  const types = words.filter(isType).join();
  const rows = [];
  pool.forms.forEach((form, place) => {
    if (!words.every((word) => pool.wordSets[place].has(word)) || !isPart(written, tallyOf(form.words))) return;
    if (!inOrder || form.words.filter(isType).join() === types) rows.push(without(form.words, written));
  });
  const sets = new Map(rows.map((row) => [row.join("."), new Set(row)]));
  const distinct = [...sets.values()];
  const isBelow = (one, other) => one.size < other.size && [...one].every((word) => other.has(word));
  const smallest = new Map();
  for (const row of rows) {
    const key = row.join(".");
    if (!smallest.has(key) && !distinct.some((other) => isBelow(other, sets.get(key)))) smallest.set(key, row);
  }
  return [...smallest.values()];
}

function tallyOf(words) {
  const tally = new Map();
  for (const word of words) tally.set(word, (tally.get(word) || 0) + 1);
  return tally;
}

function isPart(tally, whole) {
  return [...tally].every(([word, count]) => count <= (whole.get(word) || 0));
}

function without(words, taken) {
  const left = new Map(taken);
  return words.filter((word) => {
    const count = left.get(word) || 0;
    if (count) left.set(word, count - 1);
    return !count;
  });
}

function outOfPlace(pool, kept) {
  const words = kept.map(([, word]) => word);
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (isType(word) || SHAPE.test(word) || pool.isa.spaces.includes(word.split("::")[0])) continue;
    const rest = [...words.slice(0, at), ...words.slice(at + 1)];
    if (resolve(pool.spec, rest, -1, pool.isa.memory).form)
      return [{ kind: "broken", place: kept[at][0], instead: [""], why: "" }];
    const single = additions(pool, rest, true)
      .filter((row) => row.length === 1)
      .map((row) => row[0]);
    const instead = single.filter((other) => fits(pool, words, at, other));
    if (instead.length) return [{ kind: "broken", place: kept[at][0], instead, why: "" }];
  }
  return [];
}

function disordered(pool, kept) {
  const key = (words) => [...words].sort().join();
  const mine = key(kept.map(([, word]) => word));
  if (!pool.forms.some((form) => key(form.words) === mine)) return [];
  for (const sort of [isType, (word) => pool.isa.spaces.includes(word.split("::")[0])]) {
    for (const [[first, word], [place, other]] of pairsOf(kept.filter(([, each]) => sort(each)))) {
      if (rankOfWord(pool, other) < rankOfWord(pool, word)) return [{ kind: "disordered", place, first }];
    }
  }
  return [];
}

function broken(pool, kept) {
  const words = kept.map(([, word]) => word);
  const hard = pool.spec.constraints.filter((each) => !each.lax);
  const said = readingsOf(pool.spec, words, pool.isa.memory).flatMap(([, filling]) =>
    hard.filter((each) => !admits(each, filling)),
  );
  for (let at = words.length - 1; at >= 0; at -= 1) {
    const rows = pool.spec.lines.flatMap((line) => line.slots.filter((slot) => slot.values.includes(words[at])));
    const others = [...new Set(rows.flatMap((slot) => slot.values))].filter((other) => other !== words[at]);
    const instead = others.filter((other) => fits(pool, words, at, other));
    if (instead.length) return [{ kind: "broken", place: kept[at][0], instead, why: said.length ? said[0].why : "" }];
  }
  return [];
}

// --- in words ---

export function spell(row) {
  return (Array.isArray(row) ? row : [row]).map((word) => `.${word}`).join("");
}

export function listing(rows) {
  let words = rows.map((row) => (row.length ? `\`${spell(row)}\`` : "nothing"));
  if (words.length > MOST_LISTED) words = [...words.slice(0, 4), `one of ${words.length - 4} others`];
  return words.length === 1 ? words[0] : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

// What is wrong with the qualifiers of an instruction, in one clause.
export function sentenceOf(opcode, qualifiers, problem) {
  const word = (place) => qualifiers[place];
  const any = (rows) => rows.some((row) => row.length);
  switch (problem.kind) {
    case "unknown":
      return `\`${opcode}\` takes no \`.${word(problem.place)}\`${hintOf(problem)}`;
    case "misread":
      return `\`${opcode}\` takes no \`.${word(problem.place)}\` (ptxas assembles it as \`.${problem.taken}\`); it takes ${listing(problem.expected)}`;
    case "repeated":
      return `\`.${word(problem.place)}\` appears twice in \`${opcode}\``;
    case "crowded":
      return `\`${opcode}\` takes one of \`.${word(problem.first)}\` and \`.${word(problem.place)}\`, not both`;
    case "disordered":
      return `\`.${word(problem.place)}\` must precede \`.${word(problem.first)}\` in \`${opcode}\``;
    case "clash": {
      const means = any(problem.instead) ? `; it takes ${listing(problem.instead)}` : "";
      return `\`${opcode}\` with \`.${word(problem.other)}\` takes no \`.${word(problem.place)}\`${means}`;
    }
    case "missing": {
      const subject = problem.because < 0 ? `\`${opcode}\`` : `\`${opcode}\` with \`.${word(problem.because)}\``;
      return `${subject} requires ${listing(problem.additions)}`;
    }
    case "too-many":
      return `\`${opcode}\` has ${qualifiers.length} qualifiers here; no instruction has more than ${problem.most}`;
    case "broken": {
      const takes = any(problem.instead) ? `; here it takes ${listing(problem.instead)}` : "; leave it out";
      return `\`.${word(problem.place)}\` does not go with the other qualifiers of this \`${opcode}\`${takes}`;
    }
    default:
      return `\`${opcode}${spell(qualifiers)}\` is not a form of \`${opcode}\``;
  }
}

function hintOf({ near, expected }) {
  if (near.length) return `; did you mean ${listing(near)}?`;
  return expected.length ? `; it takes ${listing(expected)}` : "";
}
