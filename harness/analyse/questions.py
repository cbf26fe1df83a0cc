"""The options of the analysis beside a run's recorded facts: from today's claims.

1. A promise of time is a sum of declared timers. If one is unknown or makes no sense, there is no
   option, and its claim says so (serving.py).
"""

from collections.abc import Iterator

from harness.claims.state import KnownFacts
from harness.claims.values import Interval
from harness.plan.layouts.guarantees import BROKERS
from harness.plan.vocabulary import TIMERS
from spark_analysis.schema.facts import RECONNECT_NS, Promise
from spark_analysis.schema.question import Question


def question(state: KnownFacts, run: str = "") -> Question:
    """Return the options that a run's declared state allows. `run`: its name in its rows."""
    reconnect, checks_within = state.value("reconnect_s", 0), state.value("checks_within_s", 0)
    return Question(
        run=run,
        acknowledges=state.value("no_ack", 0) is not True,
        polls=state.value("polls", 0) is True,
        # Quorum queues put what was requeued in no particular order.
        requeues_behind=state.value("elects_by_majority", 0) is True,
        brokers_keep_progress=state.value("progress_kept_by", 0) == BROKERS,
        reconnect_ns=_ns(reconnect.low) if isinstance(reconnect, Interval) else RECONNECT_NS,
        promises=tuple(_promises(state)),
        checks_within_ns=_ns(checks_within.low) if isinstance(checks_within, Interval) else None,
    )


def _promises(state: KnownFacts) -> Iterator[Promise]:
    for name, timers in TIMERS.items():
        values = [state.value(timer, 0) for timer in timers]
        known = [one.low for one in values if isinstance(one, Interval)]
        if len(known) == len(values):
            yield Promise(name, _ns(sum(known)))


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
