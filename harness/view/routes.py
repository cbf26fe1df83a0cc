"""What name servers showed, who led by the voters' word, whom clients asked and what they
believed, for a person: sentences and rows.

1. A change has bounds: it lies between two queries. What a silent name server would have shown is
   unknown, and is drawn as unknown.
2. The route of each queue's topic is shown, because clients use it. What the cluster's own list
   showed is in the marts.
3. Bounded: at most ROWS_MAX rows of servers, as many of what clients believed, and SENTENCES_MAX
   sentences; what was left out is counted.
4. What a client believed is the route that its own library took last, which it looked at four
   times a second: a change came up to 0.25 s before its report.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeVar

from harness.plan.declared import NAME_SERVERS_HIT
from harness.plan.fault_words import affects_links
from harness.run_folder.manifest import Manifest
from harness.run_folder.rows import ClientEvent
from harness.view.grouping import by_key
from harness.view.new_masters import NEW_MASTER
from harness.view.observations import Observation
from harness.view.summary import NS
from harness.view.voter_hosts import leader_hosts, views_with_hosts
from spark_analysis.schema.availability import Stage
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.measures import STAGE_TITLES
from spark_analysis.schema.views import (
    LEADER,
    NOTHING,
    NOTHING_BEFORE,
    ROUTE,
    STAGES,
    Change,
    QueryTotals,
    Shown,
    Silence,
    Views,
    broker_in,
    sentences,
)

ROWS_MAX = 24
SENTENCES_MAX = 40
POLLED_WITHIN_S = 0.5  # twice a second, at least
SHOWN, DROPPED, SILENT, ATTACHED_TO = "shown", "dropped", "silent", "asked"
SAID = "said"
# The verb for a change, the kind of its stretch, and the text in it once nothing is shown.
OF_NAME_SERVERS = {True: ("showed", SHOWN, ""), False: ("dropped", DROPPED, "dropped")}
OF_VOTERS = {True: ("reported", SAID, ""), False: ("no longer reported", SAID, "nothing")}
ATTACHED = "attached"  # of clients' events; their routes are of the kind that name servers' are
NAME_SERVER = "name server"
SENTENCE = "name_server"  # the observations that tell of one name server
_PROBER = "prober-"

T = TypeVar("T", Change, Silence)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which something was so; `state` is one of the words above."""

    from_ns: int
    until_ns: int
    state: str
    text: str  # in few letters
    title: str


@dataclass(frozen=True, slots=True)
class RouteRow:
    """A row of a picture. `source`: the name server or voter that showed it, or the client that
    believed it. `broker`: what it is about; "": about the source alone. `number`: of a process in
    that broker's group, 0: the master; None: about no single process."""

    source: str
    stretches: tuple[Stretch, ...]
    broker: str = ""
    number: int | None = None

    @property
    def is_master(self) -> bool:
        return self.number == 0

    @property
    def name(self) -> str:
        """Return `rkt2: broker-a master`."""
        if not self.broker:
            return self.source
        if self.number is None:
            return f"{self.source}: {self.broker}"
        role = f"slave {self.number}" if self.number else "master"
        return f"{self.source}: {self.broker} {role}"


@dataclass(frozen=True, slots=True)
class Routes:
    """`servers`: what each name server showed of each broker, and whom each voter said to lead;
    `clients`: whom each one asked; `believed`: of each broker, where its route had it."""

    servers: tuple[RouteRow, ...] = ()
    clients: tuple[RouteRow, ...] = ()
    believed: tuple[RouteRow, ...] = ()
    sends: tuple[RouteRow, ...] = ()  # of each publisher (failing.py)
    left_out: int = 0  # rows of servers
    believed_left_out: int = 0


def routes(
    manifest: Manifest,
    views: Views,
    clients: Iterable[ClientEvent],
    sends: tuple[RouteRow, ...] = (),
) -> Routes:
    views = views_with_hosts(views, leader_hosts(manifest, views))
    servers = [row for poll in _of_kind(views, ROUTE) for row in _rows_of(poll, manifest, views)]
    servers += [row for poll in _of_kind(views, LEADER) for row in _said_by(poll, views)]
    events = tuple(clients)
    believed = tuple(_believed(manifest, events))
    return Routes(
        *(tuple(servers[:ROWS_MAX]), tuple(_attached(manifest, events))),
        *(believed[:ROWS_MAX], sends[:ROWS_MAX]),
        *(max(0, len(rows) - ROWS_MAX) for rows in (servers, believed)),
    )


def observe(
    manifest: Manifest, findings: Findings, views: Views, judged: bool
) -> tuple[Observation, ...]:
    """How often name servers were asked, when the route changed, and what each of them told.

    `findings`: with the stages of new_masters.py. `judged`: no doubt stands against the whole run.
    """
    views = views_with_hosts(views, leader_hosts(manifest, views))
    changes = sorted((*_route_changes(manifest, views), *_leader_changes(views)))
    lines = [Observation(SENTENCE, 0, True, text) for _, text in changes[:SENTENCES_MAX]]
    if len(changes) > SENTENCES_MAX:
        more = f"{len(changes) - SENTENCES_MAX} more changes of the route are in marts/changes"
        lines.append(Observation(SENTENCE, 0, True, more))
    return (*_asking(views), *_stages(findings, manifest, views, judged), *lines)


def _of_kind(views: Views, kind: str) -> list[QueryTotals]:
    return sorted(poll for poll in views.queries if poll.kind == kind)


def _asking(views: Views) -> Iterator[Observation]:
    routed = _of_kind(views, ROUTE)
    if not routed:
        return
    gap_s = max(poll.gap_ns for poll in views.queries) / NS
    looks, servers = min(poll.looks for poll in routed), {poll.name_server for poll in routed}
    which = f"each of {len(servers)} name servers" if len(servers) > 1 else "the name server"
    often = f"at least {looks} times, at most {gap_s:.2f} s apart"
    text = f"mqproof queried {which} for the route {often}"
    if gap_s > POLLED_WITHIN_S:
        text += f": more than the intended {POLLED_WITHIN_S:g} s, because the machine was busy"
    text += _unanswered(views)
    yield Observation("name_servers_queried", 0, gap_s <= POLLED_WITHIN_S, text)


def _unanswered(views: Views) -> str:
    """Return `; rkt1 gave no answer for 23.3 s`, the longest time of each; "" if all answered."""
    routed = (one for one in views.silences if one.kind == ROUTE)
    longest = (
        (name, max(one.until_ns - one.from_ns for one in own) / NS)
        for name, own in sorted(by_key(routed, lambda one: one.name_server).items())
    )
    return "".join(f"; {name} gave no answer for {seconds:.1f} s" for name, seconds in longest)


def _stages(
    findings: Findings, manifest: Manifest, views: Views, judged: bool
) -> Iterator[Observation]:
    titles = {name: STAGE_TITLES[name] for name in STAGES}
    titles[NEW_MASTER] = NEW_MASTER.replace("_", " ")
    stages = sorted(row for row in findings.stages if row.stage in titles)
    for window, rows in by_key(stages, lambda row: row.window).items():
        ordered = sorted(rows, key=lambda row: [*titles].index(row.stage))
        delays = ", ".join(f"{titles[row.stage]} {between(row)}" for row in ordered)
        without = "".join(_silenced(window, manifest, views))
        yield Observation("route", window, judged, f"fault {window}: {delays}{without}")


def beside_target(
    state: Mapping[str, Any], window: int, kind: str, target: str, place: str
) -> str:
    """Return `name server` if a fault hit a host for another reason, and a name server ran there.
    `state`: of the manifest."""
    meant = affects_links(kind) or NAME_SERVER in target
    return NAME_SERVER if place in _name_servers_hit(state, window) and not meant else ""


def _name_servers_hit(state: Mapping[str, Any], window: int) -> Sequence[str]:
    hit = state.get("windows", {}).get(str(window), {}).get(NAME_SERVERS_HIT)
    return hit if isinstance(hit, list) else ()


def _silenced(window: int, manifest: Manifest, views: Views) -> Iterator[str]:
    """Yield each name server that the stages leave out because the fault hit its host."""
    silent = {
        one.name_server
        for fault in manifest.windows
        for one in views.silences
        if (fault.number, one.kind) == (window, ROUTE)
        and one.from_ns - NS <= fault.returned_ns < one.until_ns
    }
    for name in sorted(silent.intersection(_name_servers_hit(manifest.state, window))):
        yield f"; without name server {name}, on the host that the fault hit"


def between(row: Stage) -> str:
    """`after 12.031 to 12.437 s`, for it happened between two looks; or `not within 27.4 s`."""
    after_s = row.after_ns / NS
    if not row.reached:
        return f"not within {after_s:.1f} s"
    return f"after {after_s - row.uncertainty_ns / NS:.3f} to {after_s:.3f} s"


def _route_changes(manifest: Manifest, views: Views) -> Iterator[tuple[int, str]]:
    """Sentences, each with the time that it is sorted by."""
    for poll in _of_kind(views, ROUTE):
        whose = f"name server {poll.name_server}{_topic(poll.prober, manifest, views)}"
        for silence in _of(views.silences, poll):
            yield silence.from_ns, f"{whose} {_silence(silence)}"
        for bounds, together in groupby(_later(poll, views), key=_bounds):
            parts = (
                f"{OF_NAME_SERVERS[shown][0]} {', '.join(one.what for one in rows)}"
                for shown, rows in groupby(together, key=lambda one: one.shown)
            )
            yield bounds[1], f"{whose} {', and '.join(parts)} {_between(*bounds)}"


def _leader_changes(views: Views) -> Iterator[tuple[int, str]]:
    """Each with the time that it is sorted by."""
    for poll in _of_kind(views, LEADER):
        for silence in _of(views.silences, poll):
            yield silence.from_ns, f"{poll.name_server} {_silence(silence)}"
        for change in (one for one in _later(poll, views) if one.shown):
            when = _between(*_bounds(change))
            yield change.by_ns, f"{poll.name_server} reported {change.what} {when}"


def _later(poll: QueryTotals, views: Views) -> list[Change]:
    """What changed after the first look, in time."""
    later = [one for one in _of(views.changes, poll) if one.after_ns != NOTHING_BEFORE]
    return sorted(later, key=lambda one: (one.by_ns, one.after_ns, one.shown, one.what))


def _between(after_ns: int, by_ns: int) -> str:
    return f"between +{after_ns / NS:.2f} s and +{by_ns / NS:.2f} s"


def _silence(one: Silence) -> str:
    end = "" if one.ended else ", to its last look"
    times = f"from +{one.from_ns / NS:.2f} s to +{one.until_ns / NS:.2f} s{end}"
    return f"gave no answer {times}: {one.why}"


def _topic(prober: int, manifest: Manifest, views: Views) -> str:
    """Return the topic of a route in brackets, where there are several."""
    if len({poll.prober for poll in _of_kind(views, ROUTE)}) == 1:
        return ""
    return f" ({_name(prober, manifest).removeprefix(_PROBER)})"


def _name(number: int, manifest: Manifest) -> str:
    return manifest.worker_names.get(number, f"worker {number}")


def _of(rows: Iterable[T], poll: QueryTotals) -> list[T]:
    way = (poll.prober, poll.kind, poll.name_server)
    return [row for row in rows if (row.prober, row.kind, row.name_server) == way]


def _rows_of(poll: QueryTotals, manifest: Manifest, views: Views) -> Iterator[RouteRow]:
    """A row a broker that a name server ever showed."""
    whose = f"{poll.name_server}{_topic(poll.prober, manifest, views)}"
    found = [(change, broker_in(change.what)) for change in _in_time(poll, views)]
    shown = [(change, one) for change, one in found if one is not None]
    brokers = by_key(shown, lambda each: (each[1].broker, each[1].id))
    for who, changes in sorted(brokers.items()):
        held = [(change, one.address) for change, one in changes]
        stretches = _shown(held, poll.last_ns, OF_NAME_SERVERS)
        yield RouteRow(whose, (*stretches, *_silent(poll, views)), *who)


def _said_by(poll: QueryTotals, views: Views) -> Iterator[RouteRow]:
    """A row a group, or what else a voter ever said anything of."""
    said = [(change, *change.what.partition(": ")[::2]) for change in _in_time(poll, views)]
    for subject, changes in sorted(by_key(said, lambda each: each[1]).items()):
        stretches = _shown([(one, text) for one, _, text in changes], poll.last_ns, OF_VOTERS)
        yield RouteRow(poll.name_server, (*stretches, *_silent(poll, views)), subject)


def _in_time(poll: QueryTotals, views: Views) -> list[Change]:
    return sorted(_of(views.changes, poll), key=lambda one: (one.by_ns, one.shown))


def _shown(
    changes: list[tuple[Change, str]], last_ns: int, words: Mapping[bool, tuple[str, str, str]]
) -> Iterator[Stretch]:
    """From each change to the next one; the last view holds to the last look."""
    ends = [change.by_ns for change, _ in changes[1:]] + [last_ns]
    for (change, value), end_ns in zip(changes, ends, strict=True):
        if end_ns <= change.by_ns:
            continue  # moved to another value in one look
        verb, state, gone = words[change.shown]
        first = change.after_ns == NOTHING_BEFORE
        when = f"by +{change.by_ns / NS:.2f} s" if first else _between(*_bounds(change))
        title = f"{change.name_server} {verb} {change.what} {when}"
        yield Stretch(change.by_ns, end_ns, state, gone or value, title)


def _bounds(change: Change) -> tuple[int, int]:
    return change.after_ns, change.by_ns


def _silent(poll: QueryTotals, views: Views) -> Iterator[Stretch]:
    for one in _of(views.silences, poll):
        title = f"{one.name_server} {_silence(one)}"
        yield Stretch(one.from_ns, one.until_ns, SILENT, "no answer", title)


def _attached(manifest: Manifest, clients: Iterable[ClientEvent]) -> Iterator[RouteRow]:
    """A row a client that told whom it asks, from each word of it to the next, or to its end."""
    for name, events in _by_worker(ATTACHED, manifest, clients):
        stretches = []
        for event, end_ns in (each for each in events if each[0].kind == ATTACHED):
            whom = event.detail or "no name server"
            title = f"{name} queried {whom} from +{event.at_ns / NS:.2f} s"
            stretches.append(Stretch(event.at_ns, end_ns, ATTACHED_TO, whom, title))
        if stretches:
            yield RouteRow(name, tuple(stretches))


def _believed(manifest: Manifest, clients: Iterable[ClientEvent]) -> Iterator[RouteRow]:
    """A row a client and broker, from when its route first had the broker, to its end."""
    for name, events in _by_worker(ROUTE, manifest, clients):
        brokers: dict[tuple[str, int], list[Stretch]] = {}
        for event, end_ns in events:
            there = _route_in(event)
            if there is None:
                continue
            for who in sorted({*brokers, *there}):
                stretch = _holding(name, who, there.get(who), event.at_ns, end_ns)
                _join(brokers.setdefault(who, []), stretch)
        for who, stretches in sorted(brokers.items()):
            yield RouteRow(name, tuple(stretches), *who)


def _route_in(event: ClientEvent) -> dict[tuple[str, int], Shown] | None:
    """Return None for an end, and if the library had no route or it is unknown."""
    found = filter(None, map(broker_in, sentences(event.detail)))
    there = {(one.broker, one.id): one for one in found}
    return there if event.kind == ROUTE and (there or event.detail == NOTHING) else None


def _holding(
    name: str, who: tuple[str, int], shown: Shown | None, from_ns: int, until_ns: int
) -> Stretch:
    """What a client's route had of one broker, or that it had none."""
    since = f"by +{from_ns / NS:.2f} s"
    if shown is None:
        broker = Shown(*who, "").process
        title = f"the route of {name} no longer had {broker} {since}"
        return Stretch(from_ns, until_ns, DROPPED, "dropped", title)
    title = f"the route of {name} had {shown} {since}"
    return Stretch(from_ns, until_ns, SHOWN, shown.address, title)


def _join(stretches: list[Stretch], new: Stretch) -> None:
    """Join stretches of the same content; unknown ones stay between them."""
    last = stretches[-1] if stretches else None
    if last and (last.state, last.text, last.until_ns) == (new.state, new.text, new.from_ns):
        stretches[-1] = replace(last, until_ns=new.until_ns)
    else:
        stretches.append(new)


def _by_worker(
    kind: str, manifest: Manifest, clients: Iterable[ClientEvent]
) -> Iterator[tuple[str, list[tuple[ClientEvent, int]]]]:
    """Its name, and its events of this kind and its end, each with the time of the next one; of
    the last, the last that is on record."""
    wanted = (event for event in clients if event.kind in (kind, "closed"))
    for worker, found in sorted(by_key(wanted, lambda one: one.worker).items()):
        events = sorted(found, key=lambda one: one.at_ns)
        last_ns = max([events[-1].at_ns, *manifest.phases_ns.values()])
        ends_ns = [event.at_ns for event in events[1:]] + [last_ns]
        yield _name(worker, manifest), list(zip(events, ends_ns, strict=True))
