"""A real Chromium, spoken to over a pair of pipes: pages are opened, clicked, typed in and looked at."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import F_DUPFD_CLOEXEC, fcntl
from pathlib import Path
from select import select
from typing import Any

PROGRAM = shutil.which("chromium")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE = 30.0


class Page:
    """One open page. What its script throws or complains of is kept in ``complaints``."""

    def __init__(self, to: int, from_: int) -> None:
        self._to, self._from, self._left = to, from_, b""
        self._number = 0
        self._session = ""
        self.complaints: list[str] = []

    def attach(self) -> None:
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def open(self, file: Path, *, dark: bool = False, width: int = 1400, height: int = 900) -> None:
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.ask("Emulation.setEmulatedMedia", features=scheme)
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        self.ask("Page.navigate", url="about:blank")
        self.ask("Page.navigate", url=file.as_uri())
        end = time.monotonic() + PATIENCE
        while self.run("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < end, "the page does not load"

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def text(self, selector: str) -> str:
        return str(self.run(f"document.querySelector({json.dumps(selector)}).innerText"))

    def count(self, selector: str) -> int:
        return int(self.run(f"document.querySelectorAll({json.dumps(selector)}).length"))

    def click(self, selector: str) -> None:
        """With the mouse, in the middle of what is seen of it."""
        find = f"document.querySelector({json.dumps(selector)})"
        box = self.run(
            f"(({find}).scrollIntoView({{block: 'nearest'}}), {find}.getBoundingClientRect().toJSON())"
        )
        at = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    def press(self, key: str) -> None:
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, **(text if kind == "keyDown" else {}))

    def write(self, text: str) -> None:
        self.ask("Input.insertText", text=text)

    def picture(self, file: Path) -> bytes:
        data = base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"])
        file.write_bytes(data)
        return data

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        self._number += 1
        message: dict[str, object] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            said = self._next()
            if said.get("id") == self._number:
                assert "error" not in said, said["error"]
                result: dict[str, Any] = said["result"]
                return result
            self._note(said)

    def _note(self, said: dict[str, Any]) -> None:
        if said.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(str(said["params"]["exceptionDetails"]))
        elif said.get("method") == "Log.entryAdded" and said["params"]["entry"]["level"] == "error":
            self.complaints.append(str(said["params"]["entry"]))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._left:
            ready, _, _ = select([self._from], [], [], PATIENCE)
            assert ready, "the browser says nothing"
            read = os.read(self._from, 1 << 16)
            assert read, "the browser has ended"
            self._left += read
        first, _, self._left = self._left.partition(b"\0")
        said: dict[str, Any] = json.loads(first)
        return said


@contextmanager
def browser() -> Iterator[Page]:
    assert PROGRAM is not None
    commands, to = os.pipe()
    from_, answers = os.pipe()
    high = [fcntl(one, F_DUPFD_CLOEXEC, 64) for one in (commands, answers)]

    def connect() -> None:  # it reads from 3 and writes to 4
        os.dup2(high[0], 3)
        os.dup2(high[1], 4)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        process = subprocess.Popen(
            [PROGRAM, *FLAGS, f"--user-data-dir={home}"],
            preexec_fn=connect,
            close_fds=False,  # ours are not inherited anyway, but for those two
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": home},
        )
        for one in high:
            os.close(one)
        os.close(commands)
        os.close(answers)
        page = Page(to, from_)
        try:
            page.attach()
            yield page
        finally:
            process.terminate()
            process.wait(10)
            os.close(to)
            os.close(from_)
