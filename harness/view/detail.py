"""What a page shows of one run beyond its verdicts: its timeline, and some messages' stories.

1. Bounded: of each class of affected messages its examples, of a run at most STORIES_OF_RUN_MAX,
   the gravest classes first, with the total number of each.
2. If a raw table cannot be read, the page lacks its content and says so; the verdict stays.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

from harness.plan.clients.registry import registry
from harness.plan.layouts.layout_values import BY_NAME_SERVERS
from harness.run_folder import rows
from harness.run_folder.manifest import Manifest
from harness.run_folder.replica_looks import KIND as LOOK
from harness.run_folder.replica_looks import looks
from harness.view.failing import Failing, sending
from harness.view.grouping import by_key
from harness.view.message_traces import Records, trace
from harness.view.minorities import MinorityTime, minorities
from harness.view.outage_answers import answers_in
from harness.view.overtaking import OUT_OF_ORDER, Neighbours
from harness.view.routes import ATTACHED, routes
from harness.view.takeovers import Takeover, replica_steps, takeovers
from harness.view.timeline import PROOFS, Timeline, timeline
from harness.view.trace_steps import MessageTrace
from harness.view.voter_hosts import events_with_hosts, leader_hosts
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.measure import Grade
from spark_analysis.schema.measures import BY_NAME, PARTS, grade, gravity
from spark_analysis.schema.messages import Affected, Count
from spark_analysis.schema.views import Views
from spark_analysis.schema.words import NEVER_SENT

STORIES_OF_RUN_MAX = 60
SAMPLES_MAX = 200_000  # of what hosts used: one a host and second
NEIGHBOURS_MAX = 100_000  # rows of messages that may have overtaken others
ROWS_MAX = 20_000  # of a small table, and of all rows of the messages that are shown


@dataclass(frozen=True, slots=True)
class AffectedClass:
    """All messages of one measure and detail: how many there are, and the stories of some."""

    measure: str
    detail: str
    number: int
    traces: tuple[MessageTrace, ...]


@dataclass(frozen=True, slots=True)
class Detail:
    """`unreadable`: why something is missing here; "" where nothing is."""

    manifest: Manifest
    timeline: Timeline
    affected: tuple[AffectedClass, ...]
    unreadable: str = ""
    failing: tuple[Failing, ...] = ()
    takeovers: tuple[Takeover, ...] = ()
    answers: Mapping[int, str] = field(default_factory=dict)  # about outages, by their begin
    minorities: tuple[MinorityTime, ...] = ()


def records_of(folder: Path, findings: Findings, client: str) -> Records:
    examples = _examples_shown(findings.examples)
    try:
        records = _read(folder, [row for group in examples.values() for row in group])
        answers = answers_in(folder, findings.outages, failures_of(client))
        return replace(records, answers=answers)
    except rows.Unreadable as failure:
        return Records(unreadable=str(failure))


def detail_of(
    records: Records,
    manifest: Manifest,
    facts: Facts,
    findings: Findings,
    views: Views,
    failing: tuple[Failing, ...],
) -> Detail:
    """Return what a person wants to see of a run whose raw rows were read before."""
    examples = _examples_shown(findings.examples)
    records = replace(
        records,
        schedule=manifest.schedule,
        workers=manifest.worker_names,
        by_name_servers=BY_NAME_SERVERS in manifest.endpoints.values(),
        not_accepted=_not_accepted(manifest.client),
        clients=events_with_hosts(records.clients, leader_hosts(manifest, views)),
    )
    asks = any(one.kind == ATTACHED for one in records.clients)
    drawn = routes(
        manifest, views, records.clients, sending(manifest, findings.sending) if asks else ()
    )
    numbers = _numbers(findings.counts)

    line = timeline(manifest, facts, findings, records, drawn)
    taken = takeovers(line.faults, facts, manifest.state, records.looks)
    steps = replica_steps(records.looks, taken, manifest.state)
    records = replace(records, replica_steps=tuple(steps))

    def traces(name: tuple[str, str]) -> tuple[MessageTrace, ...]:
        return tuple(trace(one, records, facts) for one in examples.get(name, ()))

    return Detail(
        manifest=manifest,
        timeline=line,
        affected=tuple(
            AffectedClass(*name, number, traces(name))
            for name, number in sorted(numbers.items(), key=lambda item: _gravity(item[0]))
        ),
        unreadable=records.unreadable,
        failing=failing,
        takeovers=taken,
        answers=records.answers,
        minorities=minorities(manifest, line.faults, records.looks),
    )


def _not_accepted(client: str) -> Mapping[str, str]:
    known = registry().clients.get(client)
    return {} if known is None else known.family.not_accepted


def failures_of(client: str) -> Mapping[str, str]:
    """Return what this client reports of attempts that failed, each with its meaning."""
    known = registry().clients.get(client)
    return {**known.family.unanswered, **_not_accepted(client)} if known else {}


def _numbers(counts: Iterable[Count]) -> Counter[tuple[str, str]]:
    """How many cases each class of affected messages has, on all queues."""
    found: Counter[tuple[str, str]] = Counter()
    for row in counts:
        if BY_NAME[row.measure].listed and row.measure not in PARTS:
            found[row.measure, row.detail] += row.count
    return found


def _examples_shown(examples: Iterable[Affected]) -> dict[tuple[str, str], list[Affected]]:
    """Return the rows whose stories are shown, by measure and detail; a class may have none."""
    order = attrgetter("at_ns", "producer", "sequence", "attempt")
    own = (row for row in examples if row.measure not in PARTS)
    groups = by_key(sorted(own, key=order), lambda row: (row.measure, row.detail))
    left = STORIES_OF_RUN_MAX
    for name in sorted(groups, key=_gravity):
        groups[name] = groups[name][:left]
        left -= len(groups[name])
    return groups


def _gravity(name: tuple[str, str]) -> tuple[bool, int, tuple[str, str]]:
    """What broke a promise comes before all else."""
    measure, of = name
    violates = measure in BY_NAME and grade(measure, of) is Grade.VIOLATION
    return not violates, gravity(measure), name


def _read(folder: Path, examples: list[Affected]) -> Records:
    records = Records(
        faults=rows.read(folder, rows.FaultEvent, ROWS_MAX),
        probes=rows.read(folder, rows.Probe, ROWS_MAX, rows.field("kind").isin(PROOFS)),
        operations=rows.read(folder, rows.Operation, ROWS_MAX),
        clients=rows.read(folder, rows.ClientEvent, ROWS_MAX),
        looks=looks(rows.read(folder, rows.Probe, ROWS_MAX, rows.field("kind") == LOOK)),
    )
    if examples:
        of = _of(examples)
        deliveries = rows.read(folder, rows.Delivery, ROWS_MAX, _deliveries_of(examples))
        records = replace(
            records,
            attempts=rows.read(folder, rows.Attempt, ROWS_MAX, of),
            settlements=rows.read(folder, rows.Settlement, ROWS_MAX, of),
            deliveries=deliveries,
            acknowledgements=_acknowledgements(folder, deliveries),
            terms=rows.read(folder, rows.TermsRow, ROWS_MAX, of),
        )
        records = replace(records, neighbours=_neighbours(folder, examples, records.attempts))
    return replace(records, samples=rows.read(folder, rows.Resource, SAMPLES_MAX))


def _neighbours(
    folder: Path, examples: list[Affected], attempts: Iterable[rows.Attempt]
) -> Neighbours:
    """Return the rows that may show which messages overtook these."""
    late = [row for row in examples if row.measure in OUT_OF_ORDER]
    names = {(row.producer, row.sequence) for row in late}
    own = [one for one in attempts if (one.producer, one.sequence) in names]
    own = [one for one in own if one.sent_ns != NEVER_SENT]
    if not own:
        return Neighbours()
    field, until_ns = rows.field, max(row.at_ns for row in late)
    from_ns = min(one.sent_ns for one in own)
    of = field("producer").isin(sorted({one.producer for one in own}))
    keys = field("key").isin(sorted({one.key for one in own}))

    def between(name: str) -> Any:
        return of & (field(name) >= from_ns) & (field(name) <= until_ns)

    return Neighbours(
        rows.read(folder, rows.Attempt, NEIGHBOURS_MAX, between("sent_ns") & keys),
        rows.read(folder, rows.Delivery, NEIGHBOURS_MAX, between("received_ns")),
    )


def _of(examples: list[Affected]) -> Any:
    """Rows of these messages, and a few more where producers share sequences."""
    producers = sorted({row.producer for row in examples})
    sequences = sorted({row.sequence for row in examples})
    return rows.field("producer").isin(producers) & rows.field("sequence").isin(sequences)


def _deliveries_of(examples: list[Affected]) -> Any:
    broken = sorted({row.at_ns for row in examples if row.producer < 0})
    found = _of(examples)
    if broken:
        found = found | ((rows.field("header_ok") == 0) & rows.field("received_ns").isin(broken))
    return found


def _acknowledgements(folder: Path, deliveries: list[rows.Delivery]) -> list[rows.Acknowledgement]:
    """The frames that cover these deliveries: a frame covers a range, so each range is asked."""
    found: dict[rows.Acknowledgement, None] = {}
    ways = by_key(deliveries, lambda row: (row.consumer, row.connection))
    for (consumer, connection), own in sorted(ways.items()):
        tags = [row.tag for row in own]
        where = (
            (rows.field("consumer") == consumer)
            & (rows.field("connection") == connection)
            & (rows.field("first_tag") <= max(tags))
            & (rows.field("last_tag") >= min(tags))
        )
        for batch in rows.batches(folder, "acknowledgements", _ACK_COLUMNS, where):
            for row in batch.to_pylist():
                if any(row["first_tag"] <= tag <= row["last_tag"] for tag in tags):
                    found[rows.Acknowledgement(**row)] = None
    return list(found)


_ACK_COLUMNS = ["consumer", "connection", "first_tag", "last_tag", "written_ns"]
