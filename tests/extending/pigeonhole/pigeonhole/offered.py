"""What is declared of the client: data alone, for the harness; a worker imports `client`."""

from pydantic import Field

from harness.plan.clients.declaration import CAN, Client, Family, Finds
from harness.plan.clients.section import Section
from harness.plan.facts import Fact
from harness.plan.files.tables import Table

WINDOW = 200


class PigeonTable(Table):
    """`[workload.pigeonhole]`. `window`: messages that are given before one is done with."""

    window: int = Field(default=WINDOW, ge=1, le=10_000)


SECTION = Section(
    by_client=(),
    fitted=lambda own, _can: own,
    key="pigeonhole",
    shape=PigeonTable,
    value=lambda table, _confirms: table.window,
    problems=lambda _own, _scenario: (),
    says=lambda window: window != WINDOW,
    facts={"pigeonhole_window": lambda window: window},
    own_facts={
        "pigeonhole_window": Fact(
            float, False, "messages that a consumer gets before it is done with one"
        )
    },
    not_applicable="only Pigeonhole's consumers have a window",
    requires=lambda _window, _workload: (),
    requires_of_all=lambda _window: (),
    obstacles=lambda _window, _servers: (),
    shows=lambda _window: (),
    worker_options=lambda window, _servers: {"window": window},
    counts=lambda _window, _workload, _load_s: {},
    counted=(),
)
FAMILY = Family(
    name="Pigeonhole's lines",
    section=SECTION,
    finds=Finds.HOSTS,
    confirms_routed=lambda _workload: True,  # whose queue is not there is cut off
    unconfirmed_max=lambda _workload: 1000,
    auditor="",
    prober="",
    not_accepted={},
    unanswered={},
    foreign_keys={},
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
