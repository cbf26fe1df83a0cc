"""Where clients come in at brokers that speak AMQP, and how it is seen that they are let in."""

from harness.cluster.agent import AgentClient, AgentError
from harness.plan.layouts.topology import BrokerNode, Topology
from harness.systems.foreign import ClientsDoor
from harness.systems.rabbitmq.core.service_ports import RABBITMQ_SERVICE_PORTS
from harness.systems.rabbitmq.foreign.core.looks import permissions, virtual_host_remedy
from harness.systems.rabbitmq.foreign.rights import ACCESS_REFUSED

_CANARY = "mqproof-doctor"
_NOT_ALLOWED = "NOT_ALLOWED"  # reply code 530 of AMQP, by name
# Words of a 530 that refuses for another reason than the user's rights. Names of virtual hosts and
# users stand in it, too, so a shorter word may be part of one.
_NO_RIGHT = ("is down", "connection limit", "negotiated")


async def enter(broker: BrokerNode, agent: AgentClient, limit_s: float) -> None:
    canary, way = f"{_CANARY}.{broker.host}", {"host": broker.address, "port": broker.port}
    own = {"canary": canary, "queue": "", "by": RABBITMQ_SERVICE_PORTS.canaries}
    await agent.call("canary_open", limit_s, **own, **way)
    await agent.call("canary_close", limit_s, canary=canary)


def _key(topology: Topology) -> str:
    return "amqps" if topology.tls is not None else "amqp"


def _remedy(topology: Topology, error: AgentError) -> str:
    """By the reply code that the broker closes with; one that only closes tells nothing."""
    reason = str(error)
    names = " and ".join(f"${name}" for name in topology.variables)
    if ACCESS_REFUSED in reason and "vhost" not in reason:
        return f"what {names} hold must be a user and its password"
    if "not found" in reason:
        return virtual_host_remedy(topology)
    if _NOT_ALLOWED in reason or ACCESS_REFUSED in reason:
        return f"let the user access the virtual host: {permissions(topology)}"
    return f"may {names} log in here? Look into the broker's log"


def _refuses(error: AgentError) -> bool:
    reason = str(error)
    of_user = not any(words in reason for words in _NO_RIGHT)
    return ACCESS_REFUSED in reason or (_NOT_ALLOWED in reason and of_user)


AMQP_DOOR = ClientsDoor(
    key_of=_key,
    speaks="AMQP",
    service_ports=RABBITMQ_SERVICE_PORTS,
    enter=enter,
    refuses=_refuses,
    remedy=_remedy,
)
