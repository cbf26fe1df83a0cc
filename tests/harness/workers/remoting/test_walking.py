"""A log is walked from its first position to its last, over blanks, or the walk is doubted."""

import struct
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harness.workers.remoting.commands import Command
from harness.workers.remoting.headers import RESPONSE, Header
from harness.workers.remoting.records import MAGIC_BLANK
from harness.workers.remoting.requests import Code, Request, TopicQueue
from harness.workers.remoting.walking import Walk
from tests.rigs.rocketmq.stored_messages import message, written

SYSTEM_ERROR = 1


class Log:
    """Records and blanks behind each other, looked at by position."""

    def __init__(self, first: int) -> None:
        self.first = self.end = first
        self.places: dict[int, bytes] = {}
        self.refused: set[int] = set()

    def put(self, queue: TopicQueue, offset: int) -> None:
        octets = written(replace(message(offset, queue), position=self.end))
        self.places[self.end] = octets
        self.end += len(octets)

    def put_blank(self, size: int) -> None:
        self.places[self.end] = struct.pack(">iI", size, MAGIC_BLANK).ljust(size, b"\0")
        self.end += size

    def answer(self, request: Request) -> Command:
        if request.code is Code.GET_BROKER_RUNTIME_INFO:
            table = f'"commitLogMinOffset":"{self.first}","commitLogMaxOffset":"{self.end}"'
            return Command(Header(0, 1, RESPONSE), f'{{"table":{{{table}}}}}'.encode())
        assert request.code is Code.VIEW_MESSAGE_BY_ID
        at = int(request.fields["offset"])
        if at in self.refused:
            remark = "can not find message by the offset"
            return Command(Header(SYSTEM_ERROR, 1, RESPONSE, remark))
        return Command(Header(0, 1, RESPONSE), self.places[at])


def walked(log: Log) -> tuple[Walk, list[tuple[str, int, int]]]:
    walk, found = Walk(), []
    while (request := walk.request) is not None:
        one = walk.hear(log.answer(request))
        found += [(one.topic, one.queue, one.offset)] if one is not None else []
    return walk, found


PLACES = st.none() | st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.integers(0, 9))


@given(st.integers(0, 1 << 40), st.lists(PLACES, max_size=12), st.integers(8, 300))
def test_every_record_is_found_in_log_order_across_blanks(
    first: int, places: list[tuple[str, int, int] | None], blank: int
) -> None:
    log = Log(first)
    for place in places:
        if place is None:
            log.put_blank(blank)
        else:
            log.put(TopicQueue(place[0], place[1]), place[2])
    walk, found = walked(log)
    assert found == [place for place in places if place is not None]
    assert (walk.doubt, walk.messages, walk.at) == ("", len(found), log.end)


def _three() -> Log:
    log = Log(0)
    for offset in range(3):
        log.put(TopicQueue("orders", 0), offset)
    return log


def test_messages_written_after_the_walk_began_are_skipped() -> None:
    log, walk = _three(), Walk()
    assert walk.request is not None
    walk.hear(log.answer(walk.request))
    log.put(TopicQueue("orders", 0), 3)
    while (request := walk.request) is not None:
        walk.hear(log.answer(request))
    assert (walk.messages, walk.doubt) == (3, "")


def test_position_the_broker_does_not_return_ends_with_a_reason() -> None:
    log = _three()
    second = sorted(log.places)[1]
    log.refused.add(second)
    walk, found = walked(log)
    assert found == [("orders", 0, 0)]
    assert walk.doubt == (
        f"the log was read from 0 to {second} of {log.end}: what stands at {second} of the log: "
        "code 1, can not find message by the offset"
    )


def test_record_with_another_position_ends_the_walk_with_reason() -> None:
    log = _three()
    first, second, _ = sorted(log.places)
    log.places[second] = log.places[first]
    walk, found = walked(log)
    assert len(found) == 1
    assert "the record there says 0" in walk.doubt


def test_invalid_record_bytes_end_the_walk_with_a_reason() -> None:
    log = _three()
    log.places[0] = b"\0" * 91
    walk, found = walked(log)
    assert (found, "magic 0x0" in walk.doubt) == ([], True)


def test_broker_without_a_known_log_start_causes_a_caveat() -> None:
    walk = Walk()
    walk.hear(Command(Header(0, 1, RESPONSE), b'{"table":{"commitLogMaxOffset":"9"}}'))
    assert walk.request is None
    assert "no bounds of the log: KeyError('commitLogMinOffset')" in walk.doubt
