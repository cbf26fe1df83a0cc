"""One run's findings, told by hand: what the marts of a kill of the master would hold.

1. What a test does not mention is well: one verified window of 15 s, 21,400 confirmed, none lost.
2. Seconds in, nanoseconds out.
"""

from dataclasses import replace
from typing import Self

from harness.analyse.evidence import Evidence
from harness.analyse.state import State
from spark_analysis.schema.facts import Facts, QueueEnd, Window, Worker
from spark_analysis.schema.findings import Affected, Availability, Count, Doubt, Findings, Stage
from spark_analysis.schema.words import Owed

RUN, QUEUE = "run-1-beef", "orders"
DECLARED = {
    "copies": 3,
    "masters": 1,
    "elects": True,
    "synchronise": "automatic",
    "partition_handling": "pause_minority",
    "timer_s": 10.0,
    "confirms": True,
    "confirm_waits_for_mirrors": True,
    "confirm_waits_for_disk": True,
    "durable": True,
    "persistent": True,
    "mandatory": True,
    "route_poll_s": {"moot": "its clients ask no name server"},
    "retry": "until_confirmed",
    "consumers": 1,
    "acknowledges": True,
    "no_ack": False,
    "cancel_on_ha_failover": False,
    "entrance": "hosts",
    "faults": 1,
    "operations": 0,
}
RECORDED = {
    "fault_target_role": "master",
    "mirrors_at_fault": 2,
    "synchronised_mirrors_at_fault": 2,
    "publishers_entered_at_target": True,
    "consumers_entered_at_target": False,
    "promoted_mirror_rank": 1,
    "name_servers_at_target": {"moot": "its clients ask no name server"},
    "name_servers_left": {"moot": "its clients ask no name server"},
}
# Two groups of brokers whose slaves are never masters, and clients that poll name servers.
OF_LOGS = {
    "copies": 2,
    "masters": 2,
    "elects": False,
    "promote_on_shutdown": "never",
    "promote_on_failure": "never",
    "confirm_waits_for_disk": False,
    "entrance": {"moot": "clients enter nowhere"},
    "timer_s": 20.0,
    "route_poll_s": 5,
    "mandatory": {"moot": "its clients do not speak AMQP"},
    "cancel_on_ha_failover": {"moot": "its clients do not speak AMQP"},
    "mirrors_at_fault": 1,
    "synchronised_mirrors_at_fault": 1,
    "publishers_entered_at_target": {"moot": "clients enter nowhere"},
    "consumers_entered_at_target": {"moot": "clients enter nowhere"},
    "promoted_mirror_rank": None,
    "name_servers_at_target": 1,
    "name_servers_left": 1,
    "publishers_attached_to_target": 2,
}


def ns(seconds: float) -> int:
    return round(seconds * 1e9)


class Story:
    """Builds the evidence of one run; every method adds to it and returns the story."""

    def __init__(self, kind: str = "kill", **state: object) -> None:
        self.state: dict[str, object] = {**DECLARED, **RECORDED, **state}
        self.counts = {
            ("state", "acknowledged"): 21_400,
            ("confirmed", "replicated"): 21_400,
            ("in_order", ""): 21_400,
        }
        self.affected: list[Affected] = []
        self.stages: dict[tuple[int, str], Stage] = {}
        self.silences: dict[int, Availability] = {}
        self.doubts: list[Doubt] = []
        self.facts = Facts(
            run=RUN,
            scenario="master-crash",
            system="rabbitmq-mirrored",
            layout="all-automatic@T=10",
            client="pika",
            repeat=1,
            load_started_ns=0,
            load_ended_ns=ns(60),
            deadline_ns=ns(2),
            paced=True,
            confirms=True,
            clock_doubt="",
            workers=(Worker(1, "publisher", True), Worker(7, "consumer", True)),
            windows=(),
            queues=(QueueEnd(QUEUE, True, True, "", ()),),
            rivals=(),
        )
        self.window(1, kind)

    def window(
        self, number: int, kind: str, *, opens: float = 12, lasts: float | None = 15
    ) -> Self:
        ended = None if lasts is None else ns(opens + lasts)
        window = Window(number, kind, ns(opens), ns(opens + 0.02), ended, True, True, "")
        self.facts = replace(self.facts, windows=(*self.facts.windows, window))
        for name, after in (
            ("first_success", 0.2),
            ("sustained_success", 0.0),
            ("consumers_resumed", 0.161),
            ("backlog_drained", 0.5),
        ):
            self.stage(name, after, window=number)
        return self.silence(0.171, window=number)

    def calm(self) -> Self:
        self.facts = replace(self.facts, windows=())
        self.stages, self.silences = {}, {}
        return self

    def count(self, measure: str, detail: str, number: int) -> Self:
        self.counts[measure, detail] = number
        return self

    def affect(self, measure: str, detail: str, sequence: int, at: float) -> Self:
        self.affected.append(Affected(RUN, QUEUE, measure, detail, 1, sequence, 0, ns(at)))
        return self

    def stage(
        self,
        name: str,
        after: float,
        *,
        reached: bool = True,
        window: int = 1,
        owed: Owed | None = None,
    ) -> Self:
        """Only sustained success is owed to something: to the system, unless told otherwise, if
        it began a deadline before the fault's end."""
        of = Owed.NOTHING
        if name == "sustained_success" and reached:
            of = self._owed(after, window) if owed is None else owed
        self.stages[window, name] = Stage(RUN, window, name, reached, ns(after), ns(0.02), of)
        return self

    def _owed(self, after: float, number: int) -> Owed:
        window = next(one for one in self.facts.windows if one.number == number)
        if window.ended_ns is None or window.origin_ns + ns(after) >= window.ended_ns:
            return Owed.NOTHING
        decided_ns = window.origin_ns + ns(after) + self.facts.deadline_ns
        return Owed.SYSTEM if decided_ns < window.ended_ns else Owed.EITHER

    def silence(self, seconds: float, *, censored: bool = False, window: int = 1) -> Self:
        row = Availability(RUN, window, "", 4_500, 12, ns(seconds), ns(12), censored)
        self.silences[window] = row
        return self

    def missed(self, operations: int, *, window: int = 1) -> Self:
        self.silences[window] = replace(self.silences[window], missed=operations)
        return self

    def doubt(
        self, scope: str, reason: str, *, window: int = 0, worker: int = 0, queue: str = ""
    ) -> Self:
        late = (ns(12.3), ns(0.14)) if reason == "stalled" else (0, 0)
        self.doubts.append(Doubt(RUN, scope, window, reason, queue, worker, *late))
        return self

    def unverified(self, doubt: str) -> Self:
        window = replace(self.facts.windows[0], verified=False, doubt=doubt)
        self.facts = replace(self.facts, windows=(window,))
        return self.doubt("run", "fault", window=1)

    @property
    def findings(self) -> Findings:
        return Findings(
            counts=tuple(Count(RUN, QUEUE, *key, number) for key, number in self.counts.items()),
            affected=tuple(self.affected),
            seconds=(),
            availability=tuple(self.silences.values()),
            stages=tuple(self.stages.values()),
            doubts=tuple(self.doubts),
        )

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.findings, self.facts, State.from_json(self.state))
