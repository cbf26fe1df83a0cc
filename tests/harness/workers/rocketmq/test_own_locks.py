"""Locks of queues by our own client."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.workers.clients.port import Fetched
from harness.workers.clients.rocketmq.own.client import OwnClient
from harness.workers.clients.rocketmq.own.locks import LEASE_S, RENEW_S, QueueLocks
from harness.workers.protocol import Role
from harness.workers.remoting.commands import Command
from harness.workers.remoting.headers import RESPONSE, Header
from harness.workers.remoting.requests import Code, Request
from harness.workers.rocketmq.connection import Unanswered
from tests.harness.workers.rocketmq.test_own_client import Heard, body, config, play, publisher
from tests.rigs.rocketmq.reference import InProcess
from tests.rigs.workers import rig

PLACE = ("broker-a", 1)


class Master:
    """A scripted master. `owner`: "": the lock is free; None: it does not answer."""

    def __init__(self) -> None:
        self.owner: str | None = ""
        self.now_s = 100.0
        self.codes: list[int] = []

    async def ask(self, broker: str, request: Request) -> Command:
        assert broker == PLACE[0]
        self.codes.append(request.code)
        if self.owner is None:
            raise Unanswered("no master of broker-a is known")
        document = json.loads(request.body)
        is_given = self.owner in ("", document["clientId"])
        answer = json.dumps({"lockOKMQSet": document["mqSet"] if is_given else []}).encode()
        return Command(Header(0, 1, RESPONSE), answer)


def locks(master: Master) -> QueueLocks:
    return QueueLocks("me", "readers", "orders", master.ask, lambda: master.now_s)


def holds(own: QueueLocks) -> bool:
    return asyncio.run(own.hold(PLACE))


def test_a_lock_is_renewed_when_it_is_old() -> None:
    master = Master()
    own = locks(master)
    assert holds(own)
    assert holds(own)
    assert len(master.codes) == 1
    master.now_s += RENEW_S
    assert holds(own)
    assert len(master.codes) == 2


def test_a_refused_lock_is_gone_at_once() -> None:
    master = Master()
    own = locks(master)
    assert holds(own)
    master.owner = "other"
    master.now_s += RENEW_S
    assert not holds(own)
    assert not holds(own)


@pytest.mark.parametrize(("later_s", "is_held"), [(LEASE_S - 1, True), (LEASE_S, False)])
def test_a_lock_outlives_its_master_for_one_lease(later_s: float, is_held: bool) -> None:
    master = Master()
    own = locks(master)
    assert holds(own)
    master.owner = None
    master.now_s += later_s
    assert holds(own) is is_held


def test_a_released_lock_is_given_back_once() -> None:
    master = Master()
    own = locks(master)
    assert holds(own)
    asyncio.run(own.release(PLACE))
    asyncio.run(own.release_all())
    assert master.codes == [Code.LOCK_BATCH_MQ, Code.UNLOCK_BATCH_MQ]


def test_a_lock_whose_answer_did_not_come_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    master = Master()
    own = locks(master)
    answered = master.ask

    async def silent(broker: str, request: Request) -> Command:
        await answered(broker, request)
        return await asyncio.Future[Command]()

    monkeypatch.setattr(own, "_ask", silent)

    async def story() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(own.hold(PLACE), 0.01)
        monkeypatch.setattr(own, "_ask", answered)
        await own.release_all()

    asyncio.run(story())
    assert master.codes == [Code.LOCK_BATCH_MQ, Code.UNLOCK_BATCH_MQ]


class Processing(Heard):
    """A listener that is not done with what it got."""

    def fetched(self, messages: Sequence[Fetched]) -> None:
        self.messages += messages


def test_a_consumer_that_closes_over_a_backlog_leaves_no_lock(tmp_path: Path) -> None:
    """Its pulls would go on while it gives the locks back."""

    async def story(cluster: InProcess) -> None:
        sent, got = Heard(), Processing()
        settings = config(cluster, Role.PUBLISHER, tmp_path, producer="ordered")
        async with publisher(settings, sent) as link:
            for number in range(200):
                link.publish(body(number))
            await rig.until(lambda: len(sent.answers) == 200)
        reading = config(cluster, Role.CONSUMER, tmp_path, consumer="orderly", batch=1)
        consumer: Any = await OwnClient(reading).consumer(reading.endpoints[0], got)  # type: ignore[arg-type]
        await consumer.consume()
        await rig.until(lambda: got.messages)
        ask_master = consumer._ask_master

        async def slowly(broker: str, request: Request) -> Command:
            answer: Command = await ask_master(broker, request)
            (queue,) = json.loads(request.body)["mqSet"]
            if got.messages[0].place == f"{broker}/{queue['queueId']}":
                consumer.acknowledge(1_000_000)  # as at the end of the load
                await asyncio.sleep(0.05)
            return answer

        consumer._locks._ask = slowly
        await consumer.close(5)
        other: Any = await OwnClient(reading).consumer(reading.endpoints[0], Heard())  # type: ignore[arg-type]
        await other._routing.look()
        foreign = QueueLocks("somebody", other._group, reading.queue, other._ask_master)
        free = [await foreign.hold(place) for place in other._routing.read()]
        assert free and all(free)
        other.abort()

    play(story, tmp_path)


def test_a_locked_queue_is_read_by_its_owner_alone(tmp_path: Path) -> None:
    async def story(cluster: InProcess) -> None:
        sent, got = Heard(), Heard()
        reading = config(cluster, Role.CONSUMER, tmp_path, consumer="orderly")
        consumer: Any = await OwnClient(reading).consumer(reading.endpoints[0], got)  # type: ignore[arg-type]
        got.consumer = consumer
        others = consumer._ask_master
        foreign = QueueLocks("somebody", consumer._group, reading.queue, others)
        await consumer._routing.look()
        assert await foreign.hold(PLACE)
        await consumer.consume()
        settings = config(cluster, Role.PUBLISHER, tmp_path, producer="ordered")
        async with publisher(settings, sent) as link:
            for number in range(40):
                link.publish(body(number))
            await rig.until(lambda: len(sent.answers) == 40)
        await rig.until(lambda: got.messages)
        await asyncio.sleep(0.2)
        assert {one.place for one in got.messages} == {"broker-a/0"}
        await foreign.release_all()
        await rig.until(lambda: len(got.messages) == 40)
        assert max(Counter(one.body for one in got.messages).values()) == 1
        await consumer.close(1)

    play(story, tmp_path)
