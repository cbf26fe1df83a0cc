"""What a newcomer asks of one run: how many were lost, how long it was out, is that proved?

1. Nothing is judged here: the numbers are those that claims are held against (evidence.py).
2. A number that may be larger is a lower bound. A time whose only bound is below BOUND_LEAST_S is
   unknown: None, with the reason.
3. Every outage counts, whatever window it lies in, and where it lies in none. One that the system
   did not end by itself makes the sum a lower bound. If no publish had an intended time, or
   publishers used no confirms, there is no history, and nothing is shown.
4. A scope keeps the SPELLS_MAX longest outages for the chart, and the number of all.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from faults.kinds import KINDS
from harness.claims.doubts import Doubts
from harness.claims.evidence import Evidence
from harness.claims.recovery import reason_near_zero
from harness.claims.stories import had_no_backlog
from harness.claims.times import fault_length_s
from harness.claims.values import Interval, NotApplicable, Unknown, Value
from harness.view.grouping import by_key
from spark_analysis.schema.comparison import Comparison
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.measures import BY_NAME
from spark_analysis.schema.measures_of_runs import STALLS
from spark_analysis.schema.service import (
    EITHER,
    NEVER,
    PUBLISHER,
    QUEUE,
    RUN,
    SYSTEM,
    UNDO,
    UNKNOWN,
    Outage,
)

NS = 1_000_000_000
# How outages ended. All but SYSTEM make the downtime a lower bound; an earlier one explains it.
HOW_ENDED = {
    NEVER: "service did not recover before the load ended",
    UNDO: "the undo of the fault ended the outage",
    EITHER: "the undo of the fault may have ended the outage",
    UNKNOWN: "the end of the outage is not on record",
    SYSTEM: "clients or brokers recovered by themselves, not by the undo of the fault",
}
SPELLS_MAX = 60


@dataclass(frozen=True, slots=True)
class Out:
    """A scope's outages together. `of`: so many queues, or publishers, there are."""

    scope: str
    name: str
    of: int
    seconds: float
    whole: bool  # the system ended each by itself
    back: bool  # it served when the load ended
    times: int  # how often it was out
    spells: tuple[Outage, ...]  # in the order of time, as they were measured
    stalled_s: float = 0.0  # stalls may have made it longer by so much; `seconds` is without them


def outs(facts: Facts, outages: Sequence[Outage]) -> tuple[Out, ...]:
    """The run first, then its worst queue and its worst publisher, where there are several of
    them and one was out; nothing where there is no history."""
    if not (facts.paced and facts.confirms):
        return ()
    run = _scope_out(RUN, "", 1, [row for row in outages if row.scope == RUN])
    publishers = sum(worker.role == "publisher" for worker in facts.workers)
    many = {QUEUE: len(facts.sent_to), PUBLISHER: publishers}
    narrow = (_worst(scope, of, outages) for scope, of in many.items() if of > 1)
    return (run, *filter(None, narrow))


def _worst(scope: str, of: int, outages: Sequence[Outage]) -> Out | None:
    by_name = by_key((row for row in outages if row.scope == scope), lambda row: row.name)
    found = [_scope_out(scope, name, of, rows) for name, rows in sorted(by_name.items())]
    return max(found, key=lambda one: one.seconds, default=None)


def _scope_out(scope: str, name: str, of: int, rows: Sequence[Outage]) -> Out:
    longest = sorted(rows, key=lambda row: row.from_ns - row.until_ns)[:SPELLS_MAX]
    return Out(
        scope=scope,
        name=name,
        of=of,
        seconds=sum(row.until_ns - row.from_ns for row in rows) / NS,
        whole=all(row.ended == SYSTEM for row in rows),
        back=all(row.ended != NEVER for row in rows),
        times=len(rows),
        spells=tuple(sorted(longest, key=lambda row: row.from_ns)),
    )


# Clients, probes and clocks are exact to some 10 ms, so a smaller lower bound excludes nothing.
BOUND_LEAST_S = 0.05
NEVER_LATE = "no message was late"
AT_ONCE = f"on time again within {BOUND_LEAST_S:g} s"
LATER_LATE = "later messages were late"
NOT_MEASURED = "not measured"  # of such a time
CUT_SHORT = "the load ended, or the next fault began, too soon to measure it"


@dataclass(frozen=True, slots=True)
class Number:
    """At least `least`; exactly that where `exact`, at most `most` where that is known. None:
    unknown, or no such thing here."""

    least: float | None
    exact: bool
    why: str = ""  # why it is unknown or only a lower bound
    most: float = math.inf

    def may_exceed(self, other: float) -> bool:
        """Return whether it is a lower bound whose true value may be larger than `other`."""
        return not self.exact and self.most > other


@dataclass(frozen=True, slots=True)
class WindowOutage:
    """One fault window, in seconds. `degraded` ends when publishes were on time again.

    `returned`: the host that it struck was seen to be back with its disk; None: it struck none.
    """

    window: int  # its number
    silence_s: Number
    degraded_s: Number
    missed: Number  # intended from this fault to the next, or the end, not confirmed in time
    operations: int  # of so many
    missed_later: int  # of those missed: due when sending had been on time for GOOD_S already
    returned: bool | None
    lasted_s: float | None  # until it was undone; None: it never was
    no_backlog: bool = False  # it is certain that no message waited longer than the deadline

    @property
    def never_late(self) -> bool:
        """Return whether it is certain that no message was late: nothing had to recover."""
        return self.missed == Number(0, True)


@dataclass(frozen=True, slots=True)
class Promised:
    """What was confirmed with one strength, and how much of it was seen to be gone."""

    rank: int  # of its level: a lower one is stronger
    strength: str  # its label
    confirmed: int
    lost: int
    stranded: int
    unreachable: int


@dataclass(frozen=True, slots=True)
class Summary:
    """One run. `of` counts what there was to see, the number before it what was seen."""

    confirmed: int
    lost: Number
    stranded: Number
    undecided: int  # messages that may or may not be lost
    promised: tuple[Promised, ...]  # the strongest promise first; only those that were given
    meanings: Mapping[str, str]  # of the levels of confirms, by label
    duplicated: Number
    duplicates: Mapping[str, int]  # of these, by what they came of, the most first
    outages: tuple[WindowOutage, ...]
    out_s: Number  # all outages of the run together
    outs: tuple[Out, ...]  # of the run, of its worst queue and its worst publisher
    faults_seen: int
    faults_of: int
    logs_closed: int
    logs_of: int
    detection_timeout_s: float | None  # the layout's; None: no fault waits for it, or unknown
    poll_s: float | None  # so often clients ask who the masters are; None: they do not ask
    has_consumers: bool  # before the drain; True where that is not on record
    groups: int  # consumer groups that each have to get every message; 1 without groups
    unsent: int  # messages that were never sent; 0 if faults kept publishers away
    stalled: bool  # a worker stalled, so times may be lower bounds
    backlog_left: bool  # it is certain that one did when the load ended
    waiting: int | None = None  # of a backlog left: how many messages; None: unknown

    @property
    def loss_proved(self) -> bool:
        return self.lost.exact and self.stranded.exact

    @property
    def outage_proved(self) -> bool:
        """An outage that did not end is proved to have lasted so long; an unknown one is not."""
        return self.out_s.least is not None or not self.out_s.why

    @property
    def no_downtime(self) -> bool:
        """Return whether it is certain that nothing was ever unavailable."""
        return self.out_s.least == 0 and self.out_s.exact and self.worst is None

    @property
    def never_late(self) -> bool:
        """Return whether it is certain that no message was late after a fault."""
        return bool(self.outages) and all(one.never_late for one in self.outages)

    @property
    def no_backlog(self) -> bool:
        """Return whether it is certain that no confirmed message waited longer than the deadline
        after a fault."""
        return bool(self.outages) and all(one.no_backlog for one in self.outages)

    @property
    def worst(self) -> Out | None:
        """Of several queues or publishers the one that was out for longest; where times of the
        run are in doubt, so are theirs."""
        known = self.outs[1:] if self.out_s.least is not None else ()
        return max(known, key=lambda one: one.seconds, default=None)


def summary(evidence: Evidence) -> Summary:
    facts, counted = evidence.facts, evidence.counted
    found = outs(facts, evidence.findings.outages)
    return Summary(
        confirmed=counted.total("state", "acknowledged"),
        lost=_number(evidence.value("lost")),
        stranded=_number(evidence.value("stranded")),
        undecided=counted.undecided(),
        promised=tuple(_promised(evidence)),
        meanings={level.label: level.explained for level in facts.levels},
        duplicated=_number(evidence.value("duplicated")),
        duplicates=dict(counted.details("duplicated").most_common()),
        outages=tuple(_outage(evidence, window) for window in facts.windows),
        out_s=_total_downtime(evidence, found),
        outs=shortened(found, evidence.doubts),
        faults_seen=sum(window.verified and window.gone for window in facts.windows),
        faults_of=len(facts.planned_windows),
        logs_closed=sum(worker.log_closed for worker in facts.workers),
        logs_of=len(facts.workers),
        detection_timeout_s=_detection_timeout_s(evidence),
        poll_s=_seconds(evidence.value("route_poll_s")),
        has_consumers=evidence.state.lacks("consumers") is not True,
        groups=max(1, len(facts.consumer_groups)),
        unsent=0 if counted.total("excused") else counted.details("state")["not_sent"],
        stalled=any(one.reason in STALLS for one in evidence.doubts),
        backlog_left=_backlog_left(evidence),
    )


def _backlog_left(evidence: Evidence) -> bool:
    if not evidence.facts.windows:
        return False
    last = max(window.number for window in evidence.facts.windows)
    resumed = _number(evidence.value("consumers_resumed_s", last))
    gone = _number(evidence.value("backlog_drained_s", last))
    return resumed.exact and gone.least is not None and not gone.exact and not gone.why


def _detection_timeout_s(evidence: Evidence) -> float | None:
    """Return the layout's detection timeout, if some fault of the run left its peers in silence:
    a killed process closes its connections at once. Where a majority elects the leader, the
    election timer of the group decides, and its length is not on record."""
    kinds = [KINDS.get(window.kind) for window in evidence.facts.windows]
    silent = any(kind is None or kind.silences_peers for kind in kinds)
    if not silent or evidence.value("elects_by_majority") is True:
        return None
    return _seconds(evidence.value("detection_timeout_s"))


def is_near_zero(seconds: float) -> bool:
    """Return whether a time is too short to tell from 0."""
    return seconds < BOUND_LEAST_S


def _time(value: Value) -> Number:
    """Return a time, or an unknown one if its only bound is below BOUND_LEAST_S."""
    if isinstance(value, Interval) and value.low != value.high and is_near_zero(value.low):
        return Number(None, False, reason_near_zero(value.doubt))
    return _number(value)


def is_uninformative(row: Comparison) -> bool:
    """Return whether all judged runs know a time by a lower bound below BOUND_LEAST_S only."""
    if row.unit != "ns" or row.maximum is None or row.bounds < row.judged:
        return False
    return is_near_zero(row.maximum / 1e9)


def _outage(evidence: Evidence, window: Window) -> WindowOutage:
    row = evidence.recovery.availability(window.number)
    # Where sending was never on time again there is no later.
    later = (one for one in evidence.findings.later if one.window == window.number)
    return WindowOutage(
        window=window.number,
        silence_s=_time(evidence.value("silence_s", window.number)),
        degraded_s=_time(evidence.value("degraded_s", window.number)),
        missed=_number(evidence.value("missed", window.number)),
        operations=row.operations if row is not None else 0,
        missed_later=sum(one.missed for one in later),
        returned=_returned(evidence, window),
        lasted_s=fault_length_s(window),
        no_backlog=had_no_backlog(evidence, window.number),
    )


def _total_downtime(evidence: Evidence, found: tuple[Out, ...]) -> Number:
    """Of the whole run: a doubt about any window is one about the sum."""
    if not found:
        return Number(None, True)
    stalled_s, why_bound = _stalls(evidence.doubts)
    if stalled_s is None:
        return Number(None, False, why_bound)
    run = found[0]
    ends = {one.ended for one in run.spells}
    bounds = (text for ended, text in HOW_ENDED.items() if ended != SYSTEM and ended in ends)
    why = next(bounds, "")
    if not why_bound:
        return Number(run.seconds, run.whole, why)
    least_s = max(0.0, run.seconds - stalled_s)
    if not least_s:
        return Number(None, False, why_bound)
    most_s = run.seconds if run.whole else math.inf  # stalls only lengthen what is measured
    return Number(least_s, False, "; ".join(filter(None, (why, why_bound))), most_s)


def _stalls(doubts: Doubts) -> tuple[float | None, str]:
    """Return by how much stalls may have lengthened the outages of a run, and the stall; None and
    why, if something else makes them unknown."""
    stops = {(one.scope, one.reason) for one in BY_NAME["total_downtime"].stopped_by}
    stalled_s, why = dict[int, float](), ""
    for doubt in doubts:
        if doubt.scope == "run" or (doubt.scope, doubt.reason) in stops:
            of_window_s = doubts.lengthened_s(doubt.window)
            if doubt.scope == "run" or of_window_s is None:
                return None, doubt.sentence
            stalled_s[doubt.window], why = of_window_s, doubt.sentence
    return sum(stalled_s.values()), why


def shortened(found: tuple[Out, ...], doubts: Doubts) -> tuple[Out, ...]:
    """Return the outages as lower bounds if stalls may have lengthened them, or may be all of
    them."""
    stalled_s, _ = _stalls(doubts)
    if not stalled_s:
        return found
    return tuple(
        replace(one, seconds=max(0.0, one.seconds - stalled_s), whole=False, stalled_s=stalled_s)
        if one.times
        else one
        for one in found
    )


def _returned(evidence: Evidence, window: Window) -> bool | None:
    """An operation may have taken a disk away, too."""
    spared = window.properties.spares_disk if window.properties is not None else None
    if spared is None:
        return None
    wiped = evidence.value("lost_disk")
    kept = spared and (isinstance(wiped, NotApplicable) or wiped == "none")
    return kept and evidence.value("fault_returned", window.number) is True


def _promised(evidence: Evidence) -> Iterator[Promised]:
    total = evidence.counted.total
    for rank, strength in sorted(evidence.facts.labels.items()):
        if confirmed := total("confirmed", strength):
            lost, stranded = total("lost", strength), total("stranded", strength)
            yield Promised(
                rank, strength, confirmed, lost, stranded, total("unreachable", strength)
            )


def _seconds(value: Value) -> float | None:
    return value.low if isinstance(value, Interval) else None


def _number(value: Value) -> Number:
    if isinstance(value, Interval):
        exact = value.low == value.high
        least = None if math.isinf(value.low) else value.low
        return Number(least, exact, str(value.doubt), math.inf if exact else value.high)
    if isinstance(value, Unknown):
        return Number(None, False, str(value.reason))
    return Number(None, True)  # there is no such thing here, so nothing is open
