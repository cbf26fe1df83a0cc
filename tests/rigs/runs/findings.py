"""One run's findings, told by hand: what the marts of a kill of the master would hold.

1. What a test does not mention is well: one verified window of 15 s, 21,400 confirmed, none lost;
   30 were sent again, and 30 held when their connection ended; every scope is served as every
   promise says, and everybody consumes again.
2. What is counted is charged to every window of the story, unless told otherwise.
3. Seconds in, nanoseconds out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Self

from harness.claims.claims import Claim
from harness.claims.evidence import Evidence
from harness.claims.judge import ClaimVerdict, judge
from harness.claims.state import KnownFacts
from harness.plan.fault_properties import properties_of
from spark_analysis.schema import service as words
from spark_analysis.schema.availability import Availability, Second, Stage
from spark_analysis.schema.doubts import Doubt
from spark_analysis.schema.facts import Facts, QueueEnd, Window, Worker
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.measures import BY_NAME
from spark_analysis.schema.messages import Affected, Attribution, Count
from spark_analysis.schema.service import Consumption, Exposure, Outage, Service, Starvation
from spark_analysis.schema.words import RecoveredBy
from tests.oracle import digest

RUN, QUEUE = "run-1-beef", "orders"
SCOPES = ((words.RUN, ""), (words.QUEUE, QUEUE), (words.PUBLISHER, "1"))
PROMISES = (words.FAULT, "notice", "poll", words.HEALED)
READERS = ((words.QUEUE, QUEUE), (words.CONSUMER, "7"))
DECLARED = {
    "copies": 3,
    "masters": 1,
    "elects": True,
    "elects_by_majority": False,
    "synchronise": "automatic",
    "partition_handling": "pause_minority",
    "detection_timeout_s": 10.0,
    "confirms": True,
    "confirm_waits_for_mirrors": True,
    "confirm_waits_for_majority": False,
    "confirm_waits_for_disk": True,
    "durable": True,
    "persistent": True,
    "mandatory": True,
    "route_poll_s": {"not_applicable": "clients of this system use no name server"},
    "retry": "until_confirmed",
    "consumers": 1,
    "acknowledges": True,
    "no_ack": False,
    "cancel_on_ha_failover": False,
    "priorities": 0,
    "mirrored_on": "all",
    "client_endpoint": "hosts",
    "reconnect_s": 2,
    "messages": None,
    "delayed_messages": None,
    "messages_in_transactions": None,
    "messages_to_commit": None,
    "messages_to_check": None,
    "checks_within_s": {"not_applicable": "its brokers ask about no transaction"},
    "faults": 1,
    "operations": 0,
}
RECORDED = {
    "fault_target_role": "master",
    "mirrors_at_fault": 2,
    "synchronised_mirrors_at_fault": 2,
    "publishers_connected_to_target": True,
    "consumers_connected_to_target": False,
    "promoted_mirror_rank": 1,
    "fault_resource": {"not_applicable": "the fault is no alarm"},
    "clients_of_target_cut_off": True,
    "rejoined_as": "mirror",
    "name_servers_at_target": {"not_applicable": "clients of this system use no name server"},
    "name_servers_left": {"not_applicable": "clients of this system use no name server"},
}
# Two groups of brokers whose slaves are never masters, and clients that poll name servers.
OF_LOGS = {
    "copies": 2,
    "masters": 2,
    "elects": False,
    "promote_on_shutdown": "never",
    "promote_on_failure": "never",
    "confirm_waits_for_disk": False,
    "mirrored_on": "none",
    "client_endpoint": {"not_applicable": "clients ask name servers"},
    "detection_timeout_s": 20.0,
    "route_poll_s": 5,
    "reconnect_s": 8,
    "checks_within_s": 70,
    "mandatory": {"not_applicable": "its clients do not speak AMQP"},
    "cancel_on_ha_failover": {"not_applicable": "its clients do not speak AMQP"},
    "priorities": {"not_applicable": "its clients do not speak AMQP"},
    "mirrors_at_fault": 1,
    "synchronised_mirrors_at_fault": 1,
    "publishers_connected_to_target": {"not_applicable": "clients ask name servers"},
    "consumers_connected_to_target": {"not_applicable": "clients ask name servers"},
    "promoted_mirror_rank": None,
    "clients_of_target_cut_off": None,
    "rejoined_as": None,
    "name_servers_at_target": 1,
    "name_servers_left": 1,
    "publishers_attached_to_target": 2,
}


def ns(seconds: float) -> int:
    return round(seconds * 1e9)


def verdicts_of(claims: Iterable[Claim], evidence: Evidence) -> tuple[ClaimVerdict, ...]:
    """The verdict of every claim, in their order."""
    return tuple(judge(claim, evidence) for claim in claims)


class Story:
    """Builds the evidence of one run; every method adds to it and returns the story."""

    def __init__(self, kind: str = "kill", **state: object) -> None:
        self.state: dict[str, object] = {**DECLARED, **RECORDED, **state}
        self.counts: dict[tuple[str, str, str | None], int] = {}
        self.of_groups: list[Count] = []
        self.count("state", "acknowledged", 21_400)
        self.count("confirmed", "replicated", 21_400).count("in_order", "", 21_400)
        for measure in ("attempt_lost", "not_redelivered"):
            self.count("could_show", measure, 30)
        self.affected: list[Affected] = []
        self.stages: dict[tuple[int, str], Stage] = {}
        self.silences: dict[tuple[int, str], Availability] = {}
        self.outages: list[Outage] = []
        self.services: dict[tuple[int, str, str, str], Service] = {}
        self.exposures: dict[int, Exposure] = {}
        self.consumed: dict[tuple[int, str, str], Consumption] = {}
        self.starvation: dict[tuple[int, str, str], Starvation] = {}
        self.doubts: list[Doubt] = []
        self.seconds: list[Second] = []
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
            clock_problem="",
            workers=(Worker(1, "publisher", True), Worker(7, "consumer", True)),
            windows=(),
            queues=(QueueEnd(QUEUE, True, True, "", ()),),
            competing_leaders=(),
        )
        self.window(1, kind)

    def window(
        self, number: int, kind: str, *, opens: float = 12, lasts: float | None = 15
    ) -> Self:
        ended = None if lasts is None else ns(opens + lasts)
        window = Window(
            *(number, kind, ns(opens), ns(opens + 0.02), ended, True, True, ""),
            properties=properties_of(kind),
        )
        self.facts = replace(self.facts, windows=(*self.facts.windows, window))
        for name, after in (
            ("first_success", 0.2),
            ("sustained_success", 0.0),
            ("consumers_resumed", 0.161),
            ("backlog_drained", 0.5),
        ):
            self.stage(name, after, window=number)
        for scope, name in SCOPES:
            for promise in PROMISES:
                self.service(words.SERVED, scope=scope, name=name, promise=promise, window=number)
        for scope, name in READERS:
            self.consumption(True, scope=scope, name=name, window=number)
        self.starved(0.1, window=number)
        return self.exposed(due=2_000, window=number).silence(0.171, window=number)

    def queue(self, name: str) -> Self:
        """The workload has this queue, too."""
        queues = (*self.facts.queues, QueueEnd(name, True, True, "", ()))
        self.facts = replace(self.facts, queues=queues)
        return self

    def steady(self) -> Self:
        self.facts = replace(self.facts, windows=())
        self.stages, self.silences = {}, {}
        self.services, self.exposures, self.consumed, self.starvation = {}, {}, {}, {}
        return self

    def count(self, measure: str, detail: str, number: int, *, windows: str | None = None) -> Self:
        """`windows`: those that may have caused it, `1,2`; "" is none. None: all of the story."""
        self.counts[measure, detail, windows] = number
        return self

    def count_in(self, queue: str, measure: str, detail: str, number: int) -> Self:
        """Count it in the queue of a consumer group; no fault may have caused it."""
        self.of_groups.append(Count(RUN, queue, measure, detail, number))
        return self

    def without(self, measure: str, detail: str = "") -> Self:
        """Nothing of it was counted, and nothing is said of it."""
        del self.counts[measure, detail, None]
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
        recovered_by: RecoveredBy = RecoveredBy.NOTHING,
    ) -> Self:
        """A milestone: no claim is judged by when it was reached, but by service."""
        self.stages[window, name] = Stage(
            RUN, window, name, reached, ns(after), ns(0.02), recovered_by
        )
        return self

    def silence(
        self, seconds: float, *, censored: bool = False, window: int = 1, queue: str = ""
    ) -> Self:
        row = Availability(RUN, window, queue, 4_500, 12, ns(seconds), ns(12), censored)
        self.silences[window, queue] = row
        return self

    def missed(self, operations: int, *, window: int = 1) -> Self:
        key = window, ""
        self.silences[key] = replace(self.silences[key], missed=operations)
        return self

    def service(
        self,
        verdict: str,
        *,
        scope: str = words.RUN,
        name: str = "",
        promise: str = words.FAULT,
        window: int = 1,
        due: int = 2_000,
        ended: str = "",
    ) -> Self:
        """How a scope was served as a promise says. `ended`: what ended the outage that lasted
        from the fault until then; "" where the row alone tells of one."""
        of = self._window(window)
        load_ended = self.facts.load_ended_ns
        last = of.ended_ns if of.ended_ns is not None else load_ended
        first, last = (last, load_ended) if promise == words.HEALED else (of.returned_ns, last)
        worst = 0 if verdict in (words.SERVED, words.FEW) else last - first
        key = (window, scope, name, promise)
        self.services[key] = Service(RUN, *key, first, last, due, due, worst, verdict)
        if ended:
            self.outage(first / 1e9, last / 1e9, ended, scope=scope, name=name)
        return self

    def few(self, promise: str = words.FAULT, *, window: int = 1, due: int = 19) -> Self:
        """Of the run itself too little was due."""
        return self.service(words.FEW, promise=promise, window=window, due=due)

    def outage(
        self,
        begins: float,
        ends: float,
        ended: str = words.SYSTEM,
        *,
        scope: str = words.RUN,
        name: str = "",
        windows: str = "1",
        due: int = 900,
        bad: int = 800,
    ) -> Self:
        times = ns(begins), ns(ends)
        self.outages.append(Outage(RUN, scope, name, *times, ended, due, bad, windows))
        return self

    def second(self, number: int, *, confirmed: int, delivered: int = 0) -> Self:
        """So much was confirmed, and first delivered, in that second of the run."""
        self.seconds.append(Second(RUN, number, confirmed, 0, confirmed, delivered))
        return self

    def exposed(self, *, due: int, sent: int | None = None, window: int = 1) -> Self:
        """So much was due while the fault was in force (sent, where nothing is ever due)."""
        of = self._window(window)
        until_ns = self.facts.load_ended_ns if of.ended_ns is None else of.ended_ns
        sent = due if sent is None else sent
        self.exposures[window] = Exposure(RUN, window, of.returned_ns, until_ns, due, sent)
        return self

    def consumption(
        self,
        resumed: bool,
        *,
        scope: str = words.QUEUE,
        name: str = QUEUE,
        window: int = 1,
        due: int = 500,
    ) -> Self:
        at_ns = self._window(window).origin_ns + ns(0.161) if resumed else ns(60)
        self.consumed[window, scope, name] = Consumption(
            RUN, window, scope, name, due, resumed, at_ns
        )
        return self

    def starved(
        self,
        seconds: float,
        *,
        queue: str = QUEUE,
        place: str = "",
        window: int = 0,
        due: int = 500,
        ends: float = 60,
    ) -> Self:
        """A queue gave consumers nothing, in the steady state or after the fault."""
        from_ns, until_ns = ns(30) if window else 0, ns(ends)
        self.starvation[window, queue, place] = Starvation(
            RUN, window, queue, place, from_ns, until_ns, due, ns(seconds), from_ns
        )
        return self

    def silent_consumer(self, worker: int = 7, *, window: int = 1, due: int = 500) -> Self:
        return self.consumption(
            False, scope=words.CONSUMER, name=str(worker), window=window, due=due
        )

    def doubt(
        self,
        scope: str,
        reason: str,
        *,
        window: int = 0,
        worker: int = 0,
        queue: str = "",
        at_s: float = 12.3,
        late_s: float = 0.14,
    ) -> Self:
        late = (ns(at_s), ns(late_s)) if reason.endswith("stalled") else (0, 0)
        self.doubts.append(Doubt(RUN, scope, window, reason, queue, worker, *late))
        return self

    def unverified(self, doubt: str, cause: str = "") -> Self:
        window = replace(
            self.facts.windows[0],
            verified=False,
            unverified_reason=doubt,
            unverified_cause=cause,
        )
        self.facts = replace(self.facts, windows=(window,))
        return self.doubt("run", "fault", window=1)

    def _counts(self) -> Iterator[Count]:
        sums: Counter[tuple[str, str]] = Counter()
        for (measure, detail, _), number in self.counts.items():
            sums[measure, detail] += number
        return (Count(RUN, QUEUE, *key, number) for key, number in sums.items() if number)

    def _attributions(self) -> Iterator[Attribution]:
        every = ",".join(str(window.number) for window in self.facts.windows)
        for (measure, detail, windows), number in self.counts.items():
            if number and measure in BY_NAME and BY_NAME[measure].attributed:
                yield Attribution(
                    RUN, measure, detail, every if windows is None else windows, number
                )

    def _window(self, number: int) -> Window:
        return next(one for one in self.facts.windows if one.number == number)

    @property
    def findings(self) -> Findings:
        stages = tuple(self.stages.values())
        return Findings(
            counts=(*self._counts(), *self.of_groups),
            affected=tuple(self.affected),
            attributions=tuple(self._attributions()),
            seconds=tuple(self.seconds),
            availability=tuple(self.silences.values()),
            stages=stages,
            outages=tuple(self.outages),
            service=tuple(self.services.values()),
            exposure=tuple(self.exposures.values()),
            consumption=tuple(self.consumed.values()),
            starvation=tuple(self.starvation.values()),
            doubts=tuple(self.doubts),
            marks=digest.marks(RUN, self.affected),
            examples=digest.examples(self.affected),
            later=digest.later(self.facts, self.affected, stages),
            latencies=(),
            sending=(),
        )

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.findings, self.facts, KnownFacts.from_json(self.state))
