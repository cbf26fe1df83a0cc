"""The keys of `[workload.rocketmq]`, and checks of several of them together.

1. A key that has no effect without another one is a mistake: its author meant something by it.
2. Oneway is how this protocol goes without confirms, so both keys must agree.
3. The publisher must still run when a broker asks for a transaction's fate: publishers live until
   the load has settled, and a broker asks once a minute. It also asks about transactions that were
   committed at once: END_TRANSACTION is oneway, so a fault may have lost it.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import BeforeValidator, Field

from harness.outside.text import brief
from harness.plan.files import spans
from harness.plan.files.fault_table import FaultTable
from harness.plan.files.shape import ScenarioTable, WorkloadTable
from harness.plan.files.spans import Duration
from harness.plan.files.tables import OneOf, Table, fixed_length
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import TomlProblem

SENDS = ("sync", "async", "oneway", "ordered")
CONSUMES = ("concurrent", "orderly", "pull")
FATES = ("commit", "rollback", "commit when checked", "rollback when checked")
# transactionTimeOut 6 s and transactionCheckInterval 60 s by default (docs/behaviour/rocketmq.md
# 1): a half that is too young for one check waits for the next.
QUERIED_WITHIN_S = 70.0
_SECTION: Path = ("workload", "rocketmq")


def send_of(confirms: bool) -> str:
    """How a workload is sent whose file does not say it."""
    return "async" if confirms else "oneway"


def _milliseconds(value: object) -> int:
    milliseconds = spans.parse_seconds(value) * 1000
    if milliseconds != int(milliseconds) or not 100 <= milliseconds <= 60_000:
        raise ValueError(f"must be whole milliseconds, from 100 ms to 60 s, not {brief(value)}")
    return int(milliseconds)


class RocketTable(Table):
    """The keys of the section."""

    send: Annotated[str, BeforeValidator(OneOf(SENDS))] = Field(
        default="",
        description="how producers send. Without it: `async`, or `oneway` without `confirms`. "
        "`ordered` keeps each key to one log",
    )
    consume: Annotated[str, BeforeValidator(OneOf(CONSUMES))] = Field(
        default="concurrent", description="`orderly`: the messages of a log one after another"
    )
    send_timeout: Annotated[int, BeforeValidator(fixed_length(_milliseconds))] = Field(
        default=3000,
        title="100 ms to 60 s",
        examples=["3 s"],
        description="after this time the library gives up a send; Java's gives up an `async` one "
        "up to 2 s later",
    )
    threads: int = Field(default=4, ge=1, le=64, description="threads of a consumer")
    batch: int = Field(
        default=32, ge=1, le=1024, description="maximum of messages per pull and per listener call"
    )
    delayed_percent: int = Field(default=0, ge=0, le=100, description="share of delayed messages")
    delay_level: int = Field(
        default=3,
        ge=1,
        le=18,
        description="delay of these: 1 s, 5 s, 10 s, 30 s, 1 to 10 min, 20 min, 30 min, 1 h, 2 h",
    )
    transactional_percent: int = Field(
        default=0, ge=0, le=100, description="share of transactional messages"
    )
    fates: list[Annotated[str, BeforeValidator(OneOf(FATES))]] = Field(
        default=["commit"],
        min_length=1,
        max_length=100,
        description="results of transactions, in turn; needs `transactional_percent`",
    )
    publishers_attach: list[str] = Field(
        default=[],
        max_length=100,
        description="hosts whose name server publishers use at the start, in turn: `rkt1` or "
        "`name server 1`",
    )
    consumers_attach: list[str] = Field(
        default=[], max_length=100, description="the same for consumers"
    )
    latency_fault: bool = Field(
        default=False,
        description="producers avoid a broker that failed or was slow (`sendLatencyFaultEnable`)",
    )
    close_socket_if_timeout: bool | None = Field(
        default=None,
        description="the library closes a connection whose answer is overdue. Without it the "
        "library decides",
    )

    def problems(self, scenario: ScenarioTable) -> Iterator[TomlProblem]:
        """Find each mistake in a combination of keys."""
        confirms = scenario.workload.confirms
        if confirms is not None:
            yield from self._send_problems(confirms)
        yield from self._share_problems()
        yield from self._attach_problems(scenario.workload)
        if self.given.get("transactional_percent"):
            yield from _settle_problem(scenario.phases.settle)
            yield from _crash_problems(scenario.fault)

    def _send_problems(self, confirms: bool) -> Iterator[TomlProblem]:
        send = send_of(confirms) if self.send == "" else self.send
        path = (*_SECTION, "send")
        if confirms and send == "oneway":
            others = tuple(each for each in SENDS if each != "oneway")
            yield TomlProblem(
                path, "what is sent oneway is never confirmed: it takes confirms = false", others
            )
        elif not confirms and send in SENDS and send != "oneway":
            yield TomlProblem(
                path, f"{send} sends are confirmed; without confirms they are oneway", ("oneway",)
            )
        if send == "ordered" and self.latency_fault is True:
            text = "what is sent ordered takes its queue by its key, so that no broker is left out"
            yield TomlProblem((*_SECTION, "latency_fault"), text, ("false",))
        shares = (("delayed_percent", "delayed"), ("transactional_percent", "transactional"))
        for key, what in shares:
            if not self.given.get(key):
                continue
            if send == "ordered":
                yield TomlProblem((*_SECTION, key), f"what is {what} keeps no order", ("0",))
            elif what == "transactional" and send == "oneway":
                yield TomlProblem(
                    (*_SECTION, key),
                    "a transaction is confirmed: it takes confirms = true",
                    ("0",),
                )

    def _attach_problems(self, workload: WorkloadTable) -> Iterator[TomlProblem]:
        """Check that there are not more hosts than clients: each client uses one host."""
        counts = {"publishers": workload.publishers, "consumers": workload.consumers}
        for who, count in counts.items():
            hosts = self.given.get(f"{who}_attach")
            if isinstance(hosts, list) and count is not None and len(hosts) > count:
                text = f"{len(hosts)} hosts are more than there are {who}, {count}"
                yield TomlProblem((*_SECTION, f"{who}_attach"), text)

    def _share_problems(self) -> Iterator[TomlProblem]:
        shares = {"delay_level": "delayed_percent", "fates": "transactional_percent"}
        for key, share in shares.items():
            if key in self.given and self.given.get(share, 0) == 0:
                yield TomlProblem((*_SECTION, key), f"says nothing without {share}")
        delayed, transactional = self.delayed_percent, self.transactional_percent
        if delayed is not None and transactional is not None and delayed + transactional > 100:
            text = f"{' and '.join(shares.values())} are over 100 together: no message is both"
            yield TomlProblem((*_SECTION, "delayed_percent"), text)


def _settle_problem(settle: Duration | None) -> Iterator[TomlProblem]:
    """`settle` None: it cannot be read, as the shape says."""
    if settle is not None and settle.seconds < QUERIED_WITHIN_S:
        text = f"must be at least {QUERIED_WITHIN_S:g} s where brokers may ask for fates"
        yield TomlProblem(("phases", "settle"), text, (f"{QUERIED_WITHIN_S:g} s",))


def _crash_problems(faults: Iterable[FaultTable]) -> Iterator[TomlProblem]:
    for index, fault in enumerate(faults):
        if fault.known_kind is not None and fault.known_kind.ends_client:
            text = "no broker can query a dead client for the fates of its transactions"
            yield TomlProblem(("fault", index, "kind"), text)
