"""What publishers were answered about the messages that were due in an outage."""

from dataclasses import replace
from pathlib import Path

from harness.view.detail import failures_of
from harness.view.outage_answers import DUE_MAX, answers_in
from spark_analysis.schema.service import RUN, SYSTEM, Outage
from spark_analysis.schema.words import Outcome, Strength
from tests.rigs.histories.by_hand import History, ns
from tests.rigs.runs.run_folders import write_run

MEANINGS = failures_of("rocketmq-java-4.9.8")


def outage(from_ms: float, until_ms: float, scope: str = RUN) -> Outage:
    return Outage("run", scope, "", ns(from_ms), ns(until_ms), SYSTEM, 4, 3, "")


def folder_of(history: History, tmp_path: Path) -> Path:
    facts, rows = history.build()
    return write_run(tmp_path / "run", facts, rows)


def test_answers_are_those_of_the_messages_due_in_the_outage(tmp_path: Path) -> None:
    history = History().publish(1, at_ms=900).confirm(1, at_ms=1_200)
    history.publish(2, at_ms=1_000).settle(2, Outcome.UNKNOWN, at_ms=1_010)
    history.rows["settlements"][-1]["raw"] = "nack"
    history.publish(2, at_ms=1_100, attempt=2).confirm(2, at_ms=5_000, attempt=2)
    history.publish(3, at_ms=1_500)
    history.confirm(3, at_ms=1_900, strength=Strength.FLUSH_SLAVE_TIMEOUT)
    history.publish(4, at_ms=2_000).confirm(4, at_ms=2_010)
    folder = folder_of(history, tmp_path)
    answers = (
        "1 answered with nack, 1 confirmed by all required replicas, "
        "1 confirmed: flush slave timeout"
    )
    own = outage(1_000, 2_000, "publisher")
    assert answers_in(folder, [outage(1_000, 2_000), own], MEANINGS) == {ns(1_000): answers}


def test_failures_have_the_words_of_the_failed_sends(tmp_path: Path) -> None:
    history = History()
    for number, raw in enumerate(
        (
            "RemotingTimeoutException wait response on the channel <rkt1/1.2.3.4:10911>, cost=1",
            "RemotingTimeoutException wait response on the channel <rkt1/1.2.3.4:10911>, cost=2",
            "io.netty.channel.StacklessClosedChannelException",
            "connection lost: closed by the publisher: its oldest attempt had no confirm",
            None,
        )
    ):
        history.publish(number, at_ms=1_000).settle(number, Outcome.UNKNOWN, at_ms=1_500)
        history.rows["settlements"][-1]["raw"] = raw
    answers = (
        "2 no answer in time, 1 on a connection that the publisher gave up, "
        "1 connection lost while sending, 1 outcome unknown"
    )
    folder = folder_of(history, tmp_path)
    assert answers_in(folder, [outage(1_000, 2_000)], MEANINGS) == {ns(1_000): answers}


def test_a_run_without_outages_or_raw_rows_has_no_answers(tmp_path: Path) -> None:
    assert answers_in(folder_of(History().publish(1), tmp_path), [], MEANINGS) == {}
    assert answers_in(tmp_path / "none", [outage(1_000, 2_000)], MEANINGS) == {}


def test_answers_to_very_many_messages_are_not_counted(tmp_path: Path) -> None:
    folder = folder_of(History().publish(1, at_ms=1_000).confirm(1, at_ms=1_010), tmp_path)
    long = replace(outage(1_000, 2_000), due=DUE_MAX + 1)
    assert answers_in(folder, [long], MEANINGS) == {}
    assert answers_in(folder, [replace(long, due=DUE_MAX)], MEANINGS)
