"""The clients of AMQP 0-9-1: of queues, and of RabbitMQ's streams."""

from dataclasses import replace

from harness.plan.clients.amqp_section import SECTION
from harness.plan.clients.declaration import CAN, Client, Family, Finds

AMQP = Family(
    name="AMQP 0-9-1",
    section=SECTION,
    finds=Finds.HOSTS,
    # Without `mandatory` what went nowhere is confirmed, too.
    confirms_routed=lambda workload: SECTION.of(workload).mandatory,
    unconfirmed_max=lambda workload: SECTION.of(workload).confirm_window,
    auditor="",
    prober="",
    not_accepted={},
    unanswered={},
    foreign_keys={},
)
PIKA = Client(
    name="pika",
    title="pika's AsyncioConnection",
    family=AMQP,
    constructor="harness.workers.clients.amqp:AmqpClient",
    answers={
        "confirm": CAN,
        "sync": "a publish waits for nothing; its confirm comes by a callback",
        "async": CAN,
        "oneway": CAN,
        "ordered": "a channel keeps its order, and sends on before the last confirm has come",
        "transaction": (
            "transactions of AMQP 0-9-1 are of a channel, and no broker asks for an outcome later"
        ),
        "delayed": "AMQP 0-9-1 knows no delay",
        "concurrent": "a channel hands out one message after another",
        "orderly": CAN,
        "pull": CAN,
        "acknowledge": CAN,
        "remaining": CAN,
        "place": CAN,
        "one attempt": CAN,
        "proof": "a nack has no code, and a closed connection does not report what was in flight",
        "attached": "AMQP knows no name servers",
        "attach": "AMQP knows no name servers",
        "latency fault": "it publishes to the host that it is connected to, and chooses none",
        "close socket": "its settings are in [workload.amqp]",
        "settings": "its settings are in [workload.amqp]",
        "acknowledge nothing": CAN,
        "slow consumers": CAN,
        "long processing": (
            "RabbitMQ closes a channel that has held a message for 30 minutes (consumer_timeout)"
        ),
        "tls": CAN,
        "virtual host": CAN,
        "unlimited prefetch": CAN,
        "transient": CAN,
        "priorities": CAN,
        "channel transaction": CAN,
        "consumer groups": CAN,
        "several queues": CAN,
        "lost": CAN,
    },
    body_max=None,
    body_why="AMQP splits a body into frames",
    own_threads=False,
    # It dials every host within a second, and pauses for 0.1 s between rounds (dialling.py).
    reconnect_s=2,
    drained_by="pika",
    packages=(("pika", "1.4.4"),),
    jars=None,
    look=None,
    how_to_get="it comes with mqproof",
)
STREAMS = replace(
    AMQP,
    name="AMQP 0-9-1 (streams)",
    auditor="harness.workers.stream_audit:StreamAuditor",
)
PIKA_STREAM = replace(
    PIKA,
    name="pika-stream",
    title="pika's AsyncioConnection, whose consumers read streams by offset",
    family=STREAMS,
    constructor="harness.workers.clients.amqp_stream:AmqpStreamClient",
    answers={
        **PIKA.answers,
        "priorities": "a stream has none",
        "several queues": "its consumer keeps its place in one stream",
        "unlimited prefetch": "RabbitMQ refuses consumers of a stream without a prefetch count",
        "transient": "RabbitMQ declares no stream that is not durable",
        "pull": "RabbitMQ refuses basic.get on a stream",
        "acknowledge nothing": "RabbitMQ refuses consumers of a stream that acknowledge nothing",
        "slow consumers": (
            "its consumer goes on after the last message on record, whether it was processed or "
            "not, so what a lost connection held would not come again"
        ),
    },
    drained_by="pika-stream",
)
CLIENTS = (PIKA, PIKA_STREAM)
