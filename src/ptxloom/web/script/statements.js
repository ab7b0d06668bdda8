// Instructions in a text: opcode, qualifiers and operands, each with its place. Anything else is skipped;
// what cannot be read for certain is said to be so.

const SPACE = /(?:[ \t\r\n\f\v]+|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;
const NAME = /[A-Za-z][A-Za-z0-9_$]*|[_$%][A-Za-z0-9_$]+|_/y;
const DOTTED = /\.[A-Za-z0-9_$]+(?:::[A-Za-z0-9_]+)*(?:(?<=\.sp::[124]):\d+)?/y;
const NUMBER =
  /0[fF][0-9a-fA-F]{8}(?![\w$])|0[dD][0-9a-fA-F]{16}(?![\w$])|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+U?/y;
const STRING = /"(?:[^"\\\n]|\\[^\n])*"/y;
const REST_OF_LINE = /[^\n]*/y;
const LINE_DIRECTIVES = [".loc", ".file"];
const OPEN = { "(": ")", "[": "]", "{": "}" };
const MOST_OPERANDS = 1000;

export function readStatements(text) {
  const reader = { text, at: 0, found: [], version: null, target: null };
  while (skipSpace(reader) < text.length) {
    const start = reader.at;
    readOne(reader);
    if (reader.at <= start) reader.at = start + 1;
  }
  return reader;
}

function skipSpace(reader) {
  SPACE.lastIndex = reader.at;
  SPACE.exec(reader.text);
  reader.at = Math.max(reader.at, SPACE.lastIndex);
  if (reader.text.startsWith("/*", reader.at)) {
    unread(reader, reader.at, "a comment is not closed");
    reader.at = reader.text.length;
  }
  return reader.at;
}

function take(reader, pattern) {
  pattern.lastIndex = reader.at;
  const match = pattern.exec(reader.text);
  if (match) reader.at = pattern.lastIndex;
  return match ? match[0] : "";
}

function unread(reader, start, why) {
  reader.found.push({ unread: why, start, end: Math.min(reader.text.length, start + 1) });
}

function readOne(reader) {
  const { text } = reader;
  const start = reader.at;
  if (text[start] === ".") readDirective(reader);
  else if (text[start] === "@") readGuarded(reader, start);
  else if (text[start] === "#" || text[start] === '"') take(reader, REST_OF_LINE);
  else if ("{};".includes(text[start])) reader.at += 1;
  else {
    const name = take(reader, NAME);
    if (!name) return unreadLine(reader, start, "this starts no statement");
    const after = reader.at;
    skipSpace(reader);
    if (text[reader.at] === ":") reader.at += 1;
    else readInstruction(reader, start, name, after);
  }
  return undefined;
}

function unreadLine(reader, start, why) {
  unread(reader, start, why);
  take(reader, REST_OF_LINE);
}

function readGuarded(reader, start) {
  reader.at += 1;
  skipSpace(reader);
  if (reader.text[reader.at] === "!") reader.at += 1;
  skipSpace(reader);
  if (!take(reader, NAME)) return unreadLine(reader, start, "a guard names no register");
  skipSpace(reader);
  const at = reader.at;
  const name = take(reader, NAME);
  if (!name) return unreadLine(reader, start, "a guard has no instruction");
  return readInstruction(reader, at, name, reader.at);
}

// A directive, up to its end; the version and the target are kept.
function readDirective(reader) {
  const start = reader.at;
  const word = take(reader, DOTTED);
  if (!word) return unreadLine(reader, start, "this starts no statement");
  skipSpace(reader);
  if (word === ".version") reader.version ??= { text: take(reader, /[0-9]+\.[0-9]+/y), start, end: reader.at };
  else if (word === ".target") readTarget(reader, start);
  else if (word === ".address_size") take(reader, NUMBER);
  else if (LINE_DIRECTIVES.includes(word)) take(reader, REST_OF_LINE);
  else skipDirective(reader, word);
  return undefined;
}

function readTarget(reader, start) {
  const names = [];
  do {
    skipSpace(reader);
    names.push(take(reader, NAME));
    skipSpace(reader);
  } while (reader.text[reader.at] === "," && ++reader.at);
  reader.target ??= { text: names.find((name) => name.startsWith("sm_")) || "", start, end: reader.at };
}

// Past a declaration's semicolon, or up to the brace that opens a function or a section.
function skipDirective(reader, word) {
  const isOpened = [".entry", ".func", ".visible", ".weak", ".extern", ".section", ".common"].includes(word);
  let before = "";
  while (skipSpace(reader) < reader.text.length) {
    const here = reader.text[reader.at];
    if (here === ";") {
      reader.at += 1;
      return;
    }
    if (here === "{" && isOpened && before !== "=") {
      if (word === ".section") skipBlock(reader);
      return;
    }
    if (!take(reader, STRING)) reader.at += 1;
    before = here;
  }
}

function skipBlock(reader) {
  const end = reader.text.indexOf("}", reader.at);
  reader.at = end < 0 ? reader.text.length : end + 1;
}

function readInstruction(reader, start, opcode, after) {
  const statement = { opcode, start, end: after, words: [], places: [[start, start + opcode.length]], operands: [] };
  reader.at = after;
  for (;;) {
    skipSpace(reader);
    const at = reader.at;
    const word = reader.text[at] === "." ? take(reader, DOTTED) : "";
    if (!word) break;
    statement.words.push(word.slice(1));
    statement.places.push([at, at + word.length]);
  }
  statement.nameEnd = statement.places.at(-1)[1];
  const why = readOperands(reader, statement);
  statement.end = reader.at;
  if (why) {
    unread(reader, start, why);
    take(reader, REST_OF_LINE);
  } else {
    reader.found.push(statement);
  }
}

// Operands up to the semicolon; a sentence where they cannot be told apart.
function readOperands(reader, statement) {
  const { text } = reader;
  for (;;) {
    skipSpace(reader);
    if (text[reader.at] === ";" && !statement.operands.length) {
      reader.at += 1;
      return "";
    }
    const operand = readOperand(reader);
    if (typeof operand === "string") return operand;
    statement.operands.push(operand);
    if (statement.operands.length > MOST_OPERANDS) return "it has too many operands";
    skipSpace(reader);
    const mark = text[reader.at];
    if (mark !== "," && mark !== ";") return "it does not end in `;` here";
    reader.at += 1;
    if (mark === ";") return "";
  }
}

function readOperand(reader) {
  const start = reader.at;
  const look = "[{".includes(reader.text[start] || " ") ? reader.text[start] : ".";
  const inside = { commas: 0, bars: 0 };
  let before = "";
  for (;;) {
    skipSpace(reader);
    const here = reader.text[reader.at];
    if (here === undefined) return "the text ends before its `;`";
    if (here === "," || here === ";") break;
    if (here === "." && before === "value" && take(reader, DOTTED)) continue;
    const kind = readPart(reader, here, inside);
    if (!kind) return `\`${here}\` is not read here`;
    if (kind === "value" && before === "value" && here !== "[") return "it does not end in `;` here";
    before = kind;
  }
  if (before !== "value") return "an operand is missing";
  let end = reader.at;
  while (/\s/.test(reader.text[end - 1])) end -= 1;
  return { start, end, look, inside: inside.commas, isPair: inside.bars > 0 };
}

// One token, or all that a bracket holds: a "value", or a "sign" between values; nothing where it is neither.
function readPart(reader, here, inside) {
  if (Object.hasOwn(OPEN, here)) return readBracket(reader, here, inside) ? "value" : "";
  if (take(reader, NAME) || take(reader, NUMBER) || take(reader, STRING)) return "value";
  if (!"+-!~|*/%&^<>=?:".includes(here)) return "";
  if (here === "|") inside.bars += 1;
  reader.at += 1;
  return "sign";
}

// Past a bracket and all that it holds; counts the commas directly inside.
function readBracket(reader, opening, inside) {
  const waiting = [OPEN[opening]];
  reader.at += 1;
  while (waiting.length) {
    skipSpace(reader);
    const here = reader.text[reader.at];
    if (here === undefined || here === ";") return false;
    if (Object.hasOwn(OPEN, here)) waiting.push(OPEN[here]);
    else if (here === waiting.at(-1)) waiting.pop();
    else if (")]}".includes(here)) return false;
    else if (here === "," && waiting.length === 1) inside.commas += 1;
    if (!(here === "." && take(reader, DOTTED)) && !take(reader, NAME) && !take(reader, NUMBER)) reader.at += 1;
  }
  return true;
}
