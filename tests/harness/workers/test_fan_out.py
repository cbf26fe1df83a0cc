"""Publishers of consumer groups send to exchanges; readers of RocketMQ have a group of each."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.workers.clients.amqp import AmqpOptions, AmqpPublishingLink
from harness.workers.clients.rocketmq.options import readers
from harness.workers.protocol import Role
from tests.rigs.workers.rig import config

MORE = (("mqproof.run.bills", "bills"),)


@pytest.mark.parametrize(
    ("fans_out", "routes"),
    [
        (True, [("mqproof.run.orders", ""), ("mqproof.run.bills", "")]),
        (False, [("", "mqproof.run.orders"), ("", "mqproof.run.bills")]),
    ],
)
def test_a_publisher_names_an_exchange_or_a_queue(
    tmp_path: Path, fans_out: bool, routes: list[tuple[str, str]]
) -> None:
    sent: list[tuple[str, str]] = []

    def publish(exchange: str, key: str, _body: bytes, _properties: Any, mandatory: bool) -> None:
        assert mandatory, "what goes to no queue is returned"
        sent.append((exchange, key))

    def guarded(work: Callable[..., None]) -> Callable[..., None]:
        return work

    channel = SimpleNamespace(basic_publish=publish, add_on_return_callback=lambda _: None)
    wire: Any = SimpleNamespace(channel=channel, guard=guarded)
    settings = config(
        Role.PUBLISHER, tmp_path, fans_out=fans_out, more_queues=MORE, confirms=False
    )
    link = AmqpPublishingLink(wire, settings, AmqpOptions())
    listener: Any = SimpleNamespace(returned=None)
    asyncio.run(link.prepare(listener))
    for place in (0, 1):
        link.publish_to(place, place, b"body")
    assert sent == routes


@pytest.mark.parametrize(
    ("group", "name"),
    [("", "mqproof_run_orders_readers"), ("billing", "mqproof_run_orders_readers_billing")],
)
def test_each_consumer_group_is_one_of_the_brokers(tmp_path: Path, group: str, name: str) -> None:
    for role in (Role.CONSUMER, Role.DRAINER, Role.AUDITOR):
        assert readers(config(role, tmp_path, group=group)) == name
