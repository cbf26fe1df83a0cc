"""Sketches of faults that take clients and their links, and no broker. Times are seconds.

1. `three` has three publishers of one queue; each sends ten messages a second.
2. What one publisher sent in a time may be silenced by itself: `silence_of`.
"""

from typing import Any

from spark_analysis.schema.words import Outcome
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER
from tests.rigs.histories.several_faults import fault, load
from tests.rigs.histories.sketches import Sketch

SECOND, THIRD = 11, 12  # publishers
NEXT = 72  # who takes the place of a client that died


def three(until_s: float, **options: Any) -> Sketch:
    sketch = load(until_s, **options)
    for producer in (SECOND, THIRD):
        sketch.history.worker(producer, "publisher")
        sketch.flow(70 + producer, until_s * 1_000, producer=producer)
    return sketch


def linked(
    sketch: Sketch,
    at_s: float,
    undo_s: float,
    kind: str = "hang",
    *,
    reached: bool | None = True,
    **named: Any,
) -> Sketch:
    """A fault of links to the master's host. `reached`: whether publishers reached another host
    meanwhile; None: no record says."""
    if reached is None:
        sketch.declared.pop("clients_reached_another", None)
    else:
        sketch.declared["clients_reached_another"] = reached
    return fault(sketch, at_s, undo_s, kind, **named)


def silence_of(sketch: Sketch, producer: int, from_s: float, until_s: float) -> Sketch:
    """What that publisher sends in that time is never confirmed, and gone."""
    for (of, sequence, _), one in sketch.sent.items():
        if of == producer and from_s * 1_000 <= one.at_ms < until_s * 1_000:
            one.outcomes, one.settled_ms = (Outcome.UNKNOWN,), one.at_ms + 1_000
            sketch.lose_of(producer, sequence)
    return sketch


def confirm_late(sketch: Sketch, from_s: float, until_s: float, by_ms: float) -> Sketch:
    """What is sent in that time is confirmed, and comes, so much later."""
    for one in sketch.attempts(from_s * 1_000, until_s * 1_000):
        one.settled_ms = one.at_ms + by_ms
    from_ms, until_ms = from_s * 1_000, until_s * 1_000
    sketch.hold(until_ms, until_ms + by_ms)  # one connection keeps their order
    sketch.hold(from_ms, from_ms + by_ms)
    for came in sketch.since(from_ms + by_ms + 10, until_ms):
        came.move(came.at_ms + by_ms)
    return sketch


def crashed(
    sketch: Sketch,
    worker: int,
    at_s: float,
    back_s: float | None,
) -> Sketch:
    """A client dies without a word; all that it did is on record, but no end of its connection.
    NEXT takes its place; without `back_s` none does."""
    sketch.history.away(worker, at_s * 1_000)
    fault(sketch, at_s, back_s, "client_crash", role="none")
    if worker == CONSUMER:
        _next_consumer(sketch, at_s, back_s)
    else:
        _next_publisher(sketch, worker, at_s, back_s)
    return sketch


def _next_consumer(sketch: Sketch, at_s: float, back_s: float | None) -> None:
    if back_s is None:
        return
    events = sketch.history.worker(NEXT, "consumer")
    events.client_event("consuming", at_ms=back_s * 1_000, worker=NEXT)
    for place, one in enumerate(sketch.since(at_s * 1_000)):
        one.named["consumer"] = NEXT
        one.move(max(one.at_ms, back_s * 1_000 + 2 + place * 0.05))


def _next_publisher(sketch: Sketch, worker: int, at_s: float, back_s: float | None) -> None:
    back_ms = float("inf") if back_s is None else back_s * 1_000
    later = [(key, one) for key, one in sketch.sent.items() if one.at_ms >= at_s * 1_000]
    for key, one in later:
        if key[0] != worker:
            continue
        del sketch.sent[key]
        if one.at_ms < back_ms:
            sketch.lose_of(worker, key[1])
            sketch.history.not_sent(key[1], intended_ms=one.at_ms, producer=worker)
            continue
        sketch.sent[NEXT, key[1], key[2]] = one
        for came in sketch.came:
            if came.sequence == key[1] and came.named.get("producer", PUBLISHER) == worker:
                came.named["producer"] = NEXT
    if back_s is not None:
        sketch.history.worker(NEXT, "publisher")
