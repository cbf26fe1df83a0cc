"""What the analysis is asked of a run beside what was recorded of it: by the claims of today.

1. A promise of time is a sum of declared timers; where one is unknown, or makes no sense, nothing
   is asked, and the claim that speaks of it says so (serving.py).
"""

from collections.abc import Iterator

from harness.claims.state import State
from harness.claims.values import Interval
from harness.claims.vocabulary import TIMERS
from spark_analysis.schema.facts import RECONNECT_NS, Promise, Question


def question(state: State, run: str = "") -> Question:
    """What a run's declared state allows to ask. `run`: what it is called in its rows."""
    reconnect, asks = state.value("reconnect_s", 0), state.value("asks_within_s", 0)
    return Question(
        run=run,
        acknowledges=state.value("no_ack", 0) is not True,
        reconnect_ns=_ns(reconnect.low) if isinstance(reconnect, Interval) else RECONNECT_NS,
        promises=tuple(_promises(state)),
        asks_within_ns=_ns(asks.low) if isinstance(asks, Interval) else None,
    )


def _promises(state: State) -> Iterator[Promise]:
    for name, timers in TIMERS.items():
        values = [state.value(timer, 0) for timer in timers]
        known = [one.low for one in values if isinstance(one, Interval)]
        if len(known) == len(values):
            yield Promise(name, _ns(sum(known)))


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
