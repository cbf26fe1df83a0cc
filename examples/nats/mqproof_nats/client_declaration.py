"""The declaration of the client: data alone, for the harness; a worker imports `client`."""

from harness.plan.clients.declaration import CAN, Client, Family, Finds

MAX_PAYLOAD = 1 << 20  # the servers' default `max_payload`
UNCONFIRMED_MAX = 1000

FAMILY = Family(
    name="NATS",
    section=None,
    finds=Finds.HOSTS,
    confirms_routed=lambda _workload: True,  # a PubAck names the stream that took the message
    unconfirmed_max=lambda _workload: UNCONFIRMED_MAX,
    auditor="",
    prober="",
    not_accepted={},
    unanswered={},
    foreign_keys={},
)
CLIENT = Client(
    name="nats-py",
    title="nats-py, without its reconnecting",
    family=FAMILY,
    constructor="mqproof_nats.client:NatsPy",
    answers={
        "confirm": CAN,
        "async": CAN,
        "orderly": CAN,
        "acknowledge": CAN,
        "remaining": CAN,
        "one attempt": CAN,
        "lost": CAN,
        "sync": "a publish waits for nothing; its PubAck comes by a callback",
        "oneway": "every publish asks for a PubAck",
        "transaction": "JetStream asks about no open transaction",
        "place": "a delivery does not name the server that it came from",
        "proof": "an error in a PubAck does not prove that no server stored the message",
        "attached": "NATS has no name servers",
        "attach": "NATS has no name servers",
        "acknowledge nothing": "the consumers of this system acknowledge explicitly",
        "transient": "its streams are stored in files",
    },
    body_max=MAX_PAYLOAD,
    body_why="the servers' default max_payload is 1 MB",
    own_threads=False,
    # It dials every host within a second, and pauses for 0.1 s between rounds (dialling.py).
    reconnect_s=2,
    drained_by="nats-py",
    packages=(("nats-py", "2.16.0"),),
    jars=None,
    look=None,
    how_to_get="pip install ./examples/nats",
)
