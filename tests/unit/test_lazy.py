"""A value that is worked out once, by the first thread that asks; no thread waits for a lock."""

import threading

from ptxloom.lazy import cached_property


class Slow:
    """Of which one instance may wait within the property."""

    def __init__(self, within: threading.Event, go_on: threading.Event) -> None:
        self.within, self.go_on = within, go_on

    @cached_property
    def value(self) -> list[int]:
        """A list of its own each time."""
        self.within.set()
        assert self.go_on.wait(60)
        return [1]


def test_it_is_worked_out_once() -> None:
    go_on = threading.Event()
    go_on.set()
    one = Slow(threading.Event(), go_on)
    assert one.value is one.value


def test_no_thread_waits_for_another_that_works_one_out() -> None:
    within, go_on, free = threading.Event(), threading.Event(), threading.Event()
    free.set()
    slow = Slow(within, go_on)
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert within.wait(60)
    other = threading.Thread(target=lambda: Slow(threading.Event(), free).value, daemon=True)
    other.start()
    other.join(20)
    waits = other.is_alive()
    go_on.set()
    thread.join()
    assert not waits
