"""Java's half of a link: in which group it is, what is heard of it, and that it always ends."""

import asyncio
import struct
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from harness.workers.clients.port import Answer, Fetched, LinkLost
from harness.workers.clients.rocketmq import java, wire
from harness.workers.clients.rocketmq.java import JavaConsumer, JavaPublisher
from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from tests.rigs.workers.rig import config, until

pytest.importorskip("jpype", reason="JPype is missing: `pip install 'mqproof[rocketmq-java]'`")


class Library:
    """Stands where Publishing.java or Consuming.java would; `failing` is what its start says."""

    made: "list[Library]"
    failing: str = ""

    def __init__(self, *told: Any) -> None:
        self.told = told
        self.closed = threading.Event()
        self.said = [b""]
        type(self).made.append(self)

    def start(self) -> None:
        if self.failing:
            raise LinkLost(self.failing)

    def take(self, _wait_ms: int) -> bytes:
        self.closed.wait(0.001)
        return self.said.pop() if self.said else b""

    def close(self) -> None:
        self.closed.set()


class Listener:
    def __init__(self) -> None:
        self.heard: list[object] = []

    def noticed(self, kind: str, detail: str) -> None:
        self.heard.append((kind, detail))

    def answered(self, answers: Sequence[Answer]) -> None:
        self.heard += answers

    def fetched(self, messages: Sequence[Fetched]) -> None:
        self.heard += messages


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> type[Library]:
    made = type("Made", (Library,), {"made": []})
    monkeypatch.setattr(java, "_bridge", lambda _kind: made)
    monkeypatch.setattr(java, "_strings", list)
    return made


def settings(folder: Path, role: Role = Role.PUBLISHER, **options: Any) -> WorkerConfig:
    way = (Endpoint("host1", "127.0.0.1", 9876),)
    own = RocketOptions(**options)
    return config(role, folder, number=7, queue="orders", endpoints=way, own=asdict(own))


def test_halves_are_asked_for_where_they_came_from_and_others_share_a_group(
    tmp_path: Path, library: type[Library]
) -> None:
    async def story() -> None:
        for percent in (0, 1):
            made = settings(tmp_path, transactional_percent=percent)
            link = JavaPublisher(made, Listener())  # type: ignore[arg-type]
            await link.open(1)
            await link.close(1.0)

    asyncio.run(story())
    assert [one.told[1] for one in library.made] == ["orders_writers", "orders_writers_7"]


@pytest.mark.parametrize("role", [Role.PUBLISHER, Role.CONSUMER])
def test_a_start_that_failed_leaves_nothing_that_was_started(
    tmp_path: Path, library: type[Library], role: Role
) -> None:
    library.failing = "No route info of this topic"

    async def begin() -> None:
        listener: Any = Listener()
        if role is Role.PUBLISHER:
            await JavaPublisher(settings(tmp_path, role), listener).open(1)
        else:
            link = JavaConsumer(settings(tmp_path, role), listener)
            await link.open()
            await link.consume()

    async def story() -> None:
        with pytest.raises(LinkLost, match="No route info"):
            await begin()
        (made,) = library.made
        await until(made.closed.is_set, "its end")
        await until(lambda: "mqproof take" not in {one.name for one in threading.enumerate()})

    asyncio.run(story())


def test_the_name_server_that_is_attached_is_told_by_its_host_before_what_came_with_it(
    tmp_path: Path, library: type[Library]
) -> None:
    answer = struct.pack(">Bqqbb", wire.ANSWER, 5, 1, 0, -1) + bytes(12)
    texts = (word.encode() for word in ("attached", "127.0.0.1:9876"))
    notice = struct.pack(">Bq", wire.NOTICE, 4)
    notice += b"".join(struct.pack(">i", len(text)) + text for text in texts)

    async def story() -> None:
        listener = Listener()
        link = JavaPublisher(settings(tmp_path), listener)  # type: ignore[arg-type]
        await link.open(1)
        library.made[0].said.append(answer + notice)
        await until(lambda: len(listener.heard) == 2)
        assert listener.heard[0] == ("attached", "host1")
        assert isinstance(listener.heard[1], Answer)
        await link.close(1.0)
        assert library.made[0].closed.is_set()

    asyncio.run(story())
