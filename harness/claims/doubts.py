"""Doubts in words: what could not be judged, why, and what to do about it.

1. A doubt has a scope (docs/verdicts.md 10): the whole run, availability of a window, or what a
   log could have shown. It never reaches beyond its scope.
2. Workers and queues are named as the user knows them: `publisher 1`, `orders`.
3. Of several that stand against one thing the first is told.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.claims.values import Unknown
from spark_analysis.schema.doubts import Doubt
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.measures_of_runs import CONSUMERS_ABSENT

_ADVICE = {
    "fault": "see the window's proof in the manifest and the brokers' logs, then run it again",
    "clock": "run it again on a machine that is not suspended meanwhile",
    "causality": "compare the workers' clocks, and see whose log says it; then run it again",
    "stalled": "run it again on a quieter machine, or with a lower rate",
    "stalls": "run it again on a quieter machine, or with a lower rate",
    "publisher_log": "see how the worker ended (manifest, workers), then run it again",
    "consumer_log": "see how the worker ended (manifest, workers), then run it again",
    "publishers_absent": 'aim the fault at one publisher of several: target = "publisher-1"',
    "consumers_absent": 'aim the fault at one consumer of several: target = "consumer-1"',
    "drain": "raise drain_limit, or see why the queue could not be emptied",
    "not_due": "let the drain go on until the longest delay is over",
    "pending": "let producers live until the broker has asked them",
    "unreadable": "bring the place back and look there, or let the host return",
}


@dataclass(frozen=True, slots=True)
class Told:
    """A doubt as a sentence, and what to do about it."""

    scope: str
    window: int
    reason: str
    sentence: str
    advice: str

    @property
    def unknown(self) -> Unknown:
        """What it leaves of a fact."""
        return Unknown(self.sentence, self.advice)


@dataclass(frozen=True, slots=True)
class Doubts:
    """The doubts of one run, by what they stand against."""

    told: tuple[Told, ...]

    def __iter__(self) -> Iterator[Told]:
        return iter(self.told)

    @property
    def run(self) -> Told | None:
        return next((doubt for doubt in self.told if doubt.scope == "run"), None)

    def availability(self, window: int) -> Told | None:
        """What publishers saw does not hang on whether consumers were there."""
        doubts = self._of("availability", window)
        return next((one for one in doubts if one.reason != CONSUMERS_ABSENT), None)

    def consumption(self, window: int) -> Told | None:
        """Without consumers nobody can say when they would have been served again."""
        return next(self._of("availability", window), None)

    def loss(self, *reasons: str) -> Told | None:
        """The first loss doubt with one of these reasons."""
        return next((one for one in self._of("loss") if one.reason in reasons), None)

    def _of(self, scope: str, window: int = 0) -> Iterator[Told]:
        return (one for one in self.told if (one.scope, one.window) == (scope, window))


def tell(doubts: tuple[Doubt, ...], facts: Facts) -> tuple[Told, ...]:
    """Every doubt once, in a fixed order; of the stalls of one window only the longest."""
    told = [
        Told(doubt.scope, doubt.window, doubt.reason, _sentence(doubt, facts), _advice(doubt))
        for doubt in sorted(_longest_stalls(doubts))
    ]
    return tuple(dict.fromkeys(told))


def _longest_stalls(doubts: tuple[Doubt, ...]) -> list[Doubt]:
    kept = [doubt for doubt in doubts if doubt.reason != "stalled"]
    longest: dict[int, Doubt] = {}
    for doubt in doubts:
        if doubt.reason == "stalled":
            best = longest.get(doubt.window)
            if best is None or (doubt.late_ns, doubt) > (best.late_ns, best):
                longest[doubt.window] = doubt
    return kept + list(longest.values())


def _advice(doubt: Doubt) -> str:
    return _ADVICE.get(doubt.reason, "")


def _sentence(doubt: Doubt, facts: Facts) -> str:
    match doubt.reason:
        case "stalled":
            late_ms = doubt.late_ns / 1e6
            return (
                f"{worker_name(doubt.worker, facts)} stalled {late_ms:,.0f} ms "
                f"at +{doubt.at_ns / 1e9:.1f} s (host busy)"
            )
        case "stalls":
            late_s = doubt.late_ns / 1e9
            return (
                f"{worker_name(doubt.worker, facts)} stood still for {late_s:,.1f} s in all, over "
                "5 % of the time that is judged (host busy)"
            )
        case "publishers_absent" | "consumers_absent":
            who = doubt.reason.removesuffix("_absent")
            return f"a fault kept all {who} away: none was there to judge by"
        case "publisher_log" | "consumer_log":
            return f"the log of {worker_name(doubt.worker, facts)} is not closed"
        case "fault":
            text = next((w.doubt for w in facts.windows if w.number == doubt.window), "")
            return f"fault {doubt.window}: {text or 'it was not verified'}"
        case "causality":
            return (
                "something was delivered, or confirmed, before it was sent: the records are wrong"
            )
        case "clock":
            return facts.clock_doubt or "the clocks cannot be trusted"
        case "drain":
            text = next((q.doubt for q in facts.queues if q.queue == doubt.queue), "")
            return f"{doubt.queue} was not drained: {text or 'nobody says why'}"
        case "not_due":
            return f"{doubt.queue}: the drain did not outlast the delay of what is missing"
        case "pending":
            return (
                f"{doubt.queue}: what is missing was to be committed when the broker asks, and "
                "whether it did is not on record"
            )
        case "unreadable":
            places = next((q.unreadable for q in facts.queues if q.queue == doubt.queue), ())
            return f"{doubt.queue}: {', '.join(places) or 'a place'} could not be read"
    return f"{doubt.reason} {doubt.queue}".strip()


def worker_name(number: int, facts: Facts) -> str:
    """`publisher 1`: the worker's role, and its place among the workers of that role."""
    role = next((worker.role for worker in facts.workers if worker.number == number), "worker")
    peers = sorted(worker.number for worker in facts.workers if worker.role == role)
    place = peers.index(number) + 1 if number in peers else number
    return f"{role} {place}"
