"""What each system of RocketMQ has of its own, for rigs that run without containers."""

from collections.abc import Mapping

from harness.plan.model import Layout
from harness.systems.rocketmq.api import Agent, RocketApi
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.services import Configuration
from harness.systems.rocketmq_2m2s import settings as master_slave_settings
from harness.systems.rocketmq_2m2s.laid_down import LaidDown

CONFIGURATIONS: Mapping[str, Configuration] = {
    "rocketmq-2m2s": master_slave_settings.configuration,
}


def broker_of(layout: Layout, agent: Agent, addresses: Mapping[str, str]) -> RocketBroker:
    """`addresses`: by host, as the agent dials them."""
    api = RocketApi(agent, addresses)
    return RocketBroker(layout, api, LaidDown(layout))
