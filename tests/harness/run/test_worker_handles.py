"""What the harness makes of a worker that answers late, or not at all."""

import asyncio
import time
from typing import Any, cast

import pytest

from harness.cluster.port import DeployError
from harness.run import worker_handles
from harness.run.core.clocks import ProcessClock
from harness.run.worker_handles import WorkerHandle
from harness.workers.protocol import WorkerConfig


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
        ({"level": "warning"}, "no message: KeyError('say')"),
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
