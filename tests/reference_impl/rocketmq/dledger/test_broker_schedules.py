"""Random schedules of a group of brokers: what was answered with SUCCESS is read at the offset of
the answer, and once, whatever happened in between."""

import random
from collections.abc import Callable

import pytest

from reference_impl.rocketmq.broker.leading import Leading
from reference_impl.rocketmq.dledger.ledger import Ledger
from reference_impl.rocketmq.dledger.member import DledgerMember
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from tests.reference_impl.rocketmq.dledger.brokers import NAMES, BrokerGroupWorld
from tests.reference_impl.rocketmq.talking import sending

SCHEDULES = 12  # many more of them by night
MANY = 3_000
FOUND_WITHIN = 12
STEPS = 14
PAUSE_MS = (5.0, 5_000.0)
QUEUES = 2


def _wrong(seed: int) -> list[str]:
    return _BrokerSchedule(seed).wrong()


class _BrokerSchedule:
    def __init__(self, seed: int) -> None:
        self._dice = random.Random(f"brokers {seed}")
        self._group = group = BrokerGroupWorld(seed)
        self._world = group.world
        self._sent: list[tuple[int, int]] = []  # queue, and number of the request
        group.send(group.master(), b"seed")
        self._world.run(14_000)  # followers know the topic

    def wrong(self) -> list[str]:
        deeds = self._deeds()
        for _ in range(STEPS):
            self._dice.choice(deeds)()
            self._world.run(self._dice.uniform(*PAUSE_MS))
        self._mend()
        self._world.run(20_000)
        master = self._group.master(60_000)
        self._world.run(3_000)
        return [problem for queue in range(QUEUES) for problem in self._compare(master, queue)]

    def _compare(self, master: str, queue: int) -> list[str]:
        bodies = [record.body for record in self._group.pull(master, queue)]
        problems = [f"{body!r} is there twice" for body in {*bodies} if bodies.count(body) > 1]
        for number, (sent_to, request) in enumerate(self._sent):
            answer = self._group.client.answer(request)
            if sent_to != queue or answer is None or answer.header.code != Code.SUCCESS:
                continue
            offset = int(answer.header.fields["queueOffset"])
            if bodies[offset : offset + 1] != [b"%d" % number]:
                problems.append(f"{number} is not at {offset} of {queue}")
        ends = {name: self._group.server(name).store.ends("t", queue) for name in NAMES}
        return problems + ([f"queues differ: {ends}"] if len({*ends.values()}) > 1 else [])

    def _deeds(self) -> list[Callable[[], None]]:
        send, world = self._send, self._world
        return [
            *([send] * 4),
            lambda: self._down(self._dice.choice(NAMES)),
            self._start,
            lambda: world.freeze(self._dice.choice(NAMES)),
            self._mend,
            *([self._strand] * 3),
            *([self._replace] * 3),
        ]

    def _send(self) -> None:
        for name in self._group.masters():
            for _ in range(self._dice.randrange(1, 6)):
                if self._group.client.reaches(f"{name}:10911"):
                    queue, body = self._dice.randrange(QUEUES), b"%d" % len(self._sent)
                    code, fields = RequestCode.SEND_MESSAGE_V2, sending("t", queue)
                    number = self._group.client.send(f"{name}:10911", code, fields, body)
                    self._sent.append((queue, number))

    def _strand(self) -> None:
        for name in self._group.masters()[:1]:
            for other in NAMES:
                if other != name:
                    self._world.cut(name, other)
                    self._world.cut(other, name)
            self._send()
            self._world.run(9_000)
            self._send()

    def _down(self, name: str) -> None:
        if self._world.hosts[name].server is None:
            self._world.start(name)
        else:
            self._world.crash(name)

    def _replace(self) -> None:
        """A master dies after a send, and the next one gets more as soon as it takes any."""
        self._mend()
        self._send()
        self._world.run(self._dice.choice((5, 20, 100)))
        for name in self._group.masters():
            self._world.crash(name)
        for _ in range(7_000):
            if self._group.masters():
                break
            self._world.run(2)
        self._send()

    def _start(self) -> None:
        for name in NAMES:
            if self._world.hosts[name].server is None:
                self._world.start(name)

    def _mend(self) -> None:
        for pair in [*self._world.network.cuts]:
            self._world.heal(*pair)
        self._start()
        for name in NAMES:
            if self._world.hosts[name].stands_still:
                self._world.thaw(name)


def test_every_confirmed_message_is_read_at_its_confirmed_offset() -> None:
    assert {seed: wrong for seed in range(SCHEDULES) if (wrong := _wrong(seed))} == {}


@pytest.mark.nightly
def test_dledger_is_correct_in_many_more_schedules() -> None:
    seeds = range(SCHEDULES, SCHEDULES + MANY)
    assert {seed: wrong for seed in seeds if (wrong := _wrong(seed))} == {}


def test_schedules_detect_a_master_before_its_queues_are_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As RocketMQ 4.9.7 is (docs/behaviour/rocketmq-elections.md 1)."""
    monkeypatch.setattr(DledgerMember, "is_caught_up", property(lambda _: True))
    assert any(_wrong(seed) for seed in range(FOUND_WITHIN))


def test_schedules_detect_a_leader_that_reuses_old_offsets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lead = Leading._lead

    def with_old(self: Leading) -> None:
        given = {**self._parts.store._given}
        lead(self)
        self._parts.store._given.update(given)

    monkeypatch.setattr(Leading, "_lead", with_old)
    assert any(_wrong(seed) for seed in range(FOUND_WITHIN))


def test_schedules_detect_a_broker_that_serves_uncommitted_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        Ledger, "committed", property(lambda self: self.end, lambda *_: None), raising=False
    )
    assert any(_wrong(seed) for seed in range(FOUND_WITHIN))
