"""Pauses of publishers that send as fast as they can (rate `max`).

Nothing is due at a time there. While no attempt waits for its answer, a publisher pauses, or it
cannot send: no row says which. So a silence of the broker may be a pause.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import inf

from harness.histories.history import Cell, History

_SHORT_NS = 1_000_000_000
_ALL = ""  # among the names of queues
_Attempt = tuple[Cell, Cell, Cell]  # producer, sequence, attempt
_Times = tuple[tuple[int, int], ...]  # [from, until) in ns of run time, ascending


def pauses(history: History) -> Mapping[str, _Times]:
    """Return by queue, and of all queues by "", when no attempt waited for its answer for more
    than a second."""
    if history.facts.paced:
        return {}
    waits = defaultdict[str, list[tuple[int, float]]](list)
    for queue, sent_ns, answered_ns in _waits(history):
        for name in {queue, _ALL}:
            waits[name].append((sent_ns, answered_ns))
    from_ns, until_ns = history.facts.load_started_ns, history.facts.load_ended_ns
    return {queue: tuple(_between(own, from_ns, until_ns)) for queue, own in waits.items()}


def _between(
    waits: list[tuple[int, float]], waited_until: float, until_ns: int
) -> Iterator[tuple[int, int]]:
    for sent_ns, answered_ns in (*sorted(waits), (until_ns, until_ns)):
        if sent_ns - waited_until > _SHORT_NS:
            yield int(waited_until), sent_ns
        waited_until = max(waited_until, answered_ns)


def _waits(history: History) -> Iterator[tuple[str, int, float]]:
    """Yield the queue of each attempt, when it was sent, and when it had its first answer."""
    answers = history.tables.get("settlements", {})
    answered: dict[_Attempt, float] = {}
    names = ("producer", "sequence", "attempt")
    columns = [answers.get(name, []) for name in (*names, "settled_ns")]
    for *attempt, at_ns in zip(*columns, strict=True):
        if isinstance(at_ns, int):
            key = attempt[0], attempt[1], attempt[2]
            answered[key] = min(at_ns, answered.get(key, inf))
    sent = history.tables.get("attempts", {})
    columns = [sent.get(name, []) for name in (*names, "queue", "sent_ns")]
    for *attempt, queue, at_ns in zip(*columns, strict=True):
        if isinstance(at_ns, int) and at_ns >= 0:
            key = attempt[0], attempt[1], attempt[2]
            yield str(queue or ""), at_ns, answered.get(key, inf)
