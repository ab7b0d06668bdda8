"""A sanitizer that reports nothing has looked: it finds what is wrong in a library compiled as the driver's are."""

import subprocess
import sys
from pathlib import Path

import pytest

from driver import sanitizers

pytestmark = pytest.mark.skipif(sanitizers.CHOSEN is None, reason="PTXLOOM_SANITIZER names no sanitizer")

WRONG = """
#include <pthread.h>
#include <stdlib.h>
static int shared;
static void *add(void *times) {
    for (int i = 0; i < *(int *)times; i++) shared++;
    return NULL;
}
__attribute__((visibility("default"))) int address(int at) {
    volatile char *room = malloc(8);
    room[at] = 1;
    int found = room[at];
    free((void *)room);
    return found;
}
__attribute__((visibility("default"))) int undefined(int bits) { return 1 << (32 + bits); }
__attribute__((visibility("default"))) int thread(int times) {
    pthread_t one, other;
    pthread_create(&one, NULL, add, &times);
    pthread_create(&other, NULL, add, &times);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return shared;
}
"""
REPORTS = {"address": "heap-buffer-overflow", "undefined": "shift exponent 40 is too large", "thread": "data race"}


def test_what_is_wrong_is_reported(tmp_path: Path) -> None:
    function = next(name for name, one in sanitizers.SANITIZERS.items() if one is sanitizers.CHOSEN)
    library = tmp_path / "wrong.so"
    sanitizers.compile_(WRONG, library)
    code = f"import ctypes, sys; ctypes.CDLL(sys.argv[1]).{function}(8)"
    environment = sanitizers.surroundings("")
    done = subprocess.run([sys.executable, "-c", code, str(library)], env=environment, check=False, timeout=300)
    assert done.returncode
    assert REPORTS[function] in sanitizers.reports()
