"""A node without an outside: what it asks of one is noted."""

from collections.abc import Callable
from typing import Any

from reference_impl.node.config import Config
from reference_impl.node.happenings import Saved
from reference_impl.node.node import Node
from reference_impl.node.outside import Outside
from reference_impl.node.wire import Packet
from reference_impl.pid import Pid


class Recorder:
    """All five ports of Outside: it notes what was asked and does nothing."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, Packet]] = []
        self.lines: list[str] = []
        self.timers: list[tuple[Pid | None, str]] = []
        self.transmitted: dict[Pid, list[bytes]] = {}  # by client
        self.open: Callable[[], None] = lambda: None

    def send(self, node: str, packet: Packet) -> None:
        self.sent.append((node, packet))

    def log(self, text: str) -> None:
        self.lines.append(text)

    def stored(self, queue: str) -> tuple[int, ...]:
        return ()

    def segment(self, queue: str, number: int) -> dict[int, Any]:
        return {}

    def now_ms(self) -> int:
        return 0

    def transmit(self, client: Pid, octets: bytes) -> None:
        self.transmitted.setdefault(client, []).append(octets)

    def arm(self, pid: Pid | None, name: str, after_ms: int) -> None:
        self.timers.append((pid, name))

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: None


class Stage:
    """A node that is alone in its cluster, so that it serves at once."""

    def __init__(self, saved: Saved | None = None, boot: int = 1) -> None:
        self.out = Recorder()
        outside = Outside(self.out, self.out, self.out, self.out, self.out)
        self.node = Node(Config("ref1", "127.0.0.1", "unused", "unused"), boot, saved, outside)

    def begin(self) -> None:
        self.node.begin()
        self.node.run()
