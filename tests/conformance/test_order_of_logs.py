"""Order and copies in logs: each broken history beside a healthy one that nearly looks like it.
What must be said follows from docs/verdicts.md 5.1 and 6, by the argument of each story."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from harness.claims.judge import ClaimOutcome
from harness.histories.history import FactValue
from spark_analysis.schema.words import Outcome, Redelivered
from tests.rigs.histories.claim_names import (
    ACKED,
    AT_OFFSET,
    CORRUPT,
    DELIVERED,
    FIFO,
    IN_SYNC,
    ONE_COPY,
    UNEXPECTED,
)
from tests.rigs.histories.logs import PLACES, LogHistory, outcomes
from tests.rigs.histories.ways import Via

ONE_MASTER: Mapping[str, FactValue] = {
    "masters": 1,
    "elects": True,
    "elects_by_majority": False,
    "promote_on_failure": "when-synced",
}
TOPIC: Mapping[str, FactValue] = {**ONE_MASTER, "progress_kept_by": "brokers"}
STREAM: Mapping[str, FactValue] = {**ONE_MASTER, "progress_kept_by": "clients"}


@dataclass(frozen=True)
class LogCase:
    """A log, what it is declared to be, and the outcomes of claims, each a text of names."""

    make: Callable[[], LogHistory]
    declared: Mapping[str, FactValue]
    fails: str
    passes: str
    unknown: str

    def __str__(self) -> str:
        kind = "stream" if self.declared["progress_kept_by"] == "clients" else "topic"
        return f"{self.make.__name__}-{kind}"


CASES: list[LogCase] = []
Made = Callable[[], LogHistory]


def case(
    declared: Mapping[str, FactValue], fails: str = "", passes: str = "", unknown: str = ""
) -> Callable[[Made], Made]:
    def added(make: Made) -> Made:
        CASES.append(LogCase(make, declared, fails, passes, unknown))
        return make

    return added


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_log_is_judged_as_argued(one: LogCase) -> None:
    found = outcomes(one.make(), one.declared)
    failed = {name for name, outcome in found.items() if outcome is ClaimOutcome.FAIL}
    assert failed == {*one.fails.split()}
    assert {found[name] for name in one.passes.split()} <= {ClaimOutcome.PASS}
    assert {found[name] for name in one.unknown.split()} <= {ClaimOutcome.INCONCLUSIVE}


def log(*own: int, starts: Collection[int] = ()) -> LogHistory:
    """One log of 300 messages. Message 100 is sent at 10 s, confirmed 3 ms and delivered 6 ms
    later, at offset 100. A test writes deliveries of its `own`. At each message of `starts` the
    consumer begins again, on the next connection."""
    story = LogHistory(
        own=own,
        places=PLACES[:1],
        ordered=True,
        connection=lambda number: 1 + sum(number >= start for start in starts),
    )
    for number in own:
        story.history.publish(number, at_ms=number * 100).confirm(number, at_ms=number * 100 + 3)
    for place, start in enumerate(sorted(starts)):
        at_ms = start * 100 - 90
        story.history.client_event("lost", at_ms=at_ms, connection=place + 1)
        story.history.client_event("consuming", at_ms=at_ms + 1, connection=place + 2)
    return story


# --- where a consumer begins again ---------------------------------------------------------------


@case(STREAM, passes=f"{FIFO} {ONE_COPY} {DELIVERED}")
@case(TOPIC, passes=f"{FIFO} {ONE_COPY} {DELIVERED} {ACKED}")
def begins_again_five_messages_earlier() -> LogHistory:
    story = log(starts=(105,))
    for number in range(100, 105):
        story.came(number, 10_420 + number, connection=2)
    return story


@case(STREAM, unknown=FIFO, passes=f"{ONE_COPY} {DELIVERED}")
@case(TOPIC, fails=FIFO, passes=f"{ONE_COPY} {DELIVERED}")
def begins_again_five_messages_ahead_and_then_goes_back() -> LogHistory:
    """A consumer of a stream names the offset; that of a topic gets it from the brokers."""
    story = log(*range(100, 105), starts=(100, 110))
    for number in range(100, 110):
        story.came(number, 10_912 + number / 10, connection=3)
    return story


@case(STREAM, fails=FIFO)
@case(TOPIC, fails=FIFO)
def goes_back_on_one_connection() -> LogHistory:
    story = log(*range(100, 105))
    for number in range(100, 105):
        story.came(number, 10_912 + number / 10)
    return story


# --- stored in another order ---------------------------------------------------------------------


def swapped_in_the_log(*starts: int) -> LogHistory:
    """Message 101 has offset 100, and 100 has offset 101."""
    connection = 1 + len(starts)
    story = log(100, 101, starts=starts)
    story.came(101, 10_106, offset=100)
    return story.came(100, 10_120, offset=101, connection=connection)


@case(STREAM, fails=FIFO)
@case(TOPIC, fails=FIFO)
def stored_in_the_wrong_order() -> LogHistory:
    return swapped_in_the_log()


@case(STREAM, fails=FIFO)
@case(TOPIC, fails=FIFO)
def stored_in_the_wrong_order_and_read_by_two_connections() -> LogHistory:
    """No offset that a consumer names changes what is stored."""
    return swapped_in_the_log(102)


@case(STREAM, fails=f"{DELIVERED} {IN_SYNC}", passes=FIFO)
@case(TOPIC, fails=f"{DELIVERED} {IN_SYNC}", passes=FIFO)
def one_is_lost_and_the_next_has_its_offset() -> LogHistory:
    return log(100, 101).came(101, 10_106, offset=100)


# --- flags, where an election needs a majority ---------------------------------------------------


MAJORITY_TOPIC: Mapping[str, FactValue] = {**TOPIC, "elects_by_majority": True}
MAJORITY_STREAM: Mapping[str, FactValue] = {**STREAM, "elects_by_majority": True}


@case(MAJORITY_STREAM, fails=FIFO)
@case(MAJORITY_TOPIC, fails=FIFO)
def two_flagged_messages_come_in_the_wrong_order() -> LogHistory:
    """A queue may put what was requeued anywhere; a log keeps its order."""
    story = log(100, 101)
    story.came(101, 10_106, redelivered=Redelivered.YES)
    return story.came(100, 10_111, redelivered=Redelivered.YES)


@case(MAJORITY_STREAM, passes=FIFO)
@case(MAJORITY_TOPIC, passes=FIFO)
def two_flagged_messages_come_in_order() -> LogHistory:
    story = log(100, 101)
    story.came(100, 10_106, redelivered=Redelivered.YES)
    return story.came(101, 10_111, redelivered=Redelivered.YES)


# --- copies --------------------------------------------------------------------------------------


def sent_twice(*offsets: int, second: Outcome = Outcome.CONFIRMED) -> LogHistory:
    """Message 100 is unanswered and sent again. Its attempts come at these offsets."""
    story = LogHistory(own=(100,), places=PLACES[:1], ordered=True)
    story.history.publish(100, at_ms=10_000).settle(100, Outcome.UNKNOWN, at_ms=11_000)
    story.history.publish(100, attempt=2, at_ms=11_010)
    story.history.settle(100, second, attempt=2, at_ms=11_013)
    for attempt, offset in enumerate(offsets, 1):
        story.came(100, 11_020 + attempt, offset=offset, attempt=attempt)
    return story


@case(STREAM, passes=f"{ONE_COPY} {FIFO} {DELIVERED}")
@case(TOPIC, passes=f"{ONE_COPY} {FIFO} {DELIVERED}")
def sent_twice_and_stored_twice() -> LogHistory:
    return sent_twice(900, 901)


@case(STREAM, fails=ONE_COPY)
@case(TOPIC, fails=ONE_COPY)
def sent_twice_and_stored_three_times() -> LogHistory:
    return sent_twice(900, 901).came(100, 11_030, offset=902, attempt=2)


@case(STREAM, fails=AT_OFFSET, passes=f"{ONE_COPY} {FIFO}")
@case(TOPIC, passes=f"{ONE_COPY} {FIFO} {ACKED}")
def one_offset_comes_twice_on_one_connection() -> LogHistory:
    """It lies in the log once."""
    return log().came(100, 10_050)


@case(STREAM, fails=ONE_COPY, passes=FIFO)
@case(TOPIC, fails=ONE_COPY, passes=FIFO)
def two_offsets_come_on_one_connection() -> LogHistory:
    return log().came(100, 10_050, offset=900)


# --- flags and retry topics ----------------------------------------------------------------------


@case(STREAM, passes=FIFO)
@case(TOPIC, passes=FIFO)
def nothing_says_whether_it_came_before() -> LogHistory:
    """Offsets say it."""
    story = log()
    for row in story.history.rows["deliveries"]:
        row["redelivered"] = int(Redelivered.NOT_REPORTED)
    return story


@case(STREAM, fails=FIFO)
@case(TOPIC, fails=FIFO)
def nothing_says_whether_it_came_before_and_one_is_late() -> LogHistory:
    story = log(100).came(100, 10_107)
    for row in story.history.rows["deliveries"]:
        row["redelivered"] = int(Redelivered.NOT_REPORTED)
    return story


def retried(*own: int) -> LogHistory:
    place, queue = "%RETRY%group/0", "%RETRY%group"
    story = log(*own)
    return story.came(100, 12_000, via=Via.RETRY_TOPIC, place=place, queue=queue, offset=0)


@case(TOPIC, passes=f"{FIFO} {DELIVERED} {ONE_COPY} {ACKED}")
def the_retry_topic_brings_one_again() -> LogHistory:
    return retried()


@case(TOPIC, passes=f"{FIFO} {DELIVERED} {ONE_COPY}")
def the_retry_topic_alone_brings_one() -> LogHistory:
    return retried(100)


# --- strays and bodies ---------------------------------------------------------------------------


@case(STREAM, fails=UNEXPECTED, passes=f"{FIFO} {ONE_COPY}")
@case(TOPIC, fails=UNEXPECTED, passes=f"{FIFO} {ONE_COPY}")
def one_comes_that_nobody_sent() -> LogHistory:
    story = log()
    story.history.deliver(999, at_ms=10_050, tag=20_000, place=PLACES[0], offset=900)
    return story


@case(STREAM, fails=CORRUPT, passes=f"{FIFO} {DELIVERED} {ONE_COPY}")
@case(TOPIC, fails=CORRUPT, passes=f"{FIFO} {DELIVERED} {ONE_COPY}")
def one_is_corrupt_at_first_and_whole_when_it_is_read_again() -> LogHistory:
    story = log(100, starts=(105,)).came(100, 10_006, payload_ok=False)
    return story.came(100, 10_420, connection=2)


# --- what only the audit finds -------------------------------------------------------------------


def audited(via: int = Via.AUDIT, **where: Any) -> LogHistory:
    """The audit reads the log, and message 50 a second time: elsewhere, or by another way."""
    log = LogHistory().audited()
    log.history.deliver(50, at_ms=60_000, via=via, consumer=9, **where)
    return log


@case(TOPIC, passes=f"{ONE_COPY} {DELIVERED}")
def the_audit_finds_each_message_once() -> LogHistory:
    return LogHistory().audited()


@case(TOPIC, unknown=ONE_COPY, passes=DELIVERED)
def the_audit_finds_one_message_at_two_offsets() -> LogHistory:
    """Consumers got it once: no delivery shows the second copy."""
    return audited(place=PLACES[0], offset=999)


@case(TOPIC, passes=f"{ONE_COPY} {DELIVERED}")
def the_audit_finds_one_message_in_two_places() -> LogHistory:
    """A slave has it where its own log has room."""
    return audited(place="broker-a-slave/0", offset=24)


@case(TOPIC, passes=f"{ONE_COPY} {DELIVERED}")
def the_audit_finds_the_half_of_a_message_at_another_offset() -> LogHistory:
    return audited(Via.HALF, place=PLACES[0], offset=7)
