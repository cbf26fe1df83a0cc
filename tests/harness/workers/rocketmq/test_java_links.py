"""Java's half of a link: in which group it is, what is heard of it, and that it always ends."""

import asyncio
import struct
import threading
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from harness.workers.clients.port import Answer, Fetched, LinkLost, NotAttached
from harness.workers.clients.rocketmq import java, java_object
from harness.workers.clients.rocketmq.core import wire
from harness.workers.clients.rocketmq.java import JavaConsumer, JavaPublisher
from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from tests.rigs.workers.rig import config, until

pytest.importorskip("jpype", reason="JPype is missing: `pip install 'mqproof[rocketmq-java]'`")


class Library:
    """Stands where Publishing.java or Consuming.java would; `failing` is what its start says, and
    `query` which name servers those that are made ask, one after the other, the last one on."""

    made: "list[Library]"
    failing: str = ""
    query: "list[str]"

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments
        self.closed = threading.Event()
        self.said = [b""]
        self.watched = False
        self.enough = 0
        type(self).made.append(self)

    def start(self) -> None:
        if self.failing:
            raise LinkLost(self.failing)

    def attached(self) -> str:
        place = type(self).made.index(self)
        return self.query[min(place, len(self.query) - 1)]

    def watch(self) -> None:
        self.watched = True

    def awaitQueues(self, _members: int) -> None:
        assert self.watched, "nothing is heard of what comes meanwhile"

    def take(self, _wait_ms: int, enough: int) -> bytes:
        self.enough = enough
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

    def all_confirmed(self, tags: Sequence[int], clocks_ns: Sequence[int], raw: str) -> None:
        self.heard += [(tag, at_ns, raw) for tag, at_ns in zip(tags, clocks_ns, strict=True)]

    def fetched(self, messages: Sequence[Fetched]) -> None:
        self.heard += messages


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> type[Library]:
    made = type("Made", (Library,), {"made": [], "query": ["127.0.0.1:9876"]})
    monkeypatch.setattr(java_object, "bridge", lambda _kind: made)
    monkeypatch.setattr(java_object, "strings", list)
    monkeypatch.setattr(java, "_java_bytes", bytes)
    monkeypatch.setattr(java, "_java_ints", list)
    return made


def settings(folder: Path, role: Role = Role.PUBLISHER, **options: Any) -> WorkerConfig:
    way = tuple(Endpoint(f"host{place}", "127.0.0.1", 9875 + place) for place in (1, 2))
    values = {"number": 7, "queue": "orders", "endpoints": way, "index": options.pop("index", 0)}
    return config(role, folder, **values, own=asdict(RocketOptions(**options)))


def test_transactional_producers_have_own_groups_and_others_share_one(
    tmp_path: Path, library: type[Library]
) -> None:
    async def story() -> None:
        for percent in (0, 1):
            made = settings(tmp_path, transactional_percent=percent)
            link = JavaPublisher(made, Listener())  # type: ignore[arg-type]
            await link.open(1)
            await link.close(1.0)

    asyncio.run(story())
    assert [one.arguments[1] for one in library.made] == ["orders_writers", "orders_writers_7"]


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


def test_the_attached_name_server_is_reported_before_its_data(
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


@pytest.mark.parametrize("percent", [0, 1])
def test_answers_of_one_kind_come_in_one_piece_outside_of_transactions(
    tmp_path: Path, library: type[Library], percent: int
) -> None:
    said = [struct.pack(">Bqqbb", wire.ANSWER, 5, tag, 0, -1) + bytes(12) for tag in (1, 2)]

    async def story() -> None:
        listener = Listener()
        made = settings(tmp_path, transactional_percent=percent)
        link = JavaPublisher(made, listener)  # type: ignore[arg-type]
        await link.open(1)
        library.made[0].said.append(b"".join(said))
        await until(lambda: len(listener.heard) == 2)
        if percent:
            assert all(isinstance(one, Answer) for one in listener.heard)
        else:
            assert listener.heard == [(1, 5, "SEND_OK"), (2, 5, "SEND_OK")]
        await link.close(1.0)

    asyncio.run(story())


FIRST, SECOND = "127.0.0.1:9876", "127.0.0.1:9877"
ROLES = [(Role.PUBLISHER, "publishers_attach"), (Role.CONSUMER, "consumers_attach")]


async def begun(settings: WorkerConfig, listener: Any) -> JavaPublisher | JavaConsumer:
    if settings.role is Role.PUBLISHER:
        publisher = JavaPublisher(settings, listener)
        await publisher.open(1)
        return publisher
    consumer = JavaConsumer(settings, listener)
    await consumer.open()
    await consumer.consume()
    return consumer


@pytest.mark.parametrize(("role", "key"), ROLES)
def test_the_library_restarts_until_it_uses_the_wanted_name_server(
    tmp_path: Path, library: type[Library], role: Role, key: str
) -> None:
    library.query = [FIRST, "", SECOND]
    listener = Listener()

    async def story() -> None:
        # The second worker of its role, to whom the second host falls.
        made = settings(tmp_path, role, index=1, **{key: ("host1", "host2")})
        link = await begun(made, listener)
        assert [one.closed.is_set() for one in library.made] == [True, True, False]
        assert [one.watched for one in library.made] == [False, False, True]
        await link.close(1.0)

    asyncio.run(story())
    assert listener.heard == [
        ("attached elsewhere", "host1, not host2: try 1"),
        ("attached elsewhere", "no name server, not host2: try 2"),
    ]
    assert library.made[0].arguments == library.made[2].arguments


@pytest.mark.parametrize(("role", "key"), ROLES)
def test_client_that_never_attaches_gives_up_and_names_its_server(
    tmp_path: Path, library: type[Library], role: Role, key: str
) -> None:
    async def story() -> None:
        with pytest.raises(NotAttached) as caught:
            await begun(settings(tmp_path, role, **{key: ("host2",)}), Listener())
        assert str(caught.value) == (
            f"mqproof.run.{role} queried the name server of host2 in none of "
            f"{java_object.TRIES_MAX} tries; the last one queried host1"
        )

    asyncio.run(story())
    assert len(library.made) == java_object.TRIES_MAX
    assert all(one.closed.is_set() for one in library.made)


def test_drainers_may_use_any_name_server(tmp_path: Path, library: type[Library]) -> None:
    async def story() -> None:
        made = settings(tmp_path, Role.DRAINER, consumers_attach=("host2",))
        link = JavaConsumer(made, Listener())  # type: ignore[arg-type]
        await link.open()
        await link.consume()
        await link.close(1.0)

    asyncio.run(story())
    assert len(library.made) == 1


@pytest.mark.parametrize("wanted", [(), ("host1",)])
def test_publisher_that_moved_before_the_load_sends_nothing_if_pinned(
    tmp_path: Path, library: type[Library], wanted: tuple[str, ...]
) -> None:
    texts = (word.encode() for word in ("attached", SECOND))
    moved = struct.pack(">Bq", wire.NOTICE, 4)
    moved += b"".join(struct.pack(">i", len(text)) + text for text in texts)
    bugs: list[Any] = []
    sent: list[int] = []
    library.send = lambda _self, first, *_: sent.append(first)  # type: ignore[attr-defined]

    async def story() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, what: bugs.append(what))
        listener = Listener()
        link = JavaPublisher(settings(tmp_path, publishers_attach=wanted), listener)  # type: ignore[arg-type]
        await link.open(1)
        library.made[0].said.append(moved)
        await until(lambda: listener.heard == [("attached", "host2")])
        link.publish(b"body")
        await until(lambda: sent or bugs)
        await link.close(1.0)

    asyncio.run(story())
    assert sent == ([] if wanted else [1])
    assert [str(one["exception"]) for one in bugs] == (
        ["mqproof.run.publisher was attached to host1, and asks host2 when the load begins"]
        if wanted
        else []
    )


def test_settings_of_producers_are_nothing_to_consumers(
    tmp_path: Path, library: type[Library]
) -> None:
    everybody = (("pollNameServerInterval", "5000"),)
    own = {"settings": everybody, "producer_settings": (("sendLatencyFaultEnable", "true"),)}

    async def story() -> None:
        for role in (Role.PUBLISHER, Role.CONSUMER):
            link = await begun(settings(tmp_path, role, **own), Listener())
            await link.close(1.0)

    asyncio.run(story())
    assert [one.arguments[-1] for one in library.made] == [
        [*everybody, ("sendLatencyFaultEnable", "true")],
        [*everybody],
    ]


@pytest.mark.parametrize(
    ("rate", "window", "enough"), [(None, 128, 85), (None, 1, 1), (50, 128, 1)]
)
def test_answers_are_gathered_at_maximum_rate_alone(
    tmp_path: Path, library: type[Library], rate: float | None, window: int, enough: int
) -> None:
    async def story() -> None:
        made = replace(settings(tmp_path), rate=rate, confirm_window=window)
        link = JavaPublisher(made, Listener())  # type: ignore[arg-type]
        await link.open(1)
        await until(lambda: library.made[0].enough == enough)
        await link.close(1.0)

    asyncio.run(story())
