// What a link says, read with care: numbers within bounds, one of some words, and nothing else.

export function readNumber(params, name, otherwise, least = 0, most = 2 ** 48) {
  const text = params.get(name);
  if (text === null || !/^-?(?:\d{1,15}|0x[0-9a-fA-F]{1,12})$/.test(text)) return otherwise;
  const value = text.startsWith("-") ? -Number(text.slice(1)) : Number(text);
  return value >= least && value <= most ? value : otherwise;
}

export function readWord(params, name, words, otherwise) {
  return words.includes(params.get(name)) ? params.get(name) : otherwise;
}

// Numbers with commas between them; nothing if it is not that.
export function readList(text, most = 5) {
  const words = String(text ?? "")
    .split(/[\s,x]+/)
    .filter(Boolean);
  const isList = words.length && words.length <= most && words.every((word) => /^-?\d{1,15}$/.test(word));
  return isList ? words.map(Number) : null;
}
