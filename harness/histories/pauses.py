"""Pauses of publishers that send as fast as they can (rate `max`).

Nothing is due at a time there. While no attempt waits for its answer, a publisher pauses, or it
cannot send: no row says which. So a silence of the broker may be a pause.
"""

from collections.abc import Iterator
from math import inf

from harness.histories.history import Cell, History

_SHORT_NS = 1_000_000_000
_WHY = (
    "no attempt waited for its answer from {0:+.1f} to {1:+.1f} s, so publishers paused, or could "
    "not send"
)
_Attempt = tuple[Cell, Cell, Cell]  # producer, sequence, attempt


def pause(history: History) -> str:
    """Return why a time without confirms may be the publishers' own pause; "" if it is not."""
    if history.facts.paced:
        return ""
    waited_until = float(history.facts.load_started_ns)
    for sent_ns, answered_ns in sorted(_waits(history)):
        if sent_ns - waited_until > _SHORT_NS:
            return _WHY.format(waited_until / 1e9, sent_ns / 1e9)
        waited_until = max(waited_until, answered_ns)
    return ""


def _waits(history: History) -> Iterator[tuple[float, float]]:
    """Yield when each attempt was sent, and when it had its first answer."""
    answers = history.tables.get("settlements", {})
    answered: dict[_Attempt, float] = {}
    names = ("producer", "sequence", "attempt")
    columns = [answers.get(name, []) for name in (*names, "settled_ns")]
    for *attempt, at_ns in zip(*columns, strict=True):
        if isinstance(at_ns, int):
            key = attempt[0], attempt[1], attempt[2]
            answered[key] = min(at_ns, answered.get(key, inf))
    sent = history.tables.get("attempts", {})
    columns = [sent.get(name, []) for name in (*names, "sent_ns")]
    for *attempt, at_ns in zip(*columns, strict=True):
        if isinstance(at_ns, int) and at_ns >= 0:
            yield at_ns, answered.get((attempt[0], attempt[1], attempt[2]), inf)
