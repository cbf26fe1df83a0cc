"""Doubts in words: what could not be judged, why, and what to do about it.

1. A doubt has a scope (docs/verdicts.md 10): the whole run, availability of a window, or the
   findings of a log. It never reaches beyond its scope.
2. Workers and queues are named as the user knows them: `publisher 1`, `orders`.
3. If several doubts affect one fact, the first is reported.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf

from harness.claims.values import Interval, Unknown, Value, Why
from harness.run_folder.process_ends import unplanned_text, watch_lost_text
from spark_analysis.schema.doubts import Doubt
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.measures_of_runs import (
    CONSUMER_STALLED,
    CONSUMER_STALLS,
    CONSUMERS_ABSENT,
    LONG_STALLS,
    OF_CONSUMERS,
    STALLS,
)
from spark_analysis.schema.messages import NO_FAULT, Count
from spark_analysis.schema.words import ProblemCause, UnverifiedCause

_QUIETER = "run it again on a quieter machine, or with a lower rate"
_ADVICE = {
    "fault": "see how the fault was verified (manifest, brokers' logs), then run it again",
    "clock": "run it again on a machine that is not suspended during the run",
    "causality": "compare the workers' clocks, find the wrong log, then run it again",
    **dict.fromkeys(("stalled", "stalls", CONSUMER_STALLED, CONSUMER_STALLS), _QUIETER),
    "publisher_log": "see how the worker ended (manifest, workers), then run it again",
    "consumer_log": "see how the worker ended (manifest, workers), then run it again",
    "publishers_absent": 'target only one publisher of several: target = "publisher-1"',
    "consumers_absent": 'target only one consumer of several: target = "consumer-1"',
    "drain": "see why the queue could not be emptied; if messages kept coming, raise drain_limit",
    "not_due": "let the drain last until the longest delay is over (drain_limit)",
    "pending": "keep the producers running until the broker has checked their transactions",
    "unreadable": "start the host again and read the place, or let the scenario return the host",
}
_ON_FAULTS = {  # by the cause of an unverified fault
    # A target that means no host, or a host that another fault has, does so in the next run.
    UnverifiedCause.NEVER_BEGAN: (
        "choose a target that exists then and that no other fault has: `host of fault N` and "
        "`other than fault N` name one by an earlier fault (docs/scenarios.md)"
    ),
    UnverifiedCause.NO_LEADER: (
        "see in broker_logs why no host led then, and whether this machine was too busy for the "
        "brokers; then run it again"
    ),
    # What is shorter than a check is so in every run.
    UnverifiedCause.TOO_SHORT: (
        "let the fault last longer than its check (3.5 s at most); or use a packet filter, "
        "as in Compose (docs/faults.md): it counts the packets that it drops"
    ),
    UnverifiedCause.ENDED_EARLY: (
        "switch off what starts brokers again (systemd: `Restart=no`), or let the fault end "
        "before that (shorter `lasts`)"
    ),
}
_ON_PROBLEMS = {  # of the whole run, by their cause
    ProblemCause.INTERRUPTED: "run it again, and let it run to its end",
    ProblemCause.FAILED: "remove the named cause, then run it again",
    ProblemCause.DIED: (
        "see why mqproof itself ended (a signal 9, memory, power), then run it again to its end"
    ),
    ProblemCause.OPERATION: "see why the operation failed (broker_logs), then run it again",
}
_NEVER_BEGUN = "see why the fault was not injected (why the run ended early), then run it again"
# Of cases that several faults may have caused: what to do, and why none of them is certain.
LATER = (
    "leave more time between these faults: in the scenario file, increase `opens` of the later "
    "fault (its start, counted from the end of the steady state); or test each fault in a "
    "scenario of its own"
)
NO_CONSUMERS = (
    "add consumers, which read the queue between the faults (without them a message waits there "
    "through all later faults); or test each fault in a scenario of its own"
)
# Why what a fault may have caused may have come without one, and what to do.
BY_CLOCKS = (
    "clients' clocks may be off",
    "run it with clients and brokers on one machine, or with synchronised clocks",
)
BY_OPERATORS = (
    "an operator was at work at that time",
    "let the operation end before the fault, or begin long after it",
)
BY_LATE_CONFIRMS = (
    "their confirms were read after the fault was over",
    "compare their times in the records with the end of the fault",
)
BY_UNKNOWN_ENDS = (
    "it is not on record until when the fault may have moved a leader",
    "record that time of the fault (`over_ns`); `mqproof run` does",
)
UNREAD = (
    ": no client read the queue between these faults, so no record shows what it held when the "
    "later one began"
)


@dataclass(frozen=True, slots=True)
class Caveat:
    """A doubt as a sentence, with advice."""

    scope: str
    window: int
    reason: str
    why: Why
    advice: str

    @property
    def sentence(self) -> str:
        return str(self.why)

    @property
    def unknown(self) -> Unknown:
        """Return the value of a fact under this doubt."""
        return Unknown(self.why, self.advice)


@dataclass(frozen=True, slots=True)
class Doubts:
    """The doubts of one run, by the facts that they affect."""

    caveats: tuple[Caveat, ...]
    # By window: all stalls together, those of publishers and those of consumers.
    stalled_s: Mapping[int, float] = field(default_factory=dict)
    consumers_stalled_s: Mapping[int, float] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Caveat]:
        return iter(self.caveats)

    @property
    def run(self) -> Caveat | None:
        return next((doubt for doubt in self.caveats if doubt.scope == "run"), None)

    @property
    def only_faults(self) -> bool:
        """Return whether all doubts about the run are faults that were not verified."""
        return all(one.reason == "fault" for one in self.caveats if one.scope == "run")

    def availability(self, window: int) -> Caveat | None:
        """Return the first doubt about availability. Consumers that are absent, or stall, do not
        affect what publishers saw."""
        doubts = self._of("availability", window)
        return next((one for one in doubts if one.reason not in OF_CONSUMERS), None)

    def receiving(self, window: int) -> Caveat | None:
        """Return the first doubt about what consumers that were there received."""
        doubts = self._of("availability", window)
        return next((one for one in doubts if one.reason != CONSUMERS_ABSENT), None)

    def lengthened_s(self, window: int, *, received: bool = False) -> float | None:
        """Return by how much stalls can have lengthened what publishers measured in a window; None
        where something else than stalls makes it unknown. `received`: what consumers measured."""
        reasons = {one.reason for one in self._of("availability", window)}
        if not reasons <= {*STALLS, *OF_CONSUMERS}:
            return None
        consumers_s = self.consumers_stalled_s.get(window, 0.0) if received else 0.0
        return self.stalled_s.get(window, 0.0) + consumers_s

    def measured(self, window: int, received: bool) -> tuple[Caveat | None, float | None]:
        """Return the first doubt about what publishers (`received`: consumers) measured in a
        window, and by how much stalls can have lengthened it."""
        caveat = self.receiving(window) if received else self.availability(window)
        return caveat, self.lengthened_s(window, received=received)

    def without(self, reason: str, windows: Collection[int]) -> "Doubts":
        """Return the doubts without those of this reason in these windows."""
        kept = (one for one in self.caveats if one.reason != reason or one.window not in windows)
        return replace(self, caveats=tuple(kept))

    def consumption(self, window: int) -> Caveat | None:
        """Return the first doubt about consumption. Without consumers the time of recovered
        service is unknown."""
        return next(self._of("availability", window), None)

    def consumers_absent(self, window: int) -> bool:
        return any(one.reason == CONSUMERS_ABSENT for one in self._of("availability", window))

    def loss(self, *reasons: str) -> Caveat | None:
        """Return the first loss doubt with one of these reasons."""
        return next((one for one in self._of("loss") if one.reason in reasons), None)

    def _of(self, scope: str, window: int = 0) -> Iterator[Caveat]:
        return (one for one in self.caveats if (one.scope, one.window) == (scope, window))


def doubts_of(found: tuple[Doubt, ...], facts: Facts) -> Doubts:
    """Return the doubts of a run, with the stalls of its workers."""
    return Doubts(caveats_of(found, facts), stalled_s(found), stalled_s(found, consumers=True))


def without_earlier_stalls(found: Iterable[Doubt], facts: Facts, from_ns: int) -> Doubts:
    """Return the doubts without stalls of publishers that were over long before that time.
    Messages due after it were sent, or not, when they no longer stood still."""
    beside_ns = 2 * facts.deadline_ns
    kept = (
        one
        for one in found
        if one.reason != "stalled" or one.at_ns + one.late_ns + beside_ns > from_ns
    )
    return doubts_of(tuple(kept), facts)


def off_the_record(waited: Value, counts: Iterable[Count], doubts: Doubts) -> Value:
    """Return a wait of messages. If a consumer's log is not closed, a confirmed message that did
    not come on record may have waited for any time, also if the audit found it."""
    caveat = doubts.loss("consumer_log")
    missing = sum(one.count for one in counts if _did_not_come(one))
    if caveat is None or not missing or not isinstance(waited, Interval):
        return waited
    why = waited.doubt or f"{missing:,} messages did not come on record: {caveat.sentence}"
    return replace(waited, high=inf, doubt=why, advice=waited.advice or caveat.advice)


def _did_not_come(one: Count) -> bool:
    perhaps = ("loss_unknown", "consumer_log"), ("loss_unknown", "pending")
    return one.measure == "stranded" or (one.measure, one.detail) in perhaps


def stalled_s(doubts: Iterable[Doubt], *, consumers: bool = False) -> Mapping[int, float]:
    """Return the sum of all stalls of publishers by window, in seconds, or those of consumers. It
    is an upper bound."""
    sums: Counter[int] = Counter()
    for doubt in doubts:
        if doubt.reason in STALLS and (doubt.reason in OF_CONSUMERS) is consumers:
            sums[doubt.window] += doubt.late_ns
    return {window: late_ns / 1e9 for window, late_ns in sums.items()}


def caveats_of(doubts: tuple[Doubt, ...], facts: Facts) -> tuple[Caveat, ...]:
    """Return every doubt once, in a fixed order; of the stalls of one window only the longest."""
    caveats = [
        Caveat(doubt.scope, doubt.window, doubt.reason, _why(doubt, facts), _advice(doubt, facts))
        for doubt in sorted(_longest_stalls(doubts))
    ]
    return tuple(dict.fromkeys(caveats))


def _longest_stalls(doubts: tuple[Doubt, ...]) -> list[Doubt]:
    kept = [doubt for doubt in doubts if doubt.reason not in LONG_STALLS]
    longest: dict[tuple[int, str], Doubt] = {}
    for doubt in doubts:
        if doubt.reason in LONG_STALLS:
            best = longest.get((doubt.window, doubt.reason))
            if best is None or (doubt.late_ns, doubt) > (best.late_ns, best):
                longest[doubt.window, doubt.reason] = doubt
    return kept + list(longest.values())


def _advice(doubt: Doubt, facts: Facts) -> str:
    window = _window_of(doubt, facts) if doubt.reason == "fault" else None
    cause = UnverifiedCause(window.unverified_cause) if window else UnverifiedCause.OTHER
    if window in facts.not_begun and cause is UnverifiedCause.OTHER:
        return _NEVER_BEGUN
    if doubt.reason == "clock":
        return _ON_PROBLEMS.get(ProblemCause(facts.problem_cause), _ADVICE["clock"])
    return _ON_FAULTS.get(cause, _ADVICE.get(doubt.reason, ""))


def _window_of(doubt: Doubt, facts: Facts) -> Window | None:
    return next((one for one in facts.planned_windows if one.number == doubt.window), None)


def _why(doubt: Doubt, facts: Facts) -> Why:
    window = doubt.window if doubt.reason in ("consumers_absent", "fault") else 0
    return Why(_sentence(doubt, facts), window=window)


def _sentence(doubt: Doubt, facts: Facts) -> str:
    match doubt.reason:
        case "stalled" | "consumer_stalled":
            late_ms = doubt.late_ns / 1e6
            return (
                f"{worker_name(doubt.worker, facts)} stalled {late_ms:,.0f} ms, "
                f"{_time_of(doubt, facts)} (host busy)"
            )
        case "stalls" | "consumer_stalls":
            late_s = doubt.late_ns / 1e9
            return (
                f"the stalls of {worker_name(doubt.worker, facts)} add up to {late_s:,.1f} s, "
                "over 5 % of the judged time (host busy)"
            )
        case "publishers_absent":
            return "a fault kept all publishers away, so nothing shows the availability"
        case "consumers_absent":  # publishers still show the availability
            steps = "first delivery and backlog gone for good"
            return f"a fault kept all consumers away for a time, so {steps} are not judged"
        case "publisher_log" | "consumer_log":
            who = worker_name(doubt.worker, facts)
            return f"the log of {who} does not reach the end of the run"
        case "fault":
            window = _window_of(doubt, facts)
            text = window.unverified_reason if window else ""
            return text or "it was not verified"
        case "causality":
            return (
                "a message was acknowledged before it was delivered, or "
                "delivered or confirmed before it was sent: the records are wrong"
            )
        case "clock":
            return facts.clock_problem or "the clocks cannot be trusted"
        case "drain":
            text = next((q.undrained_reason for q in facts.queues if q.queue == doubt.queue), "")
            return f"{doubt.queue} was not drained ({text or 'the reason is not recorded'})"
        case "not_due":
            return f"the drain of {doubt.queue} did not outlast the delay of the missing messages"
        case "pending":
            return (
                f"the missing messages of {doubt.queue} were to be committed at the broker's "
                "check, and no record shows that check"
            )
        case "unreadable":
            places = next((q.unreadable for q in facts.queues if q.queue == doubt.queue), ())
            return f"{', '.join(places) or 'a place'} could not be read for {doubt.queue}"
    return f"{doubt.reason} {doubt.queue}".strip()


def _time_of(doubt: Doubt, facts: Facts) -> str:
    """Return `8.0 s after the fault began`, as all results count; without a fault, the time since
    the recording began."""
    window = next((one for one in facts.windows if one.number == doubt.window), None)
    if window is None:
        return f"{doubt.at_ns / 1e9:.1f} s after the recording began"
    after_s = (doubt.at_ns - window.origin_ns) / 1e9
    which = f"fault {window.number}" if len(facts.planned_windows) > 1 else "the fault"
    return f"{abs(after_s):.1f} s {'before' if after_s < 0 else 'after'} {which} began"


def never_begun(window: int, facts: Facts) -> Unknown | None:
    """Return why nothing is known of a planned fault that never began; None: it did begin."""
    for own in facts.not_begun:
        if own.number == window:
            doubt = Doubt(facts.run, "run", window, "fault", "", 0, 0, 0)
            return Unknown(_sentence(doubt, facts), _advice(doubt, facts))
    return None


def worker_name(number: int, facts: Facts) -> str:
    """`publisher 1`: the worker's role, and its place among the workers of that role."""
    role = next((worker.role for worker in facts.workers if worker.number == number), "worker")
    peers = sorted(worker.number for worker in facts.workers if worker.role == role)
    place = peers.index(number) + 1 if number in peers else number
    return f"{role} {place}"


def to_faults(numbers: frozenset[int]) -> str:
    """Return `to fault 1 or to fault 2`; the last of them may be `to no fault`."""
    faults = [f"to fault {number}" for number in sorted(numbers - {NO_FAULT})]
    if NO_FAULT in numbers:
        faults.append("to no fault")
    *others, last = faults
    if len(others) > 1:
        return f"{', '.join(others)}, or {last}"
    return f"{others[0]} or {last}" if others else last


# --- Unplanned -----------------------------------------------------------------------------------
# Unplanned ends of broker processes, and the claims that cannot be judged because of them.
#
# 1. If a process ended by itself, it is the broker's doing: it is reported, and judged like all
#    that the broker does.
# 2. If it ended from outside, or for an unknown reason, no claim covers it. Claims about a window
#    in which it was down are not judged, and neither are those about the steady state.
# 3. The time in which a window is judged: derived.py, `judged_between`.
# 4. If the watch of the processes was lost, any of them may have ended in any window.


_ADVICE_ON_ENDS = (
    "find out what ended the process on that machine (its log, its memory), then run it again"
)
_ADVICE_ON_WATCH = "see why the watch was lost (the container engine, its log), then run it again"


def disturbed(facts: Facts, from_ns: int, until_ns: int | None) -> Unknown | None:
    """Return why a window that is judged in this time (the steady state, too) cannot be; None: it
    can."""
    if facts.process_watch_lost:
        return Unknown(watch_lost_text(facts.process_watch_lost), _ADVICE_ON_WATCH)
    found = [
        one
        for one in facts.process_ends
        if not one.by_itself
        and (until_ns is None or one.at_ns < until_ns)
        and (one.until_ns is None or one.until_ns > from_ns)
    ]
    return Unknown(unplanned_text(found[0]), _ADVICE_ON_ENDS) if found else None
