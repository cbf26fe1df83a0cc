"""PURE: what brokers, name servers and controllers are on a layout's hosts."""

from harness.plan.model import Layout
from harness.plan.servers import Servers, Voter
from harness.systems.rocketmq.layout import brokers
from harness.systems.rocketmq.servers import rocketmq_servers
from harness.systems.rocketmq_controller.layout import controllers
from harness.systems.rocketmq_controller.settings import controller
from harness.workers.remoting.leaders import BY_CONTROLLERS


def controller_servers(layout: Layout) -> Servers:
    deciding = controllers(layout.hosts)
    groups = tuple(sorted({one.group for one in brokers(layout.hosts)}))
    voters = [
        Voter(
            host=one.host,
            word=one.process,
            query=BY_CONTROLLERS,
            groups=groups,
            id=controller(layout, one),
            peer="",  # who is asked needs none
        )
        for one in deciding
    ]
    return rocketmq_servers(layout, lambda _: None, voters, deciding)
