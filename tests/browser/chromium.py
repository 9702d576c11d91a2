"""A headless Chromium, driven over a pipe by the DevTools protocol. Needs the standard library only."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

#: Chromium has no sandbox as root; most other options keep it from sending requests of its own.
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]

#: The longest time that an answer may take. [s]
TIMEOUT = 30.0


class BrowserError(Exception):
    """The browser refused a command, did not answer, or exited."""


def find() -> str | None:
    """The path of Chromium or Chrome, or None if neither is installed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


@contextmanager
def opened() -> Iterator[Page]:
    """A page for a test, which is skipped if there is no browser."""
    executable = find()
    if executable is None:
        pytest.skip("there is no chromium here")
    with Page(executable) as page:
        yield page


class Page:
    """A page in a browser of its own, without network; a context manager."""

    def __init__(self, executable: str) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="chromium-profile-")
        commands_in, self._commands = os.pipe()
        self._answers, answers_out = os.pipe()
        command = [executable, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        # Chromium reads commands from descriptor 3 and answers on descriptor 4.
        shell = 'exec 3<&"$0" 4>&"$1"; shift; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, str(commands_in), str(answers_out), *command],
            pass_fds=(commands_in, answers_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands_in)
        os.close(answers_out)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        #: Every event that the browser has sent.
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Page:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=0,
            uploadThroughput=0,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._commands)
        os.close(self._answers)
        try:
            self._profile.cleanup()
        except OSError:
            # A helper process of the browser may still be writing there; it is a temporary folder.
            shutil.rmtree(self._profile.name, ignore_errors=True)

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command and return its result; events that arrive meanwhile are added to `events`."""
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + TIMEOUT
        while True:
            answer = self._next(deadline)
            if answer.get("id") != self._number:
                self.events.append(answer)
            elif "error" in answer:
                raise BrowserError(f"{method}: {answer['error'].get('message')}")
            else:
                result: dict[str, Any] = answer["result"]
                return result

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise BrowserError(f"no answer within {TIMEOUT} s")
            chunk = os.read(self._answers, 1 << 16)
            if not chunk:
                raise BrowserError("the browser went away")
            self._buffer += chunk
        message, self._buffer = self._buffer.split(b"\0", 1)
        decoded: dict[str, Any] = json.loads(message)
        return decoded

    def view(self, width: int, *, dark: bool = False) -> None:
        """Set the width of the window, in pixels, and the light or dark colour scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, file: Path) -> None:
        """Open a local file, and wait until it is laid out."""
        self._navigate(file.resolve().as_uri())

    def open_served(self, address: str) -> None:
        """Open a page that a process of this computer serves; from then on the browser has a network."""
        self.call("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
        self._navigate(address)

    def _navigate(self, address: str) -> None:
        self.call("Page.navigate", url=address)
        self.wait_until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def wait_until(self, condition: str) -> None:
        """Wait until a JavaScript expression is true."""
        deadline = time.monotonic() + TIMEOUT
        while not self.evaluate(condition):
            if time.monotonic() > deadline:
                raise BrowserError(f"not true within {TIMEOUT} s: {condition}")
            time.sleep(0.05)

    def evaluate(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{script}: {answer['exceptionDetails'].get('text')}")
        return answer["result"].get("value")

    def screenshot(self, file: Path, selector: str | None = None) -> None:
        """Write a picture of the whole page, or of the first element that matches `selector`, as PNG."""
        box = self.evaluate(
            f"(() => {{ const r = document.querySelector({json.dumps(selector or 'html')}).getBoundingClientRect();"
            " return {x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height}; })()"
        )
        picture = self.call(
            "Page.captureScreenshot",
            format="png",
            captureBeyondViewport=True,
            clip={**box, "scale": 1},
        )
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(picture["data"]))

    def problems(self, *served: str) -> list[str]:
        """Errors and warnings on the console, exceptions, and requests for anything except the page itself and the addresses in `served`."""
        problems = []
        for event in self.events:
            method, details = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                problems.append(f"exception: {details['exceptionDetails'].get('text')}")
            elif method == "Runtime.consoleAPICalled":
                problems.append(f"console: {details.get('args')}")
            elif method == "Log.entryAdded":
                problems.append(f"log: {details['entry'].get('text')}")
            elif method == "Network.requestWillBeSent" and not details["request"]["url"].startswith(("file:", "data:", *served)):
                problems.append(f"request: {details['request']['url']}")
        return problems
