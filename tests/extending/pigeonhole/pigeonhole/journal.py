"""A queue's file on disk: what was put into it, and what is done with.

1. What `write` has returned for outlives the process, and the machine's power.
2. A last line that is torn was never confirmed: it is cut off.
"""

import asyncio
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Message(NamedTuple):
    number: int
    body: str


class Journal:
    """Open for appending; made where there is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.left = _read(path)
        self._file = path.open("ab")

    async def write(self, put: Iterable[Message], done: Iterable[int]) -> None:
        lines = [["put", *message] for message in put] + [["done", number] for number in done]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        await asyncio.to_thread(self._append, text.encode())

    def remove(self) -> None:
        self._file.close()
        self.path.unlink(missing_ok=True)

    def _append(self, content: bytes) -> None:
        self._file.write(content)
        self._file.flush()
        os.fsync(self._file.fileno())


def _read(path: Path) -> list[Message]:
    """What was put and is not done with, in its order."""
    if not path.exists():
        return []
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        os.truncate(path, len(whole))
    left: dict[int, Message] = {}
    for line in whole.splitlines():
        match json.loads(line):
            case ["put", number, body]:
                left[number] = Message(number, body)
            case ["done", number]:
                left.pop(number, None)
    return list(left.values())
