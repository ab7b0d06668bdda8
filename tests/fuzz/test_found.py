"""What fuzzing found once, and the inputs it has collected, are judged again."""

from __future__ import annotations

import pytest

from fuzz.fuzz_parse import one_input

FOUND = ("addte(.managed), {%rd1}, {%rd0, %rd0};", ";\n$:", "_\n$:", "a b;\n$:", ".section{_://\n@")


@pytest.mark.parametrize("text", FOUND)
def test_what_was_found_stays_repaired(text: str) -> None:
    one_input(text.encode())
