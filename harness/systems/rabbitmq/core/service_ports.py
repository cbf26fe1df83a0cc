"""PURE: the ports by which faults of nodes are verified: RabbitMQ's and the reference's."""

from faults.executors.service_ports import Greeting, ServicePorts

AMQP_PORT = 5672
API_PORT = 15672  # of the management plugin: a page for people, and an HTTP API
EPMD_PORT, DISTRIBUTION_PORT = 4369, 25672

AMQP_HEADER = Greeting(says="AMQP\x00\x00\x09\x01", begins="\x01")  # a method's frame: Start
# Erlang's distribution ends a connection whose first message has a tag that it does not know. It
# logs nothing, and no node is up or down for it (tried on 25.2.3: 0.3 to 8 ms, both nodes'
# connection untouched).
UNKNOWN_TAG = "\x00\x01?"

RABBITMQ_SERVICE_PORTS = ServicePorts(
    hello=AMQP_HEADER,
    canaries="harness.workers.agent_calls.amqp_canaries:opened",
    peer_word=UNKNOWN_TAG,
    usual=AMQP_PORT,
    to_peers=DISTRIBUTION_PORT,
    ports={},
)
