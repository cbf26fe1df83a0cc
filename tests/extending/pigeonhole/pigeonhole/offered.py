"""What is declared of the client: data alone, for the harness; a worker imports `client`."""

from harness.plan.clients.declaration import CAN, Client, Family, Finds

FAMILY = Family(
    name="Pigeonhole's lines",
    section="",
    finds=Finds.HOSTS,
    confirms_unrouted=False,  # who puts into a queue that is not there is cut off
    auditor="",
    prober="",
)
CLIENT = Client(
    name="pigeonhole-py",
    title="Pigeonhole's own client",
    family=FAMILY,
    constructor="pigeonhole.client:Pigeon",
    answers={
        "confirm": CAN,
        "async": CAN,
        "acknowledge": CAN,
        "remaining": CAN,
        "place": CAN,
        "one attempt": CAN,
        "sync": "a put waits for nothing",
        "proof": "a connection that ends says nothing of what was out",
        "transient": "every queue and every message is on disk",
        "acknowledge nothing": "what is not done with is given again",
    },
    body_max=8 << 20,
    body_why="a line has 32 MB at most",
    own_threads=False,
    reconnect_s=2,  # dialling.py: every host within a second, and 0.1 s between rounds
    drained_by="pigeonhole-py",
    packages=(("pigeonhole", "0.1"),),
    jars=None,
    look=None,
    how_to_get="pip install pigeonhole",
)
