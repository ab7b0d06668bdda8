"""The rule of the sandbox, proved on native functions: nothing is touched but behind a check of its own.

`broken_rules` reads the IR that the translator writes, before any optimisation. A local is an `alloca`; a field of a
struct lies at a constant offset; an element of a table at an index, and right before it is touched the code compares
that index with the table's length and traps if it is beyond. So do parts of tables and copies with their sizes. A
length that is a number must be one that a struct declares for what lies there, that of a function's parameter, or 32.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from attack.declared_lengths import Declared, Place, declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from attack.declared_lengths import Table

_CHECKED: Final = re.compile(r"br i1 (%t\d+), label %(\w+), label %trap$")
_RESULT: Final = re.compile(r"(%[\w.]+) = (.*)$")
_COMPARED: Final = re.compile(r"icmp (ult|ule|uge) i64 (\S+), (\S+)$")
_PLACE: Final = re.compile(r"getelementptr i8, ptr (%\w+|null), i64 (\S+)$")
_TOUCHED: Final = re.compile(r"(?:load|store) .*, ptr (%[\w.]+)(?:, align 4)?$|(?:atomicrmw \w+|cmpxchg) ptr (%\w+),")
_GIVEN: Final = re.compile(r"ptr (%t\d+)")
_LARGEST_RECORD: Final = 1 << 20
_LANES: Final = "<32 x i32>"
_LANE_COUNT: Final = 32
_TIMES: Final = re.compile(r"mul i64 (\S+), (\d+)$")
_IF_ANY: Final = re.compile(r"select i1 \S+, i64 0, i64 (\d+)$")
_FIELD: Final = re.compile(r".* = getelementptr i8, ptr (%\w+), i64 \d+$")
_LENGTH: Final = re.compile(r"(%t\d+ = (?:icmp ult i64 %\w+, |insertvalue .*, i64 (?!0,)))(\d+)((?:, 1)?)$")


@dataclass
class Audit:
    """What is known of one function while its IR is read: who makes each value, and what has just been checked."""

    ir: str
    given: Mapping[str, str]
    declared: Declared
    makes: bool = False
    made: dict[str, str] = field(default_factory=dict[str, str])
    known: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    stored: set[str] = field(default_factory=set[str])
    locals: dict[str, list[str]] = field(default_factory=dict[str, "list[str]"])
    errors: list[str] = field(default_factory=list[str])

    def run(self) -> list[str]:
        """What breaks the rule."""
        checked = ""  # the block that begins behind a check
        for line in self.ir.splitlines()[1:]:
            if line.endswith(":"):
                if line != f"{checked}:":
                    self.known.clear()  # one can come here another way
                checked = ""
            elif found := _CHECKED.match(line):
                checked = found[2]
                if compared := _COMPARED.match(self.made[found[1]]):
                    self.known.add((compared[1], compared[2], compared[3]))
            else:
                self.read(line)
        return self.errors

    def read(self, line: str) -> None:
        """One instruction: what it touches has to be checked by now."""
        found = _RESULT.match(line)
        result, text = (found[1], found[2]) if found else ("", line)
        self.made[result] = text
        if text.startswith("store i64 %t"):
            self.stored.add(text.split(" ")[2].rstrip(","))
        if text.startswith("store ptr"):
            self.locals.setdefault(text.split(" ")[-1], []).append(text.split(" ")[2].rstrip(","))
        if found := _PLACE.match(text):
            self.offset(line, found[1], found[2])
        match text.split(" "):
            case ["load" | "store" | "atomicrmw" | "cmpxchg", *_]:
                self.touch(line, text)
            case ["insertvalue", *_, "1"]:
                start = self.made[text.split(" ")[5].rstrip(",")].split("ptr ")[-1].split(",")[0]
                self.count(line, text.split("i64 ")[-1].removesuffix(", 1"), start)
            case ["call", "i32", target, *_] if target[0] == "%":
                self.jump(line, target.split("(")[0])
            case ["call", "void", name, *_] if name.startswith("@llvm.memcpy"):
                self.copy(line, text)
            case ["call", *_] if "@llvm." not in text:
                self.give(line, text)
            case _:
                pass

    def touch(self, line: str, text: str) -> None:
        """A place that is read or written; a pointer that is stored takes its count with it."""
        touched = _TOUCHED.search(text)
        if touched is None or not self.holds(touched[1] or touched[2], text):
            self.errors.append(f"nothing says that this is inside: {line}")
        if text.startswith("store ptr"):
            self.give(line, text)

    def copy(self, line: str, text: str) -> None:
        """Both sides of a copy have as many bytes."""
        size = text.rsplit("i64 ", maxsplit=1)[-1].split(",", maxsplit=1)[0]
        sides = [s for s in map(self.slice_of, _GIVEN.findall(text)) if s]
        if len([k for k in self.known if k[:2] == ("ule", size)]) < len(sides):
            self.errors.append(f"nothing says that both sides have as many bytes: {line}")

    def give(self, line: str, text: str) -> None:
        """A pointer leaves its length behind: the one that gets it counts on one that has been compared."""
        for place in _GIVEN.findall(text):
            if self.slice_of(place) and not self.is_counted(self.slice_of(place)):
                self.errors.append(f"nothing says how many elements there are: {line}")

    def jump(self, line: str, target: str) -> None:
        """Code is jumped to that a field or a parameter of type `Code` holds: no arithmetic makes it."""
        number = self.made[target].removeprefix("inttoptr i64 ").removesuffix(" to ptr")
        if not self.made[number].startswith("load i64, ptr %v."):
            self.errors.append(f"a jump to what is computed: {line}")

    def offset(self, line: str, start: str, offset: str) -> None:
        """A field of a struct, or an element whose index has been compared with the length of that very table."""
        index, whole = self.index_of(offset), self.slice_of(start)
        rooms = [k[2] for k in self.known if k[0] != "uge" and k[1] == index]
        length = f"extractvalue {{ ptr, i64 }} {whole}, 1"
        if index and not any(self.made.get(r) == length if whole else self.is_array(start, offset, r) for r in rooms):
            self.errors.append(f"nothing says that there is such an element: {line}")

    def is_array(self, start: str, offset: str, room: str) -> bool:
        """Whether a place is the start of an array with a number of elements, of the size that an offset counts in."""
        size = _TIMES.match(self.made[offset])
        if not room.isdecimal() or size is None:
            return False
        return self.fits(start, int(room), lambda table: (table.stride, table.length) == (int(size[2]), int(room)))

    def fits(self, start: str, count: int, good: Callable[[Table], bool]) -> bool:
        """Whether all that may begin at a place is declared well; what was given has 32 lanes, or what it declares."""
        return all(
            count in {_LANE_COUNT, *self.declared.given} if at is None else any(map(good, self.declared.at(at)))
            for at in self.places(start)
        )

    def places(self, start: str) -> list[Place | None]:
        """Where in structs a place may be, or the pointer to it; None for one that was given."""
        made = self.made.get(start, "")
        found = _PLACE.match(made)
        if found and found[2].isdecimal():
            base = self.made.get(found[1], "").removeprefix("load ptr, ptr %v.")
            return [Place(self.given.get(base, ""), int(found[2]))]
        source = made.removeprefix("load ptr, ptr ")
        if source.startswith("%t") and source != made:
            return self.places(source)
        held = self.locals.get(source, []) if source.removeprefix("%v.") not in self.given else []
        return [at for place in held if place.startswith("%t") for at in self.places(place)] or [None]

    def index_of(self, offset: str) -> str:
        """The index that an offset is made from; "" for a constant."""
        if offset.isdecimal():
            assert int(offset) < _LARGEST_RECORD
            return ""
        return self.made[offset].removeprefix("mul i64 ").split(",")[0]

    def slice_of(self, place: str) -> str:
        """The slice whose start a place is; "" if it does not start one."""
        made = self.made.get(place, "")
        return made.removeprefix("extractvalue { ptr, i64 } ").removesuffix(", 0") if made.endswith(", 0") else ""

    def is_counted(self, whole: str) -> bool:
        """Whether the length of a slice has been compared, or stored beside its start."""
        lengths = [k[1] for k in self.known if k[0] == "uge"] + [*self.stored]
        return any(self.made.get(length, "") == f"extractvalue {{ ptr, i64 }} {whole}, 1" for length in lengths)

    def holds(self, place: str, text: str) -> bool:
        """Whether a place is a local, a field of a struct, or an element that has been checked."""
        if place.startswith(("%v.", "%b.")):
            return True
        found = _PLACE.match(self.made.get(place, ""))
        if _LANES in text and found is None:
            return self.is_counted(self.slice_of(place)) or self.made[place].startswith("load ptr, ptr %v.")
        if found is None:
            return False
        index = self.index_of(found[2])
        return not index or any(k[:2] == ("ult", index) for k in self.known)

    def count(self, line: str, count: str, start: str) -> None:
        """The length of a slice: one that is declared, of a view, of a pointer that was made; of a part, checked."""
        place = _PLACE.match(self.made.get(start, ""))
        if self.makes or count == "0":
            return
        made = self.made.get(count, "")
        if found := _IF_ANY.match(made):
            count = found[1]
        if count.isdecimal() and (place is None or place[2].isdecimal()):
            if not self.fits(start, int(count), lambda one: one.length == int(count)) and not self.is_part(
                count, start
            ):
                self.errors.append(f"nobody declares so many: {line}")
            return
        if made.startswith("select"):
            return  # as many as fields say
        if made.startswith("udiv"):
            self.viewed(line, made.removeprefix("udiv i64 ").split(",")[0], start)
            return
        rooms = [k[2] for k in self.known if k[:2] == ("ule", count)]
        if place is not None and place[2] == "0" and any(room.isdecimal() for room in rooms):
            return  # the first elements of an array that is declared
        parts = [self.made.get(room, "").removeprefix("sub i64 ").split(", ") for room in rooms]
        if not any(len(p) == 2 and ("ule", p[1], p[0]) in self.known for p in parts):
            self.errors.append(f"nothing says that there are as many: {line}")

    def is_part(self, count: str, start: str) -> bool:
        """Whether a number of elements lies within an array from a constant place in it on."""
        place = _PLACE.match(self.made.get(start, ""))
        if place is None or not _PLACE.match(self.made.get(place[1], "")):
            return False
        first = int(place[2])
        return self.fits(place[1], 0, lambda one: one.holds(first, int(count)))

    def viewed(self, line: str, size: str, start: str) -> None:
        """A slice or an array seen as elements of another type: as many as its bytes hold."""
        found = _TIMES.match(self.made.get(size, ""))
        assert found is not None
        count, stride = found[1], int(found[2])
        if count.isdecimal():
            good = self.fits(
                start, int(count), lambda one: one.inside and one.stride * one.length == int(count) * stride
            )
        else:
            good = self.made.get(count, "") == f"extractvalue {{ ptr, i64 }} {self.slice_of(start)}, 1"
        if not good:
            self.errors.append(f"nobody declares so many bytes: {line}")


def broken_rules(ir: str, given: Mapping[str, str], *, makes: bool = False) -> list[str]:
    """What breaks the rule in a native function's IR.

    Args:
        ir: The function.
        given: The structs that it is given, by its parameters' names.
        makes: Whether it may make pointers of numbers.
    """
    return Audit(ir, given, declared(), makes).run()


def without_each_check(ir: str) -> Iterator[str]:
    """The IR with one of its checks taken away, each in turn: the code goes on whatever the comparison says."""
    lines = ir.splitlines()
    for number, line in enumerate(lines):
        if found := _CHECKED.match(line):
            yield "\n".join([*lines[:number], f"br label %{found[2]}", *lines[number + 1 :]])


def with_each_length_raised(ir: str) -> Iterator[str]:
    """The IR with one length that is a number too large by one, each in turn; of parts of arrays there are more."""
    lines = ir.splitlines()
    fields = {line.split(" ")[0] for line in lines if _FIELD.match(line)}
    for number, line in enumerate(lines):
        found = _LENGTH.match(line)
        if found is None or ("icmp" in line and not _CHECKED.match(lines[number + 1])):
            continue
        within = _FIELD.match(lines[number - 2])
        if within is None or within[1] not in fields:
            raised = f"{found[1]}{int(found[2]) + 1}{found[3]}"
            yield "\n".join([*lines[:number], raised, *lines[number + 1 :]])
