"""What becomes of attempts: by example, and against a model that keeps everything."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from harness.workers.core.publishes import RETRY_PAUSE_NS, Book, Settlement
from spark_analysis.schema.words import NO_INTENT, Outcome

CONFIRMED, RETURNED, UNKNOWN = Outcome.CONFIRMED, Outcome.RETURNED, Outcome.UNKNOWN


def book_with(*sequences: int, retrying: bool = False, deadline_ns: int = NO_INTENT) -> Book:
    book = Book(retrying)
    book.connected()
    for sequence in sequences:
        book.send(sequence, 1, sequence, deadline_ns)
    return book


def test_an_ack_confirms_its_attempt_once() -> None:
    book = book_with(10, 11)
    assert book.acked(2, False, 20) == [(11, 1, CONFIRMED, "ack")]
    assert book.acked(2, False, 21) == []
    assert (book.confirmed, book.out) == (1, 1)


def test_multiple_ack_confirms_every_open_tag_up_to_it() -> None:
    book = book_with(10, 11, 12, 13)
    book.acked(2, False, 20)
    assert book.acked(3, True, 20) == [(10, 1, CONFIRMED, "ack"), (12, 1, CONFIRMED, "ack")]
    assert book.acked(0, True, 20) == [(13, 1, CONFIRMED, "ack")]


def test_a_return_followed_by_its_ack_is_returned() -> None:
    book = book_with(10, 11)
    book.returned(10, 1, "return 312 NO_ROUTE")
    assert book.acked(2, True, 20) == [
        (10, 1, RETURNED, "return 312 NO_ROUTE"),
        (11, 1, CONFIRMED, "ack"),
    ]


def test_a_nack_is_unknown_even_after_a_return() -> None:
    book = book_with(10)
    book.returned(10, 1, "return 312 NO_ROUTE")
    assert book.nacked(1, False, 20) == [(10, 1, UNKNOWN, "nack")]


def test_lost_connection_makes_open_publishes_unknown_and_restarts_tags() -> None:
    book = book_with(10, 11)
    assert book.lost("connection lost: EOF", 20) == [
        (10, 1, UNKNOWN, "connection lost: EOF"),
        (11, 1, UNKNOWN, "connection lost: EOF"),
    ]
    book.connected()
    assert book.send(12, 1, 30, NO_INTENT) == 1
    assert book.acked(1, False, 31) == [(12, 1, CONFIRMED, "ack")]


def test_without_retrying_an_unknown_publish_is_finished() -> None:
    book = book_with(10)
    book.nacked(1, False, 20)
    assert (book.retry_ns(), book.unsettled) == (None, 0)


def test_until_confirmed_retries_an_unknown_publish_as_new_attempt() -> None:
    book = book_with(10, retrying=True)
    book.lost("connection lost", 20)
    assert (book.retry_ns(), book.unsettled) == (20, 1)
    retry = book.take_retry()
    assert (retry.sequence, retry.attempt) == (10, 2)
    book.connected()
    book.send(retry.sequence, retry.attempt, 30, retry.deadline_ns)
    assert book.acked(1, False, 40) == [(10, 2, CONFIRMED, "ack")]
    assert book.unsettled == 0


def test_publish_rejected_by_the_broker_is_retried_after_a_pause() -> None:
    book = book_with(10, 11, retrying=True)
    book.returned(10, 1, "return 312 NO_ROUTE")
    book.acked(1, False, 20)
    book.nacked(2, False, 30)
    assert [book.take_retry()[:2] for _ in range(2)] == [
        (20 + RETRY_PAUSE_NS, 10),
        (30 + RETRY_PAUSE_NS, 11),
    ]


def test_the_oldest_is_the_first_that_is_still_out() -> None:
    book = book_with(10, 11, 12)
    book.acked(1, False, 20)
    assert book.oldest_ns() == 11
    book.acked(3, True, 20)
    assert book.oldest_ns() is None


def test_missed_counts_what_was_not_confirmed_within_its_deadline() -> None:
    book = book_with(1, 2, 3, deadline_ns=100)
    book.not_sent()
    book.acked(1, False, 100)
    book.acked(2, False, 101)
    assert book.missed(100) == 2  # not sent; confirmed too late
    assert book.missed(101) == 3  # and one that is still out


class Brokered(RuleBasedStateMachine):
    """A broker that settles as it likes, and a model: every attempt's state in plain dicts."""

    def __init__(self) -> None:
        super().__init__()
        self.book = Book(retrying=True)
        self.book.connected()
        self.now_ns = 0
        self.next = 0
        self.out: dict[int, tuple[int, int]] = {}  # tag -> sequence, attempt
        self.tag = 0
        self.settled: dict[tuple[int, int], Outcome] = {}
        self.waiting: dict[int, int] = {}  # sequence -> attempt that failed
        self.returned: set[tuple[int, int]] = set()

    def check(
        self, settlements: list[Settlement], expected: dict[tuple[int, int], Outcome]
    ) -> None:
        assert {(each[0], each[1]): each[2] for each in settlements} == expected
        assert len(settlements) == len(expected)
        assert not self.settled.keys() & expected.keys()
        self.settled |= expected
        for (sequence, attempt), outcome in expected.items():
            if outcome is not CONFIRMED:
                self.waiting[sequence] = attempt

    def taken(self, tag: int, multiple: bool) -> list[tuple[int, int]]:
        tags = [each for each in sorted(self.out) if each == tag or (multiple and each < tag)]
        return [self.out.pop(each) for each in tags]

    @rule()
    def send(self) -> None:
        self.tag += 1
        assert self.book.send(self.next, 1, self.now_ns, NO_INTENT) == self.tag
        self.out[self.tag] = (self.next, 1)
        self.next += 1

    @precondition(lambda self: self.waiting)
    @rule()
    def retry(self) -> None:
        self.now_ns += RETRY_PAUSE_NS
        retry_ns = self.book.retry_ns()
        assert retry_ns is not None
        assert retry_ns <= self.now_ns
        retry = self.book.take_retry()
        assert self.waiting.pop(retry.sequence) + 1 == retry.attempt
        self.tag += 1
        assert self.book.send(retry.sequence, retry.attempt, self.now_ns, NO_INTENT) == self.tag
        self.out[self.tag] = (retry.sequence, retry.attempt)

    @rule(tag=st.integers(1, 30), multiple=st.booleans())
    def ack(self, tag: int, multiple: bool) -> None:
        taken = self.taken(tag, multiple)
        expected = {each: RETURNED if each in self.returned else CONFIRMED for each in taken}
        self.check(self.book.acked(tag, multiple, self.now_ns), expected)

    @rule(tag=st.integers(1, 30), multiple=st.booleans())
    def nack(self, tag: int, multiple: bool) -> None:
        expected = dict.fromkeys(self.taken(tag, multiple), UNKNOWN)
        self.check(self.book.nacked(tag, multiple, self.now_ns), expected)

    @precondition(lambda self: self.out)
    @rule(choice=st.randoms(use_true_random=False))
    def give_back(self, choice: random.Random) -> None:
        attempt = choice.choice(sorted(self.out.values()))
        self.returned.add(attempt)
        self.book.returned(*attempt, "return 312 NO_ROUTE")

    @rule()
    def lose(self) -> None:
        expected = dict.fromkeys(self.taken(self.tag, True), UNKNOWN)
        self.check(self.book.lost("connection lost", self.now_ns), expected)
        self.book.connected()
        self.tag = 0

    @invariant()
    def the_book_agrees(self) -> None:
        assert self.book.out == len(self.out)
        assert self.book.unsettled == len(self.out) + len(self.waiting)
        outcomes = list(self.settled.values())
        assert self.book.confirmed == outcomes.count(CONFIRMED)
        assert self.book.unknown == outcomes.count(UNKNOWN)


TestBrokered = Brokered.TestCase
TestBrokered.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


@settings(deadline=None)
@given(st.lists(st.integers(1, 60), max_size=40))
def test_each_attempt_settles_at_most_once_in_any_ack_order(tags: list[int]) -> None:
    book = book_with(*range(50))
    settled = [each for tag in tags for each in book.acked(tag, tag % 3 == 0, 1)]
    settled += book.lost("connection lost", 2)
    assert sorted(each[0] for each in settled) == list(range(50))
