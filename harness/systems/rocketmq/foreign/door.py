"""Where clients come in at servers that speak RocketMQ's remoting protocol."""

from faults.executors.service_ports import ServicePorts
from harness.cluster.agent import AgentClient, AgentError, AgentRefused
from harness.plan.layouts.topology import BrokerNode, Topology
from harness.systems.foreign import ClientsDoor
from harness.systems.rocketmq.api import ASK
from harness.systems.rocketmq.core.layout import NAME_SERVER
from harness.systems.rocketmq.core.service_ports import CANARIES, HELLO
from harness.systems.rocketmq.foreign.core.looks import is_denial, key_remedy
from harness.workers.remoting import requests
from harness.workers.remoting.requests import RemotingAnswer

SERVICE_PORTS = ServicePorts(
    hello=HELLO, canaries=CANARIES, peer_word=None, usual=10911, to_peers=None, ports={}
)


class LoginRefused(AgentRefused):
    """A server refused a request that every client may make. `remark`: what it says."""

    def __init__(self, words: str, remark: str) -> None:
        super().__init__(f"it refuses a request for {words}: {remark}")
        self.remark = remark


async def enter(node: BrokerNode, agent: AgentClient, limit_s: float) -> None:
    """Ask what every client may ask: a signed request shows whether the keys are right."""
    is_name_server = node.process == NAME_SERVER
    request = requests.cluster_info() if is_name_server else requests.topic_configs()
    answer = await agent.call(
        ASK,
        limit_s,
        host=node.address,
        port=node.port,
        code=int(request.code),
        fields={},
        body="",
    )
    if answer["code"] != RemotingAnswer.SUCCESS:
        raise LoginRefused(request.words, answer["remark"] or f"code {answer['code']}")


def _refuses(error: AgentError) -> bool:
    return isinstance(error, LoginRefused) and is_denial(error.remark)


def _remedy(topology: Topology, error: AgentError) -> str:
    if isinstance(error, LoginRefused):
        return key_remedy(topology)
    return "look into the server's log"


REMOTING_DOOR = ClientsDoor(
    key_of=lambda _: "address",
    speaks="RocketMQ remoting",
    service_ports=SERVICE_PORTS,
    enter=enter,
    refuses=_refuses,
    remedy=_remedy,
)
