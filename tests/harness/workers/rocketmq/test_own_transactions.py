"""Transactions of our own client, against a broker of the reference in this process."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from harness.plan.clients.rocketmq_terms import FATES, fate_of
from harness.workers.clients.rocketmq.core.transactions import HalfState, OwnTransactions
from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.clients.rocketmq.own.client import OwnClient
from harness.workers.protocol import Role
from harness.workers.remoting.commands import Command
from harness.workers.remoting.headers import Header
from harness.workers.remoting.requests import Code
from reference_impl.rocketmq.settings import BrokerTimes
from spark_analysis.schema.body import decode
from spark_analysis.schema.words import Fate, Outcome
from tests.harness.workers.rocketmq.test_own_client import Heard, body, config, play, publisher
from tests.rigs.rocketmq.reference import InProcess
from tests.rigs.workers import rig

MESSAGES = 80
OWN = {"transactional_percent": 50, "fates": [*FATES]}
WANTED = RocketOptions.from_json(OWN)
# A half that is asked about before its decision comes would be committed twice, as by RocketMQ.
QUICK = BrokerTimes(transaction_check_interval=200, transaction_time_out=1_500)
DELIVERED = (Fate.NONE, Fate.COMMIT, Fate.COMMIT_WHEN_CHECKED)
SEND_OK, FLUSH_SLAVE_TIMEOUT = 0, 2
FIELDS = {"msgId": "7F000001" + "00002A9F" + f"{4_711:016X}", "queueOffset": "5"}


def sequence(content: bytes) -> int:
    identity = decode(content).identity
    assert identity is not None
    return identity.sequence


def test_each_half_becomes_what_its_fate_says(tmp_path: Path) -> None:
    fates = [fate_of(WANTED, sequence) for sequence in range(MESSAGES)]
    assert {*fates} == {*Fate}

    async def story(cluster: InProcess) -> None:
        sent, got = Heard(), Heard()
        reading = config(cluster, Role.CONSUMER, tmp_path)
        consumer: Any = await OwnClient(reading).consumer(reading.endpoints[0], got)  # type: ignore[arg-type]
        got.consumer = consumer
        await consumer.consume()
        async with publisher(config(cluster, Role.PUBLISHER, tmp_path, **OWN), sent) as link:
            for number in range(MESSAGES):
                link.publish(body(number))
            await rig.until(lambda: len(sent.answers) == MESSAGES)
            await rig.until(lambda: len(got.messages) >= sum(one in DELIVERED for one in fates))
            checked = [fate for fate in fates if fate >= Fate.COMMIT_WHEN_CHECKED]
            await rig.until(lambda: [k for k, _ in sent.notices].count("asked") >= len(checked))
            await asyncio.sleep(0.5)  # two checks more, which find no open half
        came = sorted(sequence(one.body) for one in got.messages)
        assert came == [number for number, fate in enumerate(fates) if fate in DELIVERED]
        rolled_back = (Fate.ROLLBACK, Fate.ROLLBACK_WHEN_CHECKED)
        for answer in sent.answers:
            refused = fates[answer.tag - 1] in rolled_back
            assert answer.outcome is (Outcome.REFUSED if refused else Outcome.CONFIRMED)
        checks = [detail for kind, detail in sent.notices if kind == "asked"]
        assert len(checks) == len({*checks}) == len(checked)
        await consumer.close(1)

    play(story, tmp_path, times=QUICK)


@pytest.mark.parametrize("fate", [Fate.COMMIT, Fate.COMMIT_WHEN_CHECKED])
def test_a_half_with_a_weak_status_is_rolled_back(fate: Fate) -> None:
    notices: list[tuple[str, str]] = []
    half = OwnTransactions("writers_1", lambda *notice: notices.append(notice))
    assert half.decide(7, fate, FLUSH_SLAVE_TIMEOUT) is HalfState.ROLLBACK
    decision = half.decision(7, HalfState.ROLLBACK, FIELDS)
    assert decision is not None
    assert decision.code == Code.END_TRANSACTION
    assert decision.fields["commitOrRollback"] == "12"
    assert decision.fields["commitLogOffset"] == "4711"
    assert decision.fields["tranStateTableOffset"] == "5"


def test_an_answer_without_a_place_gets_no_decision() -> None:
    half = OwnTransactions("writers_1", lambda *_: None)
    state = half.decide(7, Fate.COMMIT, SEND_OK)
    assert state is HalfState.COMMIT
    assert half.decision(7, state, {"msgId": "no place", "queueOffset": "5"}) is None


def test_what_is_no_check_of_an_own_half_gets_no_answer() -> None:
    half = OwnTransactions("writers_1", lambda *_: None)
    for code in (Code.CHECK_TRANSACTION_STATE, Code.GET_CONSUMER_CONNECTIONS):
        assert half.checked(Command(Header(code, 1), b"no record")) is None
