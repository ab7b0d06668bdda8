// What Python knows, unpacked and given names: fragments, accesses, descriptors, the ISA data.

import { makeAccess } from "./banks.js";
import { makeIsa } from "./check.js";
import { makeFragment } from "./fragment.js";

// What `packed` in assembly.py wrote: base64 of deflated JSON.
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

export function makeFacts(data) {
  const forms = new Map(data.forms.map((row) => [row[0], row]));
  const fragmentOf = (spelling, operand) => {
    const row = forms.get(spelling);
    const place = row ? row[1].indexOf(operand) : -1;
    return place < 0 ? null : makeFragment(data.fragments[row[2][place]], spelling, operand, data.evidence);
  };
  const registersOf = (spelling, operand) => fragmentOf(spelling, operand)?.registers || 0;
  return {
    spellings: [...forms.keys()],
    operandsOf: (spelling) => [...(forms.get(spelling)?.[1] || "")],
    fragmentOf,
    notesOf: (spelling, operand) => {
      const row = forms.get(spelling);
      return row[3][row[1].indexOf(operand)].map((place) => data.notes[place]);
    },
    accesses: new Map(Object.entries(data.accesses).map(([spelling, row]) => [spelling, makeAccess(spelling, row)])),
    elements: data.elements,
    generations: data.generations,
    modes: data.modes,
    factorTypes: data.factorTypes,
    dataTypes: data.dataTypes,
    mapWords: data.mapWords,
    sharedBytes: data.sharedBytes,
    isa: makeIsa({ ...data, registersOf }),
  };
}
