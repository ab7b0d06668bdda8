"""Text to tree: statements one after the other, scopes on a stack, every problem a diagnostic (PTX ISA 4)."""

from __future__ import annotations

import gc
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import Diagnostic, Fix, Severity, in_order, must_be
from ptxloom.source import Source, Span
from ptxloom.syntax.declarations import (
    LINKAGES,
    STARTS,
    attributes,
    declaration,
    parameters,
    performance_directives,
)
from ptxloom.syntax.directives import CLOSED, UNCLOSED
from ptxloom.syntax.fast import FastReader
from ptxloom.syntax.lexer import MOST_PROBLEMS, Cursor, Problem
from ptxloom.syntax.module import Module
from ptxloom.syntax.node import ended
from ptxloom.syntax.operands import operands
from ptxloom.syntax.recovery import BLANK, BODY, CLOSING, FUNCTION, LOST, SCOPE, STATEMENT, UNNAMED, resume
from ptxloom.syntax.scopes import Header, Scopes
from ptxloom.syntax.sections import section
from ptxloom.syntax.tree import (
    Instruction,
    Label,
    Malformed,
    Predicate,
)

if TYPE_CHECKING:
    from ptxloom.syntax.tree import Attribute, Operand, Statement

_LONG: Final = 4_000
"""The length of text from which the collector does not scan a tree. Checking for frozen objects counts them: if a
program froze a million objects, that takes longer than parsing a few lines."""


def parse(text: str, name: str = "<string>", *, fast: bool = True) -> Module:
    """Parse PTX. No text raises an error: the module's diagnostics report malformed parts.

    Args:
        text: A whole module, or any sequence of statements.
        name: The name of the text in diagnostics, usually its path.
        fast: Use the fast path for ordinary statements; the result is the same.

    Returns:
        The module, with everything that could be parsed.

    Raises:
        UsageError: `text` is not a string.

    Example:
        >>> parse("ld.shared.u32 %r1, [%r2+4];").statements[0].opcode
        'ld'
    """
    must_be(str, "text", text, "a string; `ptxloom.load(path)` reads a file")
    return parse_source(Source(text, name), fast=fast)


def parse_source(source: Source, *, fast: bool = True) -> Module:
    """Parse the PTX of a source, which knows its compiled program; otherwise as `parse`."""
    parser = Parser(source, fast=fast)
    collecting = gc.isenabled()
    gc.disable()  # a tree has no cycles: searching for them while it grows would take a third of the time
    try:
        statements = parser.module()
    finally:
        if collecting:
            if len(source.text) >= _LONG and not gc.get_freeze_count():
                gc.freeze()  # freeze and unfreeze: new objects count as old, and are not scanned at the next chance
                gc.unfreeze()
            gc.enable()
    return Module(source, statements, in_order(parser.diagnostics), is_as_read=True)


class Parser(Scopes):
    """Reads one source; between calls of `_statement` the current token is the first of a statement."""

    def __init__(self, source: Source, *, fast: bool = True) -> None:
        super().__init__(source)
        self.fast: Final = FastReader(source) if fast else None
        self.text: Final = source.text
        self.cursor: Final = Cursor(source.text, short=fast)

    def module(self) -> tuple[Statement, ...]:
        """Every statement of the text."""
        cursor = self.cursor
        cursor.seek(self._ordinary(0))
        while cursor.kind != "end":
            if len(self.diagnostics) >= MOST_PROBLEMS:
                self._give_up()
                break
            self._statement()
            if self.fast is not None:
                cursor.seek(self._ordinary(cursor.start))
        if self._scopes:
            self._unclosed(self._scopes[-1])
        while self._scopes:
            self._close(cursor.start)
        return tuple(self._out)

    def _ordinary(self, offset: int) -> int:
        """Read ordinary statements and the scopes between them; returns the start of the first other one."""
        if self.fast is None:
            return offset
        while True:
            offset, brace = self.fast.read(offset, self._out)
            if brace == "{" and SCOPE.match(self.text, offset):
                self._open(offset, offset, None)
            elif brace == "}" and self._scopes:
                self._close(offset + 1)
            else:
                return offset
            offset += 1

    # --- statements ---

    def _statement(self) -> None:
        """Read the current statement, of any kind, and go to the next."""
        start = self.cursor.start
        try:
            if self.cursor.kind == "name":
                self._named(start)
            elif self.cursor.kind == "dotted":
                self._directive(start)
            else:
                self._punctuated(start)
        except Problem as problem:
            self._report(problem)
            self._skip(start, problem.start)
        if self.cursor.problems:
            for problem in self.cursor.problems:
                self._report(problem)
            self.cursor.problems.clear()

    def _punctuated(self, start: int) -> None:
        cursor = self.cursor
        match cursor.here:
            case "{" if SCOPE.match(self.text, start):
                self._open(start, start, None)
                cursor.advance()
            case "}":
                if self._scopes:
                    self._close(cursor.end)
                elif not self._reopened(cursor.end):
                    raise Problem("unmatched-brace", "`}` closes nothing", start, cursor.end, "no scope is open here")
                cursor.advance()
            case "@":
                self._instruction(start, self._guard())
            case ";":
                raise Problem(
                    "unexpected-token",
                    "found `;` where a statement should come",
                    start,
                    cursor.end,
                    "there is nothing to end here",
                    "remove the semicolon",
                )
            case _:
                raise cursor.unexpected("a statement")

    def _named(self, start: int) -> None:
        cursor = self.cursor
        if self.text.startswith(":", cursor.end):  # most labels: no need to skip spaces
            label = True
        else:
            ahead = Cursor(self.text)
            ahead.seek(cursor.end)
            label = ahead.here == ":"
            if not label and ahead.on_new_line and ahead.here != "{" and LOST.match(self.text, start):
                self._out.append(Label(cursor.advance(), source=self.source, start=start, end=cursor.behind))
                self._missing("incomplete-statement", "the label does not end in `:`", ":", "add the colon")
                return
        if not label:
            self._instruction(start, None)
            return
        name = cursor.advance()
        if name == "_":
            raise Problem("unexpected-token", "`_` is not a label", start, start + 1, "a label needs a name")
        cursor.advance()
        self._out.append(Label(name, source=self.source, start=start, end=cursor.behind))

    def _guard(self) -> Predicate:
        cursor = self.cursor
        start = cursor.start
        cursor.advance()
        negated = cursor.accept("!")
        name = cursor.name("a predicate register")
        return Predicate(name, negated, start=start, end=cursor.behind)

    def _instruction(self, start: int, predicate: Predicate | None) -> None:
        cursor = self.cursor
        opcode = cursor.word("an instruction")
        qualifiers: list[str] = []
        while cursor.kind == "dotted":
            qualifiers.append(cursor.advance()[1:])
        found: tuple[Operand, ...] = ()
        ended = cursor.here in {";", ""} or self._at_closing or (cursor.on_new_line and self._starts_statement())
        if not ended:
            found = operands(cursor, opcode)
        self._out.append(
            Instruction(
                predicate,
                opcode,
                tuple(qualifiers),
                found,
                source=self.source,
                start=start,
                end=cursor.end if cursor.here == ";" else cursor.behind,
            )
        )
        self._semicolon("instruction")

    def _directive(self, start: int) -> None:
        cursor = self.cursor
        word = cursor.here
        reader = UNCLOSED.get(word)
        if reader is not None:
            cursor.advance()
            self._out.append(reader(cursor, self.source, start))
            return
        reader = CLOSED.get(word)
        if reader is not None:
            cursor.advance()
            node = reader(cursor, self.source, start)
            self._out.append(ended(node, cursor.end) if cursor.here == ";" else node)
            self._semicolon("directive")
            return
        if UNNAMED.match(self.text, start):
            self._report(cursor.unexpected("`.section`"))
            self._out.append(section(cursor, self.source, start))
            return
        if word not in STARTS:
            raise self._unknown(word)
        linkage = cursor.advance()[1:] if word in LINKAGES else ""
        found = attributes(cursor) if cursor.accept(".attribute") else ()
        if cursor.here in {".entry", ".func"}:
            self._function(start, linkage, found, cursor.advance()[1:])
            return
        if linkage and (cursor.here == "(" or (cursor.kind == "name" and not cursor.at_statement)):
            self._report(cursor.unexpected("`.entry`, `.func` or a state space"))
            self._function(start, linkage, found, "func" if cursor.here == "(" else "entry")
            return
        node = declaration(cursor, self.source, start, linkage)
        if found:
            node = node.replace(attributes=found + node.attributes)
        self._out.append(ended(node, cursor.end) if cursor.here == ";" else node)
        self._semicolon("declaration")

    def _unknown(self, word: str) -> Problem:
        near = get_close_matches(word, (*UNCLOSED, *CLOSED, *STARTS), n=1)
        return Problem(
            "unknown-directive",
            f"`{word}` starts no statement",
            self.cursor.start,
            self.cursor.end,
            "no directive of this name stands here",
            f"did you mean `{near[0]}`?" if near else "",
        )

    def _semicolon(self, what: str) -> None:
        """Skip the semicolon of a statement that is already kept; report it if it is missing."""
        cursor = self.cursor
        if cursor.here == ";":
            cursor.advance()
            return
        if cursor.kind == "end" or self._at_closing or (cursor.on_new_line and self._starts_statement()):
            self._missing("missing-semicolon", f"the {what} does not end in `;`", ";", "add the semicolon")
            return
        self._out.pop()
        raise cursor.unexpected("`,` or `;`")

    def _missing(self, rule: str, message: str, mark: str, remedy: str) -> None:
        """Report that a mark is missing after the previous token, with a fix that adds it."""
        at = self.cursor.behind
        fix = Fix(remedy, Span(self.source, at, at), f" {mark}" if mark == "{" else mark)
        where = Span(self.source, max(at - 1, 0), at)
        self.diagnostics.append(Diagnostic(rule, Severity.ERROR, message, where, f"`{mark}` should follow", fix=fix))

    @property
    def _at_closing(self) -> bool:
        """Whether the current token is a brace that ends a scope."""
        return self.cursor.here == "}" and CLOSING.match(self.text, self.cursor.start) is not None

    def _starts_statement(self) -> bool:
        """Whether the current token, the first of its line, looks like the start of a statement."""
        return STATEMENT.match(self.text, self.cursor.start) is not None

    # --- functions and scopes ---

    def _function(self, start: int, linkage: str, found: tuple[Attribute, ...], kind: str) -> None:
        if self._scopes:
            self._unclosed(self._scopes[-1])
            while self._scopes:
                self._close(start)
        cursor = self.cursor
        header = Header(linkage, kind, "", found, ())
        try:
            self._header(header)
        except Problem as problem:
            self._report(problem)
            self._skip_header(problem.start)
        if cursor.here == "{":
            self._open(start, cursor.start, header)
            cursor.advance()
            return
        if linkage != "extern" and cursor.on_new_line and self._starts_body():
            name = f"`{header.name}`" if header.name else "the function"
            message = f"the body of {name} does not start with `{{`"
            self._missing("incomplete-statement", message, "{", "open the body")
            self._open(start, cursor.start, header)
            return
        end = cursor.end if cursor.here == ";" else cursor.behind
        self._out.append(self._built(header, None, start, end))
        self._semicolon("function")

    def _header(self, header: Header) -> None:
        cursor = self.cursor
        if cursor.accept(".attribute"):
            header.attributes += attributes(cursor)
        if cursor.here == "(":
            first = cursor.start
            header.returns = parameters(cursor, self.source)
            if cursor.kind != "name":  # the name is missing before the parameters
                header.params, header.returns = header.returns, ()
                cursor.seek(first)
        header.name = cursor.name("the function's name")
        if cursor.here == "(":
            header.params = parameters(cursor, self.source)
        header.directives = performance_directives(cursor)
        if cursor.here == ".param":
            raise cursor.unexpected("`(`, `{` or `;`")
        if cursor.here not in {"{", ";"} and not (cursor.on_new_line or cursor.kind == "end"):
            raise cursor.unexpected("`{` or `;`")

    def _starts_body(self) -> bool:
        """Whether the current token is the first of a function's body whose brace is missing."""
        cursor = self.cursor
        return cursor.here == ".reg" or (cursor.kind == "name" and self._starts_statement())

    # --- problems ---

    def _skip(self, start: int, problem: int) -> None:
        """Keep the malformed statement as text, and resume at the next one."""
        cursor = self.cursor
        end = resume(self.text, start, max(problem, start), comments=cursor.comments)
        blank = BLANK.match(self.text, cursor.end)
        after = blank.end() if blank else cursor.end
        stray = cursor.start == start and cursor.kind in {"punctuation", "number"}
        if (STATEMENT if stray else FUNCTION).match(self.text, after):  # the problem is before it
            end = after
        end = max(end, start + 1)
        self._out.append(Malformed(self.text[start:end].rstrip(), source=self.source, start=start, end=end))
        self.cursor.seek(end)

    def _give_up(self) -> None:
        """Stop parsing: this is not PTX, and there are too many messages to read."""
        start, end = self.cursor.start, len(self.text)
        message = f"the rest is not read: there were {MOST_PROBLEMS} problems up to here"
        self._report(Problem("too-many-problems", message, start, self.cursor.end, "reading ends here"))
        self._out.append(Malformed(self.text[start:], source=self.source, start=start, end=end))

    def _skip_header(self, problem: int) -> None:
        match = BODY.search(self.text, problem)
        self.cursor.seek(match.end() if match else len(self.text))
