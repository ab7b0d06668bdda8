"""Changes a text through the nodes of its tree; everything else stays as written."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError, UsageError, must_be
from ptxloom.patterns import regex
from ptxloom.source import Span
from ptxloom.syntax.differences import Change, Deleted, Inserted, Rewritten, differences
from ptxloom.syntax.module import A_MODULE, Module
from ptxloom.syntax.node import Node, StatementNode
from ptxloom.syntax.parser import parse
from ptxloom.syntax.printer import print_node
from ptxloom.syntax.tree import Block, Declaration, Function

if TYPE_CHECKING:
    from typing import TypeAlias

    from ptxloom.diagnostics import Fix

    New: TypeAlias = "Node | str"

_AFTER, _BEFORE, _OVER = range(3)  # order at one place: after a statement, before the next, instead of it
_REST: Final = regex(r"[ \t\r]*+(?:/\*[^\n]*?\*/[ \t\r]*+)*+(?://[^\n]*+)?+(\n|\Z)")
"""Nothing but comments up to the end of the line."""
_LABEL: Final = re.compile(r"[A-Za-z_$%][\w$]*+:([ \t]++)", re.ASCII)
_BLANK: Final = re.compile(r"[ \t\r]*+(\n|\Z)")
_LISTED: Final = re.compile(r"(?:^|[,;(\[{=|}])\s*$", re.ASCII)
_CLOSED: Final = re.compile(r"\s*+[,;)\]}|]", re.ASCII)
_NEW: Final = "a text, or a node"
_LISTED_NEXT: Final = re.compile(r"\s*+[,)]", re.ASCII)


class EditConflict(PtxloomError):  # noqa: N818 - named after the message that it carries
    """Two changes of one text meet in the same place.

    Example:
        >>> from ptxloom.syntax import parse
        >>> editor = edit(module := parse("ret;"))
        >>> editor.replace(module.statements[0], "exit;")
        >>> try:
        ...     editor.delete(module.statements[0])
        ... except EditConflict as error:
        ...     print(error)
        the change at <string>:1:1 meets the one at <string>:1:1: the text cannot have both
    """


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    rank: int
    text: str


def edit(module: Module) -> Editor:
    r"""Start changing a module's text, node by node.

    Args:
        module: The module, which itself stays unchanged.

    Returns:
        An editor: it collects changes, and `.text()` returns the changed text.

    Raises:
        UsageError: `module` is not a `Module`.

    Example:
        >>> m = parse("add.u32 a, b, c; // the sum\nret;\n")
        >>> e = edit(m)
        >>> e.replace(m.statements[0], m.statements[0].replace(opcode="sub"))
        >>> e.insert_before(m.statements[1], "bar.sync 0;")
        >>> e.text()
        'sub.u32 a, b, c; // the sum\nbar.sync 0;\nret;\n'
    """
    must_be(Module, "module", module, A_MODULE)
    return Editor(module)


class Editor:
    """Collects changes for one module, which itself stays unchanged.

    New code is a node, which is printed, or a text. A node that replaces one of its own kind changes only what
    differs, and comments stay; those inside rewritten text move after it, those inside deleted text are deleted.

    Example:
        >>> from ptxloom.syntax import parse
        >>> editor = edit(module := parse("ret; // done"))
        >>> editor.insert_before(module.statements[0], "membar.gl;")
        >>> print(editor.text())
        membar.gl;
        ret; // done
    """

    def __init__(self, module: Module) -> None:
        self._module: Final = module
        self._source: Final = module.source
        self._text: Final = module.source.text
        self._edits: Final[list[_Edit]] = []
        self._ranges: Final[list[tuple[int, int]]] = []  # replaced or deleted ranges, in order
        self._points: Final[list[int]] = []  # places of insertions, in order

    def replace(self, old: Node, new: New) -> None:
        """Replace `old` with `new`.

        Args:
            old: A node of the module.
            new: A node or a text in its place.

        Raises:
            UsageError: `old` is not a node of the module, or `new` is neither text nor node.
            EditConflict: Another change was made there.
        """
        self._own(old)
        must_be(str | Node, "new", new, _NEW)
        if isinstance(new, str):
            self._add(_Edit(old.start, old.end, _OVER, new))
        else:
            self._add(*map(self._planned, differences(old, new, self._text)))

    def delete(self, statement: StatementNode) -> None:
        """Delete a statement, and its line if nothing else is on it.

        Args:
            statement: One of the module.

        Raises:
            UsageError: It is not a statement of the module; replace the statement around a smaller node instead.
            EditConflict: Another change was made there.
        """
        self._statement(statement)
        self._add(self._gone(statement.start, statement.end))

    def insert_before(self, statement: StatementNode, *new: New) -> None:
        """Insert statements before one, on lines of their own if it is on one.

        Args:
            statement: One of the module.
            new: Nodes or texts, in order.

        Raises:
            UsageError: `statement` is not a statement of the module.
            EditConflict: It is inside code that another change replaces or deletes.
        """
        self._statement(statement)
        at = statement.start
        line, indent = self._line(at)
        if line + len(indent) == at:
            self._add(_Edit(line, line, _BEFORE, "".join(f"{_shown(one, indent, indent)}\n" for one in new)))
        else:
            self._add(_Edit(at, at, _BEFORE, "".join(f"{_shown(one, '', indent)} " for one in new)))

    def insert_after(self, statement: StatementNode, *new: New) -> None:
        """Insert statements after one, below its line if at most a comment follows on it.

        Args:
            statement: One of the module.
            new: Nodes or texts, in order.

        Raises:
            UsageError: `statement` is not a statement of the module.
            EditConflict: It is inside code that another change replaces or deletes.
        """
        self._statement(statement)
        self._add(self._behind(statement.end, self._indent(statement.start), new))

    def prepend(self, to: Module | Function | Block, *new: New) -> None:
        """Insert statements at the start of a module, or of a body or scope.

        Args:
            to: The module, or a function or braces in it.
            new: Nodes or texts, in order.

        Raises:
            UsageError: `to` is not of the module, or has no body.
            EditConflict: It is inside code that another change replaces or deletes.
        """
        inside = self._inside(to)
        if inside is None:
            self._add(_Edit(0, 0, _BEFORE, "".join(f"{_shown(one, '', '')}\n" for one in new)))
        else:
            self._add(self._behind(inside.start + 1, self._inner(inside), new))

    def append(self, to: Module | Function | Block, *new: New) -> None:
        """Insert statements at the end of a module, or of a body or scope.

        Args:
            to: The module, or a function or braces in it.
            new: Nodes or texts, in order.

        Raises:
            UsageError: `to` is not of the module, or has no body.
            EditConflict: It is inside code that another change replaces or deletes.
        """
        inside = self._inside(to)
        if inside is None:
            gap = "" if not self._text or self._text.endswith("\n") else "\n"
            size = len(self._text)
            self._add(_Edit(size, size, _AFTER, gap + "".join(f"{_shown(one, '', '')}\n" for one in new)))
            return
        at, indent = inside.end - 1, self._inner(inside)
        line, before = self._line(at)
        if line + len(before) == at:
            self._add(_Edit(line, line, _BEFORE, "".join(f"{_shown(one, indent, indent)}\n" for one in new)))
        else:
            self._add(_Edit(at, at, _BEFORE, "".join(f"{_shown(one, '', indent)} " for one in new)))

    def apply(self, fix: Fix) -> None:
        """Apply the fix of a diagnostic.

        Args:
            fix: The fix, from `Diagnostic.fix`.

        Raises:
            UsageError: It is for another text.
            EditConflict: Another change was made there.
        """
        if fix.span.source is not self._source:
            raise UsageError("fix", fix.description, f"a fix for {self._source.name}")
        rank = _OVER if fix.span.start < fix.span.end else _BEFORE
        self._add(_Edit(fix.span.start, fix.span.end, rank, fix.replacement))

    def text(self) -> str:
        """The changed text; new lines have the module's line ends."""
        parts: list[str] = []
        at = 0
        windows = "\r\n" in self._text
        for one in sorted(self._edits, key=attrgetter("start", "rank")):
            new = one.text.replace("\r\n", "\n").replace("\n", "\r\n") if windows else one.text
            parts += [self._text[at : one.start], new]
            at = one.end
        return "".join((*parts, self._text[at:]))

    def module(self) -> Module:
        """The changed text, parsed."""
        return parse(self.text(), self._source.name)

    def __str__(self) -> str:
        return self.text()

    # --- where things stand ---

    def _own(self, node: Node) -> None:
        must_be(Node, "node", node, f"a node of {self._source.name}")
        belongs = 0 <= node.start < node.end <= len(self._text)
        if isinstance(node, StatementNode):
            belongs = belongs and node.source is self._source
        if not belongs:
            raise UsageError("node", node, f"a node of {self._source.name}, as it was read")

    def _statement(self, node: StatementNode) -> None:
        must_be(StatementNode, "statement", node, f"a statement of {self._source.name}")
        self._own(node)
        ended = self._text.startswith(";", node.end - 1)
        if isinstance(node, Declaration) and not ended and _LISTED_NEXT.match(self._text, node.end):
            raise UsageError("statement", node, "a statement; replace the function that holds a parameter")

    def _inside(self, to: Module | Function | Block) -> Block | None:
        """The block to insert into; None for the module itself."""
        if isinstance(to, Module):
            if to.source is not self._source:
                raise UsageError("to", to, f"{self._source.name} or something in it")
            return None
        self._own(to)
        block = to if isinstance(to, Block) else to.body
        if block is None:
            raise UsageError("to", to, "a function with a body")
        return block

    def _inner(self, block: Block) -> str:
        """The indentation of statements in a block."""
        if block.statements:
            line, indent = self._line(block.statements[0].start)
            if line > block.start:
                return indent
        return self._line(block.start)[1] + "\t"

    def _line(self, at: int) -> tuple[int, str]:
        """The start of an offset's line, and its leading blanks."""
        start = self._text.rfind("\n", 0, at) + 1
        rest = self._text[start:at]
        return start, rest[: len(rest) - len(rest.lstrip(" \t"))]

    def _indent(self, at: int) -> str:
        """The indentation of the statements around an offset; a label before one is indented less."""
        line, indent = self._line(at)
        label = _LABEL.match(self._text, line, at)
        return indent if label is None else label[1]

    # --- changes ---

    def _behind(self, at: int, indent: str, new: tuple[New, ...]) -> _Edit:
        rest = _REST.match(self._text, at)
        if rest is None:
            return _Edit(at, at, _AFTER, "".join(f" {_shown(one, '', indent)}" for one in new))
        if rest[1]:
            return _Edit(rest.end(), rest.end(), _AFTER, "".join(f"{_shown(one, indent, indent)}\n" for one in new))
        return _Edit(rest.end(), rest.end(), _AFTER, "".join(f"\n{_shown(one, indent, indent)}" for one in new))

    def _planned(self, change: Change) -> _Edit:
        """A change as an edit of the text."""
        match change:
            case Deleted(statement):
                return self._gone(statement.start, statement.end)
            case Inserted(scope, behind, new):
                if behind is None:
                    return self._behind(scope.start + 1, self._inner(scope), new)
                return self._behind(behind.end, self._indent(behind.start), new)
            case Rewritten(start, end, text, loose):
                indent = self._indent(start)
                shown = _shown(f"({text})" if loose and not self._alone(start, end) else text, "", indent)
                kept = self._kept(start, end, shown, indent)
                return _Edit(start, end, _OVER if start < end else _BEFORE, shown + kept)

    def _alone(self, start: int, end: int) -> bool:
        """Whether no operator is next to an operand."""
        before = self._text[max(start - 80, 0) : start]
        return _LISTED.search(before) is not None and _CLOSED.match(self._text, end) is not None

    def _kept(self, start: int, end: int, shown: str, indent: str) -> str:
        """The comments inside replaced text, unless the new text has them too."""
        comments = self._module.comments
        kept = ""
        for first, last in comments[bisect_left(comments, (start, 0)) : bisect_left(comments, (end, 0))]:
            comment = self._text[first:last].rstrip()
            if comment not in shown:
                kept += f" {comment}" + ("" if comment.startswith("/*") else f"\n{indent}")
        return kept

    def _gone(self, start: int, end: int) -> _Edit:
        line, indent = self._line(start)
        rest = _BLANK.match(self._text, end)
        if rest is not None and line + len(indent) == start:
            return _Edit(line, rest.end(), _OVER, "")
        spaced = self._text.startswith((" ", "\t"), end) and (not start or self._text[start - 1].isspace())
        return _Edit(start, end + spaced, _OVER, "")

    def _add(self, *new: _Edit) -> None:
        for one in new:
            clash = self._clash(one)
            if clash is not None:
                here, there = Span(self._source, one.start, one.end), Span(self._source, *clash)
                raise EditConflict(f"the change at {here} meets the one at {there}: the text cannot have both")
        for one in new:
            if one.start < one.end:
                insort(self._ranges, (one.start, one.end))
            else:
                insort(self._points, one.start)
            self._edits.append(one)

    def _clash(self, one: _Edit) -> tuple[int, int] | None:
        """The range of an earlier edit that conflicts with this one."""
        at = bisect_left(self._ranges, (one.start, one.end))
        for start, end in self._ranges[max(at - 1, 0) : at + 1]:
            if max(start, one.start) < min(end, one.end) or start < one.start == one.end < end:
                return start, end
        point = bisect_right(self._points, one.start)
        if point < len(self._points) and self._points[point] < one.end:
            return self._points[point], self._points[point]
        return None


def _shown(new: New, first: str, indent: str) -> str:
    """The text of new code, its first line indented by `first`, the others by `indent`."""
    must_be(str | Node, "new", new, _NEW)
    text = new.strip("\n") if isinstance(new, str) else print_node(new)
    lines = text.split("\n")
    return "\n".join((first + lines[0], *(indent + line if line else line for line in lines[1:])))
