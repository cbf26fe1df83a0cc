"""A queue is read whole, from its least offset to its greatest, or it is doubted."""

from hypothesis import given
from hypothesis import strategies as st

from harness.workers.remoting.commands import Command
from harness.workers.remoting.headers import RESPONSE, Header
from harness.workers.remoting.reading import STANDSTILLS_MAX, Reading
from harness.workers.remoting.requests import Code, TopicQueue
from tests.rigs.rocketmq.stored_messages import (
    AGAIN,
    FOUND,
    MOVED,
    NOTHING,
    QUEUE,
    SYSTEM_ERROR,
    Broker,
    answer,
    message,
)


def read(broker: Broker) -> tuple[Reading, list[int]]:
    reading, found = Reading(QUEUE), []
    while (request := reading.request) is not None:
        found += [one.offset for one in reading.hear(broker.answer(request))]
    return reading, found


@given(
    st.integers(0, 50), st.integers(0, 30), st.frozensets(st.integers(0, 80)), st.integers(1, 32)
)
def test_every_message_present_is_read_once_and_in_order(
    first: int, length: int, holes: frozenset[int], batch: int
) -> None:
    broker = Broker(first, first + length, holes, batch)
    reading, found = read(broker)
    there = [offset for offset in range(first, first + length) if offset not in holes]
    assert found == there
    assert reading.doubt == ""
    assert (reading.messages, reading.skipped) == (len(there), length - len(there))


def test_an_empty_queue_is_read_without_a_pull() -> None:
    broker = Broker(7, 7)
    reading, found = read(broker)
    assert (found, reading.doubt) == ([], "")
    assert broker.codes == [Code.GET_MIN_OFFSET, Code.GET_MAX_OFFSET]


def test_messages_written_after_the_reading_began_are_not_awaited() -> None:
    broker = Broker(0, 5, batch=32)
    reading = Reading(QUEUE)
    for _ in range(2):
        assert reading.request is not None
        reading.hear(broker.answer(reading.request))
    broker.end = 9
    assert reading.request is not None
    found = reading.hear(broker.answer(reading.request))
    assert [one.offset for one in found] == [0, 1, 2, 3, 4]
    assert reading.request is None
    assert reading.doubt == ""


def test_files_that_are_removed_while_they_are_read_are_skipped() -> None:
    broker = Broker(0, 9)
    reading = Reading(QUEUE)
    for _ in range(3):
        assert reading.request is not None
        reading.hear(broker.answer(reading.request))
    broker.first = 6
    found = []
    while (request := reading.request) is not None:
        found += [one.offset for one in reading.hear(broker.answer(request))]
    assert (found, reading.skipped, reading.doubt) == ([6, 7, 8], 3, "")


def _begun(end: int) -> Reading:
    reading = Reading(QUEUE)
    reading.hear(answer(FOUND, {"offset": 0}))
    reading.hear(answer(FOUND, {"offset": end}))
    return reading


def test_a_queue_that_ends_before_its_greatest_offset_is_doubted() -> None:
    reading = _begun(5)
    reading.hear(answer(NOTHING, {"nextBeginOffset": 0, "minOffset": 0, "maxOffset": 5}))
    assert reading.request is None
    assert reading.doubt == "it ends at 0, though its max offset is 5"


def test_a_broker_that_always_requests_a_retry_is_given_up() -> None:
    reading = _begun(5)
    for _ in range(STANDSTILLS_MAX):
        reading.hear(answer(AGAIN, {"nextBeginOffset": 0, "minOffset": 0, "maxOffset": 5}))
        assert reading.doubt == ""
    reading.hear(answer(AGAIN, {"nextBeginOffset": 0, "minOffset": 0, "maxOffset": 5}))
    assert reading.doubt == "the broker gives nothing from 0 on, of 5"


def test_a_log_that_became_shorter_than_it_said_is_doubted() -> None:
    reading = _begun(9)
    fields = {"nextBeginOffset": 3, "minOffset": 0, "maxOffset": 3}
    reading.hear(answer(FOUND, fields, message(0), message(1), message(2)))
    for _ in range(STANDSTILLS_MAX + 1):
        reading.hear(answer(MOVED, {"nextBeginOffset": 3, "minOffset": 0, "maxOffset": 3}))
    assert reading.doubt == "the broker gives nothing from 3 on, of 9"


def test_a_refusal_is_the_doubt() -> None:
    reading = Reading(QUEUE)
    refusal = Command(Header(SYSTEM_ERROR, 1, RESPONSE, "out of order"))
    assert reading.hear(refusal) == ()
    assert reading.request is None
    assert reading.doubt == "the min offset of orders/2: code 1, out of order"


def test_a_message_of_another_queue_is_no_answer() -> None:
    reading = _begun(5)
    fields = {"nextBeginOffset": 1, "minOffset": 0, "maxOffset": 5}
    reading.hear(answer(FOUND, fields, message(0, TopicQueue("orders", 3))))
    assert "one of orders/3 was among them" in reading.doubt


def test_answer_without_required_fields_gives_the_reason() -> None:
    reading = _begun(5)
    reading.hear(answer(FOUND, {"minOffset": 0, "maxOffset": 5}))
    assert "nextBeginOffset is None, no integer" in reading.doubt
