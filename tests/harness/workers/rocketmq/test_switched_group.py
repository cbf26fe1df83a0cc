"""Unmodified clients, and mqproof's own, against brokers that control nodes switch."""

import asyncio
import contextlib
import time
from pathlib import Path

import pytest

from harness.plan.clients.rocketmq import CLIENT_PYTHON
from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.protocol import Role
from spark_analysis.schema import tables
from spark_analysis.schema.words import Outcome
from tests.rigs.rocketmq.clusters import switched
from tests.rigs.rocketmq.needs import require_client
from tests.rigs.workers.rig import rows, until
from tests.rigs.workers.rocketmq_worlds import LIMIT_S, World, sequences, worker

pytestmark = pytest.mark.slow

OWN = "rocketmq-python-4.9.8"
OTHERS = ("rocketmq-java-4.9.8", "rocketmq-java-5.3.3", "rocketmq-native", CLIENT_PYTHON.name)
# The C++ library asks name servers every 30 s; no setting changes that.
POLL = (("pollNameServerInterval", "1000"),)
SENT, SENT_LATER = 100, 20


@pytest.mark.parametrize(
    "client", [OWN, *(pytest.param(each, marks=pytest.mark.nightly) for each in OTHERS)]
)
def test_a_client_follows_the_switch_and_loses_no_confirmed_message(
    client: str, tmp_path: Path
) -> None:
    """The topic is as new as the first message: the master dies five seconds later."""
    if client != OWN:
        require_client(client)
    polls = () if client in ("rocketmq-native", CLIENT_PYTHON.name) else POLL
    with switched(tmp_path / "group") as servers:
        here = World.make(servers, client, tmp_path)
        options = RocketOptions(producer="sync", settings=polls)
        sending = here.settings(Role.PUBLISHER, options, rate=20.0, confirm_window=4)
        reading = here.settings(Role.CONSUMER, RocketOptions(settings=polls), acknowledge=1)

        def confirmed() -> set[int]:
            settled = rows(sending, tables.SETTLEMENTS)
            return {row["sequence"] for row in settled if row["outcome"] == Outcome.CONFIRMED}

        async def story() -> None:
            async with worker(reading), worker(sending) as publishing:
                publishing.say(do="start", at_ns=time.monotonic_ns())
                await until(lambda: len(confirmed()) >= SENT, "the first master", LIMIT_S)
                servers[servers.leader].kill()
                before = len(confirmed())
                await until(
                    lambda: len(confirmed()) >= before + SENT_LATER, "the next master", LIMIT_S
                )
                publishing.say(do="stop_load")
                with contextlib.suppress(TimeoutError):
                    await until(lambda: confirmed() <= {*sequences(reading)}, "all of it", LIMIT_S)

        asyncio.run(story())
        assert confirmed() - {*sequences(reading)} == set()
