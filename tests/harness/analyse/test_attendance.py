"""Times in which no consumer of a queue could receive anything, by the consumers' own doing."""

import pytest

from harness.analyse.attendance import attendance, waited
from harness.histories.history import Columns
from spark_analysis.engine.kernel.arrays import NEVER
from spark_analysis.schema.words import Via
from tests.rigs.histories.both_judges import Memory, raw_columns
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, QUEUE, History, ns

OTHER = 71


def found(history: History, queue: str = QUEUE) -> list[tuple[int, int]]:
    facts, rows = history.build()
    return [*attendance(facts, Memory(raw_columns(rows))).idle.get(queue, [])]


def given(
    history: History, *times_ms: float, consumer: int = CONSUMER, queue: str = QUEUE
) -> None:
    """Messages that are acknowledged 1 ms after they came."""
    for at_ms in times_ms:
        sequence = len(history.rows.get("attempts", []))
        history.publish(sequence, at_ms=at_ms - 2, queue=queue)
        history.confirm(sequence).deliver(sequence, at_ms=at_ms, consumer=consumer)
        tag = history.rows["deliveries"][-1]["tag"]
        assert isinstance(tag, int)
        history.acknowledge(tag, at_ms=at_ms + 1, consumer=consumer)


def consuming(at_ms: float = 0, *, acknowledges: bool = True) -> History:
    """A consumer that holds two messages at most, from 5 s to 5.001 s."""
    history = History(acknowledges=acknowledges).client_event("consuming", at_ms=at_ms)
    given(history, 5_000, 5_000)
    return history


def spans(*spans_ms: tuple[float, float]) -> list[tuple[int, int]]:
    return [(ns(a), NEVER if b == float("inf") else ns(b)) for a, b in spans_ms]


FULL = (5_000, 5_001)
FOR_EVER = float("inf")


def test_a_consumer_is_away_until_it_consumes() -> None:
    assert found(consuming(3_000)) == spans((0, 3_000), FULL)
    assert found(consuming(9_000)) == spans((0, 5_001)), "it received something before"


def test_a_consumer_is_away_from_its_closing_on() -> None:
    history = consuming().client_event("closed", at_ms=15_000)
    assert found(history) == spans(FULL, (15_000, FOR_EVER))
    history.client_event("consuming", at_ms=23_000, connection=2)
    assert found(history) == spans(FULL, (15_000, 23_000))


def test_a_queue_that_no_consumer_reads_is_idle() -> None:
    history = consuming().queue("audit")
    assert found(history, "audit") == spans((0, FOR_EVER))
    facts, rows = history.build()
    assert attendance(facts, Memory(raw_columns(rows)), ["audit"]).idle.keys() == {QUEUE}
    history.worker(OTHER, "consumer")
    assert found(history, "audit") == [], "the other one may be its reader"


def test_each_consumer_has_its_own_times() -> None:
    history = consuming().client_event("closed", at_ms=15_000)
    facts, rows = history.client_event("consuming", at_ms=23_000, connection=2).build()
    times = attendance(facts, Memory(raw_columns(rows)))
    assert times.was_away(CONSUMER, ns(22_999), ns(30_000))
    assert not times.was_away(CONSUMER, ns(23_000), ns(30_000))
    assert not times.was_away(OTHER, 0, NEVER)
    assert times.idle_ns(QUEUE, ns(14_000), ns(16_000)) == ns(1_000)
    assert times.idle_ns("unknown", 0, NEVER) == 0


def test_a_lost_connection_is_not_its_own_doing() -> None:
    history = consuming().client_event("lost", at_ms=15_000)
    history.client_event("consuming", at_ms=23_000, connection=2)
    assert found(history) == spans(FULL)
    history.client_event("closed", at_ms=30_000, connection=2)
    assert found(history) == spans(FULL, (30_000, FOR_EVER))


def test_a_connection_may_be_closed_after_the_next_one_consumes() -> None:
    history = consuming().client_event("consuming", at_ms=15_000, connection=2)
    assert found(history.client_event("closed", at_ms=16_000)) == spans(FULL)


def test_without_events_it_was_there() -> None:
    history = History()
    given(history, 5_000, 5_000)
    assert found(history) == spans(FULL)
    assert found(History()) == []


def test_all_readers_must_be_unable_at_once() -> None:
    history = consuming().worker(OTHER, "consumer")
    history.client_event("consuming", at_ms=0, worker=OTHER)
    given(history, 6_000, consumer=OTHER)
    history.client_event("closed", at_ms=15_000)
    assert found(history) == []
    history.client_event("closed", at_ms=20_000, worker=OTHER)
    assert found(history) == spans((20_000, FOR_EVER))


def test_a_consumer_that_got_nothing_is_a_reader_of_the_only_queue() -> None:
    history = History().client_event("consuming", at_ms=20_000)
    given(history, 25_000, 25_000)
    assert found(history) == spans((0, 20_000), (25_000, 25_001))
    history.worker(OTHER, "consumer").client_event("consuming", at_ms=0, worker=OTHER)
    assert found(history) == [], "it was there, and got nothing"
    history.client_event("closed", at_ms=15_000, worker=OTHER)
    assert found(history) == spans((15_000, 20_000), (25_000, 25_001))


def test_consumers_of_another_queue_read_nothing_here() -> None:
    history = consuming().worker(OTHER, "consumer").queue("audit")
    history.client_event("consuming", at_ms=0, worker=OTHER)
    given(history, 6_000, consumer=OTHER, queue="audit")
    history.client_event("closed", at_ms=15_000)
    assert found(history) == spans(FULL, (15_000, FOR_EVER))
    assert found(history, "audit") == spans((6_000, 6_001))


@pytest.mark.parametrize(
    ("acked_ms", "times"),
    [
        (18_000, [(10_001, 18_000)]),  # it held two all that time, as many as ever
        (None, []),  # no acknowledgement shows that it would have taken more
    ],
)
def test_a_consumer_is_full_until_it_acknowledges(
    acked_ms: float | None, times: list[tuple[float, float]]
) -> None:
    history = consuming()
    for sequence in (10, 11):
        history.publish(sequence, at_ms=9_990).confirm(sequence)
        history.deliver(sequence, at_ms=9_990 + sequence, tag=sequence)
    if acked_ms is not None:
        history.acknowledge(10, 11, at_ms=acked_ms)
    assert found(history) == spans(FULL, *times)


def test_an_end_of_its_connection_is_no_acknowledgement() -> None:
    history = consuming()
    for sequence in (10, 11):
        history.publish(sequence, at_ms=9_990).confirm(sequence)
        history.deliver(sequence, at_ms=9_990 + sequence, tag=sequence)
    assert found(history.client_event("lost", at_ms=18_000)) == spans(FULL)
    assert found(history.acknowledge(10, 11, at_ms=19_000)) == spans(FULL)


def test_who_does_not_acknowledge_is_never_full() -> None:
    assert found(consuming(acknowledges=False)) == []


@pytest.mark.parametrize(("at_ms", "there"), [(60_999, False), (61_000, True)])
def test_publishers_waited_if_a_record_is_a_deadline_late(at_ms: float, there: bool) -> None:
    facts, _ = History().build()
    late: dict[str, Columns] = {"settlements": {"settled_ns": [0, ns(at_ms)]}}
    assert waited(facts, late) is there
    events: Columns = {"worker": [PUBLISHER, CONSUMER], "at_ns": [ns(at_ms), ns(90_000)]}
    assert waited(facts, {"client_events": events}) is there
    assert waited(facts, {}) is False


def test_the_drain_reads_no_queue_of_the_load() -> None:
    facts, rows = consuming().build()
    rows["deliveries"] = [{**row, "via": int(Via.DRAIN)} for row in rows["deliveries"]]
    assert attendance(facts, Memory(raw_columns(rows))).idle == {}
