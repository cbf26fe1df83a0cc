"""Where clients come in at brokers that speak AMQP, and how it is seen that they are let in."""

from harness.cluster.agent import AgentClient
from harness.plan.topology import BrokerNode
from harness.systems.foreign import ClientsDoor
from harness.systems.rabbitmq.service_ports import RABBITMQ_SERVICE_PORTS

_CANARY = "mqproof-doctor"


async def enter(broker: BrokerNode, agent: AgentClient, limit_s: float) -> None:
    canary, way = f"{_CANARY}.{broker.host}", {"host": broker.address, "port": broker.port}
    own = {"canary": canary, "queue": "", "by": RABBITMQ_SERVICE_PORTS.canaries}
    await agent.call("canary_open", limit_s, **own, **way)
    await agent.call("canary_close", limit_s, canary=canary)


AMQP_DOOR = ClientsDoor(
    key="amqp",
    speaks="AMQP",
    service_ports=RABBITMQ_SERVICE_PORTS,
    enter=enter,
    remedy="may this user enter the virtual host / with these credentials?",
)
