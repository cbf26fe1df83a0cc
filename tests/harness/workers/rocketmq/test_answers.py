"""What the library said, and what it means: every status, every proof, and each near-miss."""

import pytest

from harness.workers.clients.rocketmq.core.answers import STATES, STATUSES, judge
from harness.workers.clients.rocketmq.core.wire import (
    FAILED,
    HANDED_OVER,
    NO_STATE,
    Cause,
    RawAnswer,
)
from spark_analysis.schema.words import Fate, Outcome, Strength


def status(word: str, state: str = "") -> RawAnswer:
    number = STATES.index(state) if state else NO_STATE
    return RawAnswer(5, 7, STATUSES.index(word), number, ())


def failure(*causes: Cause) -> RawAnswer:
    return RawAnswer(5, 7, FAILED, NO_STATE, causes)


def broker(code: int, remark: str = "no") -> Cause:
    return Cause("MQBrokerException", code, remark)


@pytest.mark.parametrize(
    ("word", "strength"),
    [
        ("SEND_OK", None),
        ("FLUSH_DISK_TIMEOUT", Strength.FLUSH_DISK_TIMEOUT),
        ("FLUSH_SLAVE_TIMEOUT", Strength.FLUSH_SLAVE_TIMEOUT),
        ("SLAVE_NOT_AVAILABLE", Strength.SLAVE_NOT_AVAILABLE),
    ],
)
def test_every_result_is_confirmed_with_the_strength_of_its_status(
    word: str, strength: Strength | None
) -> None:
    assert judge(status(word)) == (7, Outcome.CONFIRMED, strength, word, 5)


@pytest.mark.parametrize(
    "cause",
    [
        broker(13),
        broker(16),
        broker(17, "topic[T] not exist"),
        broker(2, "[TIMEOUT_CLEAN_QUEUE]broker busy, start flow control for a while"),
        broker(2, "[REJECTREQUEST]system busy, start flow control for a while"),
        Cause("RemotingConnectException", -1, "connect to 10.0.0.1:10911 failed"),
    ],
)
def test_provable_refusal_is_recognised_even_when_wrapped(cause: Cause) -> None:
    wrapper = Cause("MQClientException", 10001, "Send [1] times, still failed")
    assert judge(failure(cause)).outcome is Outcome.REFUSED
    assert judge(failure(wrapper, cause)).outcome is Outcome.REFUSED


@pytest.mark.parametrize(
    "cause",
    [
        broker(1),
        broker(14, "service not available now"),
        # The append may have been made, and only its answer was late.
        broker(2, "[PC_SYNCHRONIZED]broker busy, start flow control for a while"),
        broker(2, "system busy [TIMEOUT_CLEAN_QUEUE]"),
        Cause("RemotingTooMuchRequestException", -1, "sendDefaultImpl call timeout"),
        Cause("RemotingTimeoutException", -1, "wait response on the channel timeout, 3000(ms)"),
        Cause("RemotingSendRequestException", -1, "send request to 10.0.0.1:10911 failed"),
        Cause("IllegalStateException", -1, "org.apache.rocketmq.remoting: 17"),
        # 17 is the broker's number; a client's own exception may bear it for another reason.
        Cause("MQClientException", 17, "No route info of this topic: T"),
        Cause("MQClientException", 10005, "No route info of this topic: T"),
    ],
)
def test_without_a_proof_a_failed_call_is_unknown(cause: Cause) -> None:
    assert judge(failure(cause)).outcome is Outcome.UNKNOWN


def test_failure_text_keeps_the_innermost_cause_and_is_bounded() -> None:
    causes = (Cause("MQClientException", 10001, "Send\nfailed"), broker(17, "no topic"))
    expected = "MQBrokerException 17 no topic, which caused MQClientException 10001 Send failed"
    assert judge(failure(*causes)).raw == expected
    assert len(judge(failure(broker(1, "x" * 1000))).raw) == 200
    twice = Cause("RemotingSendRequestException", -1, "send request to <rkg2/10.0.0.1:1> failed")
    assert judge(failure(twice, twice)).raw == f"{twice.name} {twice.remark}"


def test_a_failure_text_omits_where_to_read_on() -> None:
    visit = "\nFor more information, please visit the url, https://rocketmq.apache.org/docs/06FAQ"
    see = "\nSee http://rocketmq.apache.org/docs/faq/ for further details."
    for remark in (visit, see, f" {visit}"):
        assert (
            judge(failure(broker(17, f"no topic{remark}"))).raw == "MQBrokerException 17 no topic"
        )


def test_texts_differing_only_in_a_measured_time_are_one() -> None:
    remark = "[PCBUSY_CLEAN_QUEUE]broker busy, period in queue: {}ms, size of queue: {}"
    raws = {judge(failure(broker(2, remark.format(*each)))).raw for each in ((91, 2), (7, 11))}
    assert raws == {f"MQBrokerException 2 {remark.format('#', '#')}"}


def test_a_message_only_handed_over_is_unconfirmed() -> None:
    said = RawAnswer(5, 7, HANDED_OVER, NO_STATE, ())
    assert judge(said) == (7, Outcome.UNCONFIRMED, None, "handed over", 5)


@pytest.mark.parametrize(
    ("state", "fate", "outcome"),
    [
        ("COMMIT_MESSAGE", Fate.COMMIT, Outcome.CONFIRMED),
        ("UNKNOW", Fate.COMMIT_WHEN_CHECKED, Outcome.CONFIRMED),
        ("ROLLBACK_MESSAGE", Fate.ROLLBACK, Outcome.REFUSED),
        ("UNKNOW", Fate.ROLLBACK_WHEN_CHECKED, Outcome.REFUSED),
        # A weak status: the library rolls back by itself what was to be committed.
        ("ROLLBACK_MESSAGE", Fate.COMMIT, Outcome.REFUSED),
    ],
)
def test_transaction_is_confirmed_only_if_it_commits(
    state: str, fate: Fate, outcome: Outcome
) -> None:
    said = judge(status("SEND_OK", state), fate)
    assert (said.outcome, said.raw) == (outcome, f"SEND_OK {state}")
