// Answers questions about the explorer's arithmetic: reads {scripts, facts, questions} from standard input, writes answers.

import { pathToFileURL } from "node:url";

let input = "";
for await (const piece of process.stdin) input += piece;
const { scripts, facts: data, questions } = JSON.parse(input);
const load = (name) => import(pathToFileURL(`${scripts}/${name}.js`).href);
const modules = {};
for (const name of ["facts", "fragment", "banks", "check", "forms", "mismatch", "statements", "descriptor", "tensor_map", "highlight", "tensor_memory"]) {
  modules[name] = await load(name);
}
const facts = modules.facts.makeFacts(data);
const ask = {
  at: (spelling, operand, places) => {
    const { elementAt, holderOf, holderLabel } = modules.fragment;
    const fragment = facts.fragmentOf(spelling, operand);
    return places.map(([lane, value]) => {
      const one = elementAt(fragment, lane, value);
      const back = holderOf(fragment, one.matrix, one.row, one.column);
      return [one.register, one.bit, one.matrix, one.row, one.column, holderLabel(fragment, back)];
    });
  },
  bands: (spelling, operand, cta, most) => {
    const fragment = facts.fragmentOf(spelling, operand);
    const { bandsOf, textsOf } = modules.tensor_memory;
    return bandsOf(fragment, cta, most).map((row) => row.map(({ lanes, columns, held }) => [lanes, columns, held.length ? textsOf(fragment, held) : []]));
  },
  sizes: (spelling, operand) => {
    const f = facts.fragmentOf(spelling, operand);
    return [f.registers, f.matrices, f.rows, f.columns, f.copies, f.evidence];
  },
  formulas: (spelling, operand) => {
    const fragment = facts.fragmentOf(spelling, operand);
    return Array.from({ length: fragment.registers }, (_, register) => modules.fragment.registerLine(fragment, register));
  },
  phases: (spelling, addresses) => {
    const access = facts.accesses.get(spelling);
    const phases = modules.banks.phasesOf(access, addresses).map(({ lanes, wavefronts, banks }) => (
      [lanes, wavefronts, [...banks].sort((a, b) => a[0] - b[0]).map(([bank, words]) => [bank, words.map((word) => word.address), words.map((word) => word.lanes)])]));
    const cost = modules.banks.costOfWarp(access, addresses);
    return [phases, cost.wavefronts, cost.ideal, cost.ways];
  },
  swizzles: (tile, asked) => {
    const { findSwizzles, kindsOfWarps, trafficOf, arrangementInCode } = modules.banks;
    const traffic = asked.map(([spelling, along]) => {
      const access = facts.accesses.get(spelling);
      return { access, kinds: kindsOfWarps(access, trafficOf(tile, access, along).places) };
    });
    const { plain, choices, best } = findSwizzles(tile, traffic);
    const say = (one) => {
      const { swizzle, paddingBytes } = one.arrangement;
      const { cute, expression } = arrangementInCode(tile, one.arrangement);
      return [paddingBytes, swizzle && [swizzle.bits, swizzle.base, swizzle.shift], one.wavefronts, one.ideal, cute, expression];
    };
    return [say(plain), choices.map(say), say(best)];
  },
  check: (text, platform) => modules.check.checkText(facts.isa, text, platform).findings.map((one) => (
    [one.rule, one.severity, one.message, one.start, one.end])),
  problems: (opcode, words) => modules.mismatch.problemsOf(facts.isa.spec(opcode), words, facts.isa)
    .map((one) => modules.mismatch.sentenceOf(opcode, words, one)),
  target: (name, range) => modules.check.isInRange(facts.isa, name, range),
  descriptor: (bits, generation, rows, columns, element, major) => {
    const { addressOf, fromBits, remarksOf, toBits, wordsOf } = modules.descriptor;
    const descriptor = fromBits(facts, BigInt(bits), generation);
    if (descriptor.problem) return null;
    const operand = { descriptor, rows, columns, element, major };
    const words = wordsOf(facts, BigInt(bits), generation).map((word) => [word.name, word.held]);
    const again = toBits(facts, descriptor).toString();
    if (descriptor.leadingIsAddress) return [again, words];
    const addresses = Array.from({ length: rows }, (_, row) => addressOf(facts, operand, row, (row * 7) % columns));
    return [again, words, addresses, remarksOf(facts, operand).map(({ name, wrong, text, advice }) => [name, wrong, text, advice])];
  },
  words: (text) => {
    const known = new Set(facts.isa.opcodes);
    let isComment = false;
    return text.split("\n").map((line) => {
      const found = modules.highlight.wordsOf(line, isComment, known);
      isComment = found.isComment;
      return found.words;
    });
  },
  tile: (tile) => {
    const { ofTile, toBits } = modules.descriptor;
    const made = ofTile(facts, tile);
    return made.problem ? null : toBits(facts, made.descriptor).toString();
  },
  box: (map, coordinate, sharedAddress) => {
    const { boxRemarks, filledOf, mapWords, placeOf, refusal, rowOf, transactionBytes, countsOf } = modules.tensor_map;
    const refused = refusal(facts, map);
    if (refused) return refused;
    const box = { map, coordinate, sharedAddress };
    const last = countsOf(map).map((count) => count - 1);
    const places = [last.map(() => 0), last, last.map((count) => Math.floor(count / 2))].map((index) => {
      const place = placeOf(facts, box, index);
      return [place.coordinate, place.isInside, place.globalAddress, place.sharedAddress];
    });
    const row = rowOf(facts, box, 0).map((chunk) => [chunk.sharedAddress, chunk.coordinate, chunk.elements, chunk.inside]);
    const said = boxRemarks(facts, box).map(({ name, wrong, text, advice }) => [name, wrong, text, advice]);
    return [mapWords(facts, map), places, row, filledOf(box), transactionBytes(facts, map), said];
  },
};
process.stdout.write(JSON.stringify(questions.map(([kind, ...of]) => ask[kind](...of))));
