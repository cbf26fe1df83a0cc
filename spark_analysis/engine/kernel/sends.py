"""Whose sends failed under a fault, how many of them, until when and how.

1. Nearly every attempt is confirmed, so only settlements that say something else are looked at.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spark_analysis.engine.kernel.arrays import NEVER, Bools, Ints, earliest
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.records import Settlements, Text
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.sends import FailedAnswer, Sent, answer_of
from spark_analysis.schema.words import NEVER_SENT, Outcome


def sends(known: Messages, failed_ns: NDArray[np.int64], facts: Facts) -> Iterator[Sent]:
    """One row a window and producer that sent in it. `failed_ns`: of each attempt's row."""
    if not (facts.confirms and facts.windows):
        return
    sent_ns = known.attempts.sent_ns
    sent = (sent_ns != NEVER_SENT) & (sent_ns < facts.load_ended_ns)
    for window in facts.windows:
        inside = np.flatnonzero(sent & (sent_ns >= window.origin_ns))
        producers = known.attempts.producer[inside]
        for producer in np.unique(producers).tolist():
            rows = inside[producers == producer]
            yield _row(facts.run, window, producer, sent_ns[rows], failed_ns[rows])


class FailedSettlements(NamedTuple):
    """The settlements that confirm nothing, and the row of the attempt of each."""

    settlements: Settlements
    rows: Ints


def failed_settlements(known: Messages, settlements: Settlements) -> FailedSettlements:
    denying = settlements.pick(np.flatnonzero(settlements.outcome != Outcome.CONFIRMED))
    slots = known.slots.find(denying.producer, denying.sequence)
    return FailedSettlements(denying, known.rows.find(slots, denying.attempt))


def failed_ns(known: Messages, denied: FailedSettlements) -> NDArray[np.int64]:
    """Return by attempt's row when it failed; NEVER if it did not fail."""
    attempts = len(known.attempts.sent_ns)
    found = earliest(attempts, denied.rows, denied.settlements.settled_ns)
    found[known.row_confirmed_ns < NEVER] = NEVER
    return found


def answers(
    known: Messages, failed_ns: NDArray[np.int64], denied: FailedSettlements, facts: Facts
) -> Iterator[FailedAnswer]:
    """One row a window, producer, outcome and answer. `failed_ns`: of each attempt's row."""
    if not (facts.confirms and facts.windows and (failed_ns < NEVER).any()):
        return
    denying, rows = denied
    texts, kinds = _kinds(denying.raw)
    # The first of each attempt's row says how the attempt failed.
    order = np.lexsort((kinds, denying.outcome, denying.settled_ns, rows))
    rows, first = np.unique(rows[order], return_index=True)
    said = np.stack([known.attempts.producer[rows], denying.outcome[order[first]]])
    said = np.vstack([said, kinds[order[first]]]).astype(np.int64)
    sent_ns = known.attempts.sent_ns[rows]
    counted = (sent_ns < facts.load_ended_ns) & (failed_ns[rows] < NEVER)
    for window in facts.windows:
        own = said[:, counted & (sent_ns != NEVER_SENT) & (sent_ns >= window.origin_ns)]
        distinct, numbers = np.unique(own, axis=1, return_counts=True)
        for (producer, outcome, kind), number in zip(
            distinct.T.tolist(), numbers.tolist(), strict=True
        ):
            yield FailedAnswer(facts.run, window.number, producer, outcome, texts[kind], number)


def _kinds(raw: Text) -> tuple[list[str], Ints]:
    """Return the answers in ascending order, and the place of each row's."""
    of_words = [*map(answer_of, raw.words), ""]  # no text, -1, reads the last place
    texts = sorted(set(of_words))
    place = {text: number for number, text in enumerate(texts)}
    places = np.array([place[each] for each in of_words], np.int64)
    return texts, places[raw.numbers]


def _row(
    run: str,
    window: Window,
    producer: int,
    sent_ns: NDArray[np.int64],
    failed_ns: NDArray[np.int64],
) -> Sent:
    """Return the row of the attempts that one producer sent in the window's time."""
    failed: Bools = failed_ns < NEVER
    if not failed.any():
        return Sent(run, window.number, producer, len(sent_ns), 0, None, None, 0)
    last_ns = int(failed_ns[failed].max())
    return Sent(
        run=run,
        window=window.number,
        producer=producer,
        sent=len(sent_ns),
        failed=int(np.count_nonzero(failed)),
        first_failed_ns=int(failed_ns[failed].min()) - window.origin_ns,
        last_failed_ns=last_ns - window.origin_ns,
        sent_by_then=int(np.count_nonzero(sent_ns <= last_ns)),
    )
