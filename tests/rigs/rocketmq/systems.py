"""What each system of RocketMQ has of its own, for rigs that run without containers."""

from collections.abc import Callable, Mapping

from harness.plan.model import Layout
from harness.systems.rocketmq.api import ProcessAgent, RocketApi
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.core import controlled as controller_settings
from harness.systems.rocketmq.core import dledger as dledger_settings
from harness.systems.rocketmq.core import master_slave as master_slave_settings
from harness.systems.rocketmq.core.services import Configuration
from harness.systems.rocketmq.leading import Leading
from harness.systems.rocketmq_2m2s import FixedRoles
from harness.systems.rocketmq_controller import ControllersWord
from harness.systems.rocketmq_dledger import Members

CONFIGURATIONS: Mapping[str, Configuration] = {
    "rocketmq-2m2s": master_slave_settings.configuration,
    "rocketmq-dledger": dledger_settings.configuration,
    "rocketmq-controller": controller_settings.configuration,
}
_LEADING: Mapping[str, Callable[[Layout, RocketApi], Leading]] = {
    "rocketmq-2m2s": lambda layout, _: FixedRoles(layout),
    "rocketmq-dledger": Members,
    "rocketmq-controller": ControllersWord,
}


def broker_of(layout: Layout, agent: ProcessAgent, addresses: Mapping[str, str]) -> RocketBroker:
    """`addresses`: by host, as the agent dials them."""
    api = RocketApi(agent, addresses)
    return RocketBroker(layout, api, _LEADING[layout.system](layout, api))
