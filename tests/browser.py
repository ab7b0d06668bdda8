"""A browser without a window, driven by the DevTools protocol over a pipe: no driver, no port, no network."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--mute-audio", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
    *(
        "--disable-default-apps",
        "--disable-ipc-flooding-protection",
        "--disable-extensions",
        "--force-color-profile=srgb",
        "--remote-debugging-pipe",
    ),
)
_ALL = "window.all = (selector) => [...document.querySelectorAll(selector)];"
_PATIENCE = 60  # seconds for one answer, after which the browser is taken to be stuck


def installed() -> str | None:
    """The browser, if there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


@dataclass
class Browser:
    """A running browser with one page.

    Attributes:
        requests: The address of everything that the page asked for.
        messages: What it wrote to the console, and its errors.
    """

    process: subprocess.Popen[bytes]
    to_browser: int
    from_browser: int
    session: str = ""
    count: int = 0
    unread: bytes = b""
    requests: list[str] = field(default_factory=list[str])
    messages: list[str] = field(default_factory=list[str])

    def attach(self) -> Self:
        """Open a page and listen to it."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.send("Page.addScriptToEvaluateOnNewDocument", source=_ALL)
        return self

    def send(self, method: str, **params: object) -> dict[str, Any]:
        """Ask, and wait for the answer; events that come before it are noted."""
        self.count += 1
        message: dict[str, object] = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_browser, data) :]
        while True:
            answer = self._read()
            if answer.get("id") == self.count:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self._note(answer)

    def _read(self) -> dict[str, Any]:
        until = time.monotonic() + _PATIENCE
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.from_browser], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the browser does not answer"
            data = os.read(self.from_browser, 1 << 20)
            assert data, "the browser has ended"
            self.unread += data
        message, _, self.unread = self.unread.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                self.messages.append(details.get("exception", {}).get("description") or details["text"])
            case "Log.entryAdded":
                self.messages.append(params["entry"]["text"])
            case "Runtime.consoleAPICalled":
                self.messages.append(" ".join(str(each.get("value")) for each in params["args"]))
            case _:
                pass

    def run(self, script: str) -> Any:
        """The value of an expression in the page; of a promise what it comes to."""
        found = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def open(self, page: Path, fragment: str = "") -> None:
        """Load a page anew, and wait until it says that it is ready."""
        self.send("Page.navigate", url="about:blank")
        self.send("Page.navigate", url=f"{page.as_uri()}{'#' * bool(fragment)}{fragment}")
        until = time.monotonic() + _PATIENCE
        while not self.run("location.protocol === 'file:' && document.documentElement?.dataset.ready === 'yes'"):
            assert time.monotonic() < until, self.messages
            time.sleep(0.005)

    def size(self, width: int, height: int, *, phone: bool = False) -> None:
        """Make the window so large."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def prefer(self, **features: str) -> None:
        """What the user prefers: `color_scheme="dark"`."""
        named = [{"name": f"prefers-{name.replace('_', '-')}", "value": value} for name, value in features.items()]
        self.send("Emulation.setEmulatedMedia", features=named)

    def key(self, name: str, *, shift: bool = False) -> None:
        """Press a key and let it go."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        text = {"text": "\r"} if name == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=codes[name],
                modifiers=8 * shift, **(text if kind == "keyDown" else {}),
            )  # fmt: skip

    def hover(self, selector: str) -> None:
        """Move the mouse to the middle of an element."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{element}.scrollIntoView({{block: 'center'}})")
        at = self.run(
            f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({element}.getBoundingClientRect())"
        )
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=at[0], y=at[1])

    def picture(self, *, whole: bool = False) -> bytes:
        """What the page looks like, as PNG."""
        found = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(found["data"])


@contextmanager
def browser() -> Generator[Browser]:
    """A browser that ends with the block, and leaves nothing behind."""
    command = installed()
    assert command is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
        high = [fcntl.fcntl(each, fcntl.F_DUPFD, 20) for each in (theirs_in, theirs_out)]
        for each in (theirs_in, theirs_out):
            os.close(each)
        shell = f'exec "$@" 3<&{high[0]} 4>&{high[1]}'
        process = subprocess.Popen(
            ["bash", "-c", shell, "bash", command, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=high, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        for each in high:
            os.close(each)
        try:
            yield Browser(process, ours_out, ours_in).attach()
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(ours_out)
            os.close(ours_in)
