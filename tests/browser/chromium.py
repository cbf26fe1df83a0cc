"""A headless Chromium that opens a file and says what a person would see.

1. It is spoken to through two pipes (DevTools protocol, one JSON value a message, ended by NUL):
   no port, no driver program, no library.
2. A wait for an answer takes at most LIMIT_S.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

LIMIT_S = 60.0
NAMES = ("chromium", "chromium-browser", "google-chrome")


def found() -> str | None:
    """The browser's path, where there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Chromium:
    """One browser with one page. Use it as a context."""

    def __init__(self, program: str, profile: Path) -> None:
        orders_out, self._orders = os.pipe()
        self._answers, answers_in = os.pipe()
        # It reads orders from descriptor 3 and writes answers to 4, whatever ours are.
        wrapped = f'exec "$@" 3<&{orders_out} 4>&{answers_in}'
        flags = (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--remote-debugging-pipe",
            f"--user-data-dir={profile}",
        )
        self._process = subprocess.Popen(
            ["bash", "-c", wrapped, "bash", program, *flags, "about:blank"],
            pass_fds=(orders_out, answers_in),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(orders_out)
        os.close(answers_in)
        self._number = 0
        self._heard = b""
        self._session = ""

    def __enter__(self) -> Self:
        targets = self._ask("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attached = self._ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        self._ask("Page.enable")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._orders)  # it ends when its orders end
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)
        os.close(self._answers)

    def open(self, path: Path, width: int, height: int, dark: bool = False) -> None:
        """Shows a file on a screen of that size, and waits until it stands."""
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", media="", features=[scheme])
        self._ask("Page.navigate", url=path.resolve().as_uri())
        self._await("Page.loadEventFired")

    def print_media(self) -> None:
        """Shows it as it would come out on paper, until another file is opened."""
        self._ask("Emulation.setEmulatedMedia", media="print")

    def value(self, expression: str) -> Any:
        """What an expression comes to in the page."""
        answer = self._ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def picture(self, path: Path, whole: bool = False) -> None:
        """A PNG of the screen, or of the whole page."""
        answer = self._ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        order = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            order["sessionId"] = self._session
        os.write(self._orders, json.dumps(order).encode() + b"\0")
        while True:
            message = self._hear()
            if message.get("id") == self._number:
                assert "result" in message, message
                result: dict[str, Any] = message["result"]
                return result

    def _await(self, event: str) -> None:
        while self._hear().get("method") != event:
            pass

    def _hear(self) -> dict[str, Any]:
        ends_s = time.monotonic() + LIMIT_S
        while b"\0" not in self._heard:
            left_s = max(0.0, ends_s - time.monotonic())
            ready, _, _ = select.select([self._answers], [], [], left_s)
            piece = os.read(self._answers, 1 << 16) if ready else b""
            if not piece:
                raise TimeoutError("the browser does not answer")
            self._heard += piece
        text, _, self._heard = self._heard.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message
