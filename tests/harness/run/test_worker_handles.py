"""What the harness makes of a worker that answers late, or not at all."""

import asyncio
import time
from math import inf
from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.cluster.port import DeployError
from harness.run import worker_handles
from harness.run.core.clocks import ProcessClock
from harness.run.worker_handles import WorkerHandle, WorkerLost
from harness.workers.protocol import WorkerConfig, decode


class Mute:
    """A channel whose worker answers its commands when `speak` is called, and not before."""

    def __init__(self) -> None:
        self.unanswered: list[int] = []
        self.killed = self.closed = False
        self._said: asyncio.Queue[dict[str, Any] | DeployError | None] = asyncio.Queue()

    async def send(self, message: dict[str, Any]) -> None:
        if message["do"] == "ping":
            self.unanswered.append(time.monotonic_ns())

    async def receive(self) -> dict[str, Any] | None:
        said = await self._said.get()
        if isinstance(said, DeployError):
            raise said
        return said

    async def exit_code(self) -> int | None:
        return None

    async def kill(self) -> None:
        self.killed = True
        self._said.put_nowait(None)

    async def close(self) -> None:
        self.closed = True

    def write(self, output: dict[str, Any] | DeployError) -> None:
        self._said.put_nowait(output)

    def speak(self) -> None:
        for _ in range(len(self.unanswered)):
            self.unanswered.pop()
            pong = {"say": "pong", "monotonic_ns": time.monotonic_ns(), "suspended_ns": 0}
            self._said.put_nowait(pong)


HELLO = {"say": "hello", "boot_id": "b", "monotonic_ns": 1, "suspended_ns": 0, "versions": {}}
DRAINED = {"say": "drained", "queue": "orders", "complete": True, "doubt": ""}


def handle(channel: Mute) -> WorkerHandle:
    nothing = cast(WorkerConfig, cast(Any, None))
    return WorkerHandle(
        "publisher-1", nothing, channel, ProcessClock("publisher-1", same_boot=True), {}
    )


def test_pongs_that_arrive_together_cause_no_clock_caveat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each answers a ping of its own: the last one was sent after most of them were said."""
    monkeypatch.setattr(worker_handles, "PING_EVERY_S", 0.01)

    async def story() -> str:
        channel = Mute()
        frozen = handle(channel)
        frozen.listen()
        while len(channel.unanswered) < 5:
            await asyncio.sleep(0.01)
        channel.speak()
        await frozen._send_ping()  # before what was said is read
        await asyncio.sleep(0)
        answered = frozen.messages.get("pong")
        while answered is None:
            await frozen.changed.wait()
            answered = frozen.messages.get("pong")
        await frozen.end(0.0)
        return frozen.clock.doubt

    assert asyncio.run(story()) == ""


@pytest.mark.parametrize("speaks", [True, False])
def test_a_worker_answers_if_its_pong_comes(speaks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_handles, "ANSWER_LIMIT_S", 0.05)

    async def story() -> bool:
        channel = Mute()
        worker = handle(channel)
        worker.listen()
        request = asyncio.create_task(worker.answers())
        while not channel.unanswered:
            await asyncio.sleep(0)
        if speaks:
            channel.speak()
        reply = await request
        await worker.end(0.0)
        return reply.answered

    assert asyncio.run(story()) is speaks


def test_the_earlier_status_is_a_second_old_at_least() -> None:
    worker = handle(Mute())
    for half_s in range(6):
        status = {"say": "status", "sent": 100 * half_s, "at_ns": 500_000_000 * half_s}
        worker._note(status)
    assert (worker.status["sent"], worker.earlier["sent"]) == (500, 300)


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (DeployError("it wrote what is no message: WARNING: JVM"), "no message: WARNING: JVM"),
        ({"level": "warning"}, "no message: say is None, and has to be a text"),
        ({"say": ["ready"]}, "no message: say is ['ready'], and has to be a text"),
        ({"say": "pong", "monotonic_ns": 1}, "no message: pong has no suspended_ns"),
        (
            {"say": "pong", "monotonic_ns": 1, "suspended_ns": inf},
            "no message: suspended_ns of pong is inf",
        ),
        ({"say": "status", "sent": "4", "at_ns": 1}, "no message: sent of status is '4'"),
        ({"say": "status", "at_ns": None}, "no message: at_ns of status is None"),
        ({"say": "status", "sent": 1 << 63}, "no message: sent of status is 9223372036854775808"),
        ({"say": "status", "seconds": [[1, 2]]}, "no message: seconds of status is [[1, 2]]"),
        ({"say": "drained", "queue": "orders"}, "no message: drained has no complete"),
        (
            {"say": "drained", "queue": "orders", "complete": "", "doubt": ""},
            "no message: complete of drained is ''",
        ),
        (
            {**DRAINED, "next_offsets": ["7"]},
            "no message: next_offsets of drained is ['7']",
        ),
        ({**DRAINED, "doubts": None}, "no message: doubts of drained is None"),
        ({"say": "failed", "doubt": ["full"]}, "no message: doubt of failed is ['full']"),
        ({"say": "failed"}, "no message: failed has no doubt"),
        ({"say": "ready", "scheduling": 1}, "no message: scheduling of ready is 1"),
        ({"say": "attached", "server": None}, "no message: server of attached is None"),
    ],
)
def test_a_worker_that_cannot_be_heard_is_killed_at_once(
    output: dict[str, Any] | DeployError, reason: str
) -> None:
    async def story() -> tuple[bool, bool, str]:
        channel = Mute()
        worker = handle(channel)
        worker.listen()
        channel.write(output)
        async with asyncio.timeout(5):
            await worker.ended.wait()
        await worker.end(0.0)
        return channel.killed, worker.failed, worker.doubt

    killed, failed, doubt = asyncio.run(story())
    assert killed
    assert failed
    assert reason in doubt


def test_a_status_without_a_time_leaves_no_earlier_one() -> None:
    worker = handle(Mute())
    for status in ({"sent": 1, "at_ns": 1}, {"sent": 2}):
        worker._note({"say": "status", **status})
    assert (worker.status, worker.earlier) == ({"sent": 2}, {})


@pytest.mark.parametrize(
    ("hello", "reason"),
    [
        ({"say": "hello"}, "hello has no boot_id"),
        ({**HELLO, "versions": ["pika"]}, r"versions of hello is \['pika'\]"),
        ({**HELLO, "monotonic_ns": 1.5}, "monotonic_ns of hello is 1.5"),
    ],
)
def test_a_worker_whose_hello_is_no_message_is_lost(hello: dict[str, Any], reason: str) -> None:
    channel = Mute()
    channel.write(hello)
    config = cast(Any, SimpleNamespace(driver=SimpleNamespace(packages=())))
    configured = worker_handles._configured(channel, "publisher-1", config, "b")
    with pytest.raises(WorkerLost, match=f"publisher-1 wrote what is no message: {reason}"):
        asyncio.run(configured)


def test_values_that_are_nested_too_deeply_are_no_message() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        decode(b'{"say":' + b"[" * 100_000 + b"\n")


class Unreachable(Mute):
    """A channel whose engine refuses one request."""

    def __init__(self, refuses: str) -> None:
        super().__init__()
        self._refuses = refuses

    async def kill(self) -> None:
        if self._refuses == "kill":
            raise DeployError("a process could not be killed")
        await super().kill()

    async def exit_code(self) -> int | None:
        if self._refuses == "exit_code":
            raise DeployError("the engine did not report how a process ended")
        return None


@pytest.mark.parametrize("refuses", ["kill", "exit_code"])
def test_a_conversation_is_over_though_the_engine_refuses(refuses: str) -> None:
    async def story() -> tuple[bool, int]:
        channel = Unreachable(refuses)
        worker = handle(channel)
        worker.listen()
        with pytest.raises(DeployError):
            await worker.end(0.0)
        assert worker.over
        return channel.closed, len(asyncio.all_tasks())

    assert asyncio.run(story()) == (True, 1)  # this one
