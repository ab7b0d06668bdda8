// The words of PTX in a line of text, each with its kind; a comment may go on into the next line.

const WORD =
  /\/\/.*|\/\*|"(?:\\.|[^"\\])*"?|%?[A-Za-z_$%][\w$]*|\.[A-Za-z_][\w:]*|0[fFdDxXbB][0-9A-Fa-f]+U?|\d[\w.]*|\s+|[^]/g;

// `opcodes` is a set. The words as [start, end, kind], those of no kind left out, and whether a comment is open at the end.
export function wordsOf(line, isComment, opcodes) {
  const words = [];
  let start = 0;
  if (isComment) {
    const end = line.indexOf("*/");
    if (end < 0) return { words: line ? [[0, line.length, "comment"]] : [], isComment: true };
    start = end + 2;
    words.push([0, start, "comment"]);
  }
  let isFirst = true; // of a statement: where an opcode stands
  let isGuard = false; // the predicate before it
  WORD.lastIndex = start;
  for (let found = WORD.exec(line); found; found = WORD.exec(line)) {
    const text = found[0];
    if (text === "/*") {
      const close = line.indexOf("*/", found.index + 2);
      words.push([found.index, close < 0 ? line.length : close + 2, "comment"]);
      if (close < 0) return { words, isComment: true };
      WORD.lastIndex = close + 2;
      continue;
    }
    const kind = kindOf(text, line, WORD.lastIndex, isFirst && !isGuard, opcodes);
    if (kind) words.push([found.index, WORD.lastIndex, kind]);
    isFirst = /^[;{}:]$/.test(text) || (isFirst && (isGuard || text === "@" || !text.trim()));
    isGuard = isFirst && (text === "@" || (isGuard && /^[!\s]/.test(text)));
  }
  return { words, isComment: false };
}

function kindOf(text, line, end, isFirst, opcodes) {
  if (text.startsWith("//")) return "comment";
  if (text.startsWith('"')) return "string";
  if (text.startsWith("%")) return "register";
  if (/^\.[A-Za-z_]/.test(text)) return "qualifier";
  if (/^\d/.test(text)) return "number";
  if (!/^[A-Za-z_$]/.test(text)) return "";
  if (isFirst && /^\s*:(?!:)/.test(line.slice(end))) return "label";
  return isFirst && opcodes.has(text) ? "opcode" : "";
}
