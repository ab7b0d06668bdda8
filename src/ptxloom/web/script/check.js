// What can be said about instructions from the ISA data alone: opcode, qualifiers, number of operands, registers of a
// fragment, PTX version and target. Names, types and all else are `ptxloom check`'s to judge.

import { countsOf, isWithin, resolve, slotsFor, makeSpec } from "./forms.js";
import { problemsOf, listing, sentenceOf, spell } from "./mismatch.js";
import { nearMisses } from "./spelling.js";
import { readStatements } from "./statements.js";

const MOVES = ["ldmatrix", "stmatrix", "movmatrix"];
const BY_WORD = { trans: "missing-trans", aligned: "missing-aligned", sync: "missing-aligned" };
const SPELLING = /^sm_([1-9][0-9]{1,3})([af]?)$/;

// The ISA data with what is made of it on first use.
export function makeIsa(facts) {
  const specs = new Map();
  return {
    spaces: facts.spaces,
    memory: facts.memory,
    opcodes: facts.opcodes,
    targets: facts.targets,
    versions: facts.versions,
    renamed: facts.renamed,
    elsewhere: facts.elsewhere,
    scopes: facts.scopes,
    registersOf: facts.registersOf || (() => 0),
    spec(opcode) {
      if (!Object.hasOwn(facts.specs, opcode)) return null;
      if (!specs.has(opcode)) specs.set(opcode, makeSpec(opcode, facts.specs[opcode]));
      return specs.get(opcode);
    },
  };
}

// The findings about a text, in its order, and how many instructions were looked at.
export function checkText(isa, text, platform) {
  const read = readStatements(text);
  const of = {
    version: platform.version || knownOf(isa.versions, read.version),
    target: platform.target || knownOf(isa.targets, read.target),
    versionSays: !platform.version && Boolean(read.version),
    targetSays: !platform.target && Boolean(read.target),
  };
  const findings = [];
  let checked = 0;
  for (const statement of read.found) {
    if (statement.unread) {
      findings.push({
        rule: "",
        severity: "unread",
        message: `not read here: ${statement.unread}`,
        start: statement.start,
        end: statement.end,
      });
    } else {
      const found = checkStatement(isa, statement, of, text);
      checked += found.known ? 1 : 0;
      findings.push(...found.findings);
    }
  }
  return { findings, checked, statements: read.found.length, platform: of };
}

function knownOf(known, said) {
  return said && known.includes(said.text) ? said.text : "";
}

function checkStatement(isa, statement, platform, text) {
  const spec = isa.spec(statement.opcode);
  if (!spec) {
    return { known: false, findings: isa.opcodes.includes(statement.opcode) ? [] : [stranger(isa, statement)] };
  }
  const problems = problemsOf(spec, statement.words, isa);
  const findings = problems.map((problem) => qualifierFinding(spec, statement, problem));
  const form = problems.length ? null : formOf(isa, spec, statement);
  if (form) {
    const features = spec.features.filter((feature) => usesFeature(form, feature, statement));
    findings.push(
      ...versionFindings(isa, statement, form, features, platform),
      ...targetFindings(isa, statement, form, features, platform),
      ...goneFindings(isa, statement, form, features, platform),
      ...countFindings(statement, form),
      ...lengthFindings(isa, statement, form, text),
    );
  }
  return { known: true, findings: findings.map((each) => ({ severity: "error", section: spec.section, ...each })) };
}

function stranger(isa, statement) {
  const [near] = nearMisses(statement.opcode, isa.opcodes, 3);
  const [start, end] = statement.places[0];
  return {
    rule: "unknown-instruction",
    severity: "error",
    message: `\`${statement.opcode}\` is not an instruction of PTX`,
    start,
    end,
    label: near ? `did you mean \`${near}\`?` : "",
    section: "9.7",
  };
}

// The form; null where several have the spelling and only the operands tell them apart.
function formOf(isa, spec, statement) {
  const { form, others } = resolve(spec, statement.words, statement.operands.length, isa.memory);
  return others.length ? null : form;
}

function at(statement, place) {
  const [start, end] = statement.places[place + 1];
  return { start, end };
}

function qualifierFinding(spec, statement, problem) {
  const message = sentenceOf(spec.opcode, statement.words, problem);
  switch (problem.kind) {
    case "unknown": {
      const label =
        problem.expected.length && problem.near.length
          ? `found ${listing(problem.expected)}`
          : "no form of the instruction has it";
      return { rule: "unknown-qualifier", message, label, ...at(statement, problem.place) };
    }
    case "misread":
      return {
        rule: "misread-num",
        message,
        label: "the result is not what is written",
        ...at(statement, problem.place),
      };
    case "repeated":
    case "crowded":
      return { rule: "repeated-qualifier", message, ...at(statement, problem.place) };
    case "disordered":
      return { rule: "type-order", message, ...at(statement, problem.place) };
    case "clash": {
      const keeps = problem.insteadOfOther.some((row) => row.length);
      const help = keeps
        ? `or keep \`.${statement.words[problem.place]}\`: it goes with ${listing(problem.insteadOfOther)}`
        : "";
      return { rule: "qualifier-combination", message, label: problem.why, help, ...at(statement, problem.place) };
    }
    case "missing":
      return missingFinding(statement, problem, message);
    case "broken":
      return { rule: "no-form", message, label: problem.why, ...at(statement, problem.place) };
    default:
      return { rule: "no-form", message, ...at(statement, -1) };
  }
}

function missingFinding(statement, problem, message) {
  const rules = new Set(
    problem.additions.flat().map((word) => (Object.hasOwn(BY_WORD, word) ? BY_WORD[word] : "missing-qualifier")),
  );
  const single = problem.additions.length === 1;
  const after = statement.places[problem.after + 1][1];
  return {
    rule: rules.size === 1 ? [...rules][0] : "missing-qualifier",
    message,
    label: problem.why,
    ...at(statement, problem.because),
    help: single ? `add \`${spell(problem.additions[0])}\`` : `add one of ${listing(problem.additions)}`,
    fix: single ? { start: after, end: after, text: spell(problem.additions[0]) } : null,
  };
}

// --- availability: ptxloom.isa.target and the checker's rules about it ---

function versionNumber(text) {
  const [major, minor] = text.split(".").map(Number);
  return major * 100 + minor;
}

function currentNumber(isa, number) {
  return isa.renamed[number] || number;
}

export function isInRange(isa, name, range) {
  const target = SPELLING.exec(name);
  const [base, any] = range.split("+");
  const of = SPELLING.exec(base);
  const [number, least] = [Number(target[1]), Number(of[1])];
  if (any) return target[2] !== "" && number >= least;
  const [mine, theirs] = [currentNumber(isa, number), currentNumber(isa, least)];
  if (of[2] === "a") return target[2] === "a" && mine === theirs;
  if (of[2] === "f") return target[2] !== "" && Math.floor(mine / 10) === Math.floor(theirs / 10) && mine >= theirs;
  return number >= least;
}

function rangeWords(range) {
  if (range.endsWith("+af")) return `${range.slice(0, -3)} or later with suffix \`a\` or \`f\``;
  if (range.endsWith("a")) return range;
  return range.endsWith("f") ? `the family of ${range.slice(0, -1)}f` : `${range} or later`;
}

function condition(form, when) {
  return when.every(([name, values]) => {
    const held = form.filling.get(name);
    return values.includes(held) || (values[0].startsWith(".") && held === form.filling.get(values[0].slice(1)));
  });
}

function usesFeature(form, feature, statement) {
  const names = new Set(
    form.line.operands.flatMap((slot) => [slot.name, ...(slot.partner ? [slot.partner] : []), ...slot.extra]),
  );
  if (!condition(form, feature.when) || (feature.operand && !names.has(feature.operand))) return false;
  return !feature.operand || hasOperand(form, feature.operand, statement);
}

function hasOperand(form, name, statement) {
  const slots = slotsFor(form, statement.operands.length);
  for (let place = 0; place < slots.length; place += 1) {
    const [slot, written] = [slots[place], statement.operands[place]];
    if (slot.partner === name) return written.isPair;
    if (slot.spare.includes(name) && written.look === "[") return insideOf(slot, written.inside).includes(name);
  }
  return !slots.length || slots.some((slot) => [slot.name, slot.partner, ...slot.extra].includes(name));
}

function insideOf(slot, count) {
  const surplus = slot.extra.length - count;
  if (surplus < 0 || surplus > slot.spare.length) return [];
  const spare = slot.spare.slice(slot.spare.length - surplus);
  return slot.extra.filter((name) => !spare.includes(name));
}

// What needs a feature, and the first qualifier that asks for it.
function whatNeeds(statement, form, feature) {
  const asking = new Set(feature.when.map(([name]) => name));
  const words = [...form.filling].filter(([name, word]) => asking.has(name) && word).map(([, word]) => word);
  const name = [...form.filling].some(([slot]) => asking.has(slot))
    ? [statement.opcode, ...[...form.filling].filter(([slot]) => asking.has(slot)).map(([, word]) => word)].join(".")
    : statement.opcode;
  const wanted = new Set(feature.when.flatMap(([, values]) => values).filter(Boolean));
  const place = statement.words.findIndex((word) => wanted.has(word));
  return { name, words, ...at(statement, place) };
}

function leastVersion(isa, feature, target) {
  const here = feature.needs.filter(([, range]) => !target || !range || isInRange(isa, target, range));
  return (here.length ? here : feature.needs)
    .map(([version]) => version)
    .reduce((a, b) => (versionNumber(b) < versionNumber(a) ? b : a));
}

function versionFindings(isa, statement, form, features, { version, target, versionSays }) {
  if (!version || !features.length) return [];
  const needed = features.map((feature) => [leastVersion(isa, feature, target), feature]);
  const [least, feature] = needed.reduce((a, b) => (versionNumber(b[0]) > versionNumber(a[0]) ? b : a));
  if (versionNumber(least) <= versionNumber(version)) return [];
  const { name, start, end } = whatNeeds(statement, form, feature);
  const message = `\`${name}\` needs PTX ${least} or later; ${versionSays ? "the module says" : "it is checked for"} ${version}`;
  return [{ rule: "needs-version", message, label: `new in PTX ${least}`, start, end }];
}

function targetFindings(isa, statement, form, features, { target, targetSays }) {
  if (!target) return [];
  const lacking = features.filter(
    (feature) => !feature.needs.some(([, range]) => !range || isInRange(isa, target, range)),
  );
  if (!lacking.length) return [];
  const feature = lacking.at(-1);
  const ranges = [
    ...new Set(
      feature.needs
        .map(([, range]) => range)
        .filter(Boolean)
        .map(rangeWords),
    ),
  ].join(", or ");
  const { name, start, end } = whatNeeds(statement, form, feature);
  const message = `\`${name}\` needs ${ranges}; ${targetSays ? "the module says" : "it is checked for"} ${target}`;
  return [{ rule: "needs-target", message, label: `not on ${target}`, start, end }];
}

function goneFindings(isa, statement, form, features, { version, target }) {
  if (!version || !target) return [];
  const isGone = ({ gone }) =>
    gone && versionNumber(version) >= versionNumber(gone[0]) && (!gone[1] || isInRange(isa, target, gone[1]));
  return features.filter(isGone).map((feature) => {
    const { name, start, end } = whatNeeds(statement, form, feature);
    const since = `PTX ${feature.gone[0]}${feature.gone[1] ? ` and ${rangeWords(feature.gone[1])}` : ""}`;
    return { rule: "needs-version", message: `\`${name}\` is gone in ${since}`, label: feature.name, start, end };
  });
}

// What a form needs, as a phrase: the versions and targets of all its features.
export function needsOf(isa, spelling) {
  const [opcode, ...words] = spelling.split(".");
  const spec = isa.spec(opcode);
  const form = spec && resolve(spec, words, -1, isa.memory).form;
  if (!form) return "";
  const features = spec.features.filter((feature) => condition(form, feature.when) && !feature.operand);
  const has = (version, target) =>
    features.every(({ needs }) =>
      needs.some(
        ([least, range]) => versionNumber(version) >= versionNumber(least) && (!range || isInRange(isa, target, range)),
      ),
    );
  const newest = isa.versions.at(-1);
  const on = isa.targets.filter((target) => has(newest, target));
  const since = isa.versions.find((version) => on.some((target) => has(version, target)));
  return on.length && since ? `PTX ${since} or later; ${rangeOfTargets(isa, on)}` : "";
}

// Targets in few words: all from one on, or by name.
function rangeOfTargets(isa, on) {
  const isAll = isa.targets.slice(isa.targets.indexOf(on[0])).every((target) => on.includes(target));
  return isAll && on.length > 1 ? `${on[0]} or later` : on.join(", ");
}

// --- operands ---

function nameOf(statement, form) {
  const lead = statement.words.findIndex((word) => !form.spec.leads.has(word));
  return [statement.opcode, ...statement.words.slice(0, lead < 0 ? statement.words.length : lead)].join(".");
}

function countFindings(statement, form) {
  const counts = countsOf(form);
  const found = statement.operands.length;
  if (isWithin(found, counts) || statement.opcode === "call") return [];
  const numbers = Array.from({ length: counts[1] - counts[0] + 1 }, (_, more) => counts[0] + more);
  const [fewer, most] = [numbers.slice(0, -1), numbers.at(-1)];
  const many = fewer.length ? `${fewer.join(", ")} or ${most}` : String(most || "no");
  const written = slotsFor(form, most).map(slotSpelling).join(", ");
  const place = found
    ? { start: statement.operands.at(-1).start, end: statement.operands.at(-1).end }
    : at(statement, -1);
  const message = `\`${nameOf(statement, form)}\` takes ${many} operand${most === 1 ? "" : "s"}, not ${found}`;
  return [{ rule: "operand-count", message, help: written ? `its operands are \`${written}\`` : "", ...place }];
}

function slotSpelling(slot) {
  if (slot.bracketed) return `[${[slot.name, ...slot.extra].join(", ")}]`;
  return slot.partner ? `${slot.name}|${slot.partner}` : slot.name;
}

// The spelling that names the fragment: that of a move says no state space.
function plainSpelling(form, isMove) {
  const words = form.words.filter((word) => !isMove || !word.startsWith("shared"));
  return [form.spec.opcode, ...words].join(".");
}

// Vectors in braces that hold the elements of a matrix: as many registers as its fragment has.
function lengthFindings(isa, statement, form, text) {
  const slots = slotsFor(form, statement.operands.length);
  const isMove = MOVES.includes(statement.opcode);
  const found = [];
  slots.forEach((slot, place) => {
    const operand = statement.operands[place];
    const expected =
      form.spec.operands.get(slot.name).kind === "fragment"
        ? isa.registersOf(plainSpelling(form, isMove), slot.name)
        : 0;
    const isVector = operand.look === "{" && text[operand.end - 1] === "}";
    const count = operand.inside + 1;
    if (!expected || !isVector || count === expected) return;
    const shape = [statement.opcode, form.filling.get("shape"), form.filling.get("num")].join(".");
    const message = isMove
      ? `\`${shape}\` moves ${expected} ${expected === 1 ? "register" : "registers"} of each thread, not ${count}`
      : `\`${nameOf(statement, form)}\` takes a vector of ${expected} here, not of ${count}`;
    found.push({
      rule: "vector-length",
      message,
      label: `${count} ${count === 1 ? "element" : "elements"} here`,
      start: operand.start,
      end: operand.end,
    });
  });
  return found;
}
