"""How many confirmed messages waited for a consumer when the load ended."""

from pathlib import Path

from harness.report import html
from harness.view.backlogs import waiting
from spark_analysis.schema.words import Outcome, Via
from tests.rigs.histories.by_hand import History
from tests.rigs.runs.judged_runs import crash, judged_run, page_of
from tests.rigs.runs.run_folders import write_run

ENDED_MS = 10_000


def story() -> History:
    """Five messages: one delivered in time, one by then only sent, three not delivered by then."""
    history = History(load_ms=(0, ENDED_MS))
    for number in range(4):
        history.publish(number, at_ms=1_000 + number).confirm(number, at_ms=1_100 + number)
    history.publish(4, at_ms=ENDED_MS - 1).confirm(4, at_ms=ENDED_MS + 1)
    history.deliver(0, at_ms=1_200)
    history.deliver(1, at_ms=ENDED_MS + 1)
    return history.deliver(2, at_ms=ENDED_MS + 5, via=Via.DRAIN)


def test_messages_confirmed_and_not_received_by_then_count(tmp_path: Path) -> None:
    facts, rows = story().build()
    assert waiting(write_run(tmp_path / "run", facts, rows), facts) == 3


def test_only_confirms_and_consumers_of_the_load_count(tmp_path: Path) -> None:
    facts, rows = story().build()
    for row in rows["settlements"]:
        row["outcome"] = Outcome.UNKNOWN.value if row["sequence"] == 3 else row["outcome"]
    for row in rows["deliveries"]:
        row["via"] = Via.AUDIT.value
    assert waiting(write_run(tmp_path / "run", facts, rows), facts) == 3


def test_with_consumer_groups_the_number_is_unknown(tmp_path: Path) -> None:
    facts, rows = story().group("audit", 9).build()
    assert facts.consumer_groups
    assert waiting(write_run(tmp_path / "run", facts, rows), facts) is None


def test_without_rows_or_with_delays_the_number_is_unknown(tmp_path: Path) -> None:
    facts, rows = story().build()
    assert waiting(tmp_path / "packed", facts) is None
    folder = write_run(tmp_path / "run", facts, {**rows, **delayed()})
    assert waiting(folder, facts) is None
    (folder / "raw" / "deliveries.parquet").write_bytes(b"no table")
    (folder / "raw" / "terms.parquet").unlink()
    assert waiting(folder, facts) is None


def delayed() -> dict[str, list[dict[str, int | str | None]]]:
    row = {"producer": 1, "sequence": 0, "attempt": 1, "due_ns": 5, "fate": 0}
    return {"terms": [{**row}]}


def test_messages_of_the_harness_are_no_backlog(tmp_path: Path) -> None:
    facts, rows = story().build()
    for row in rows["settlements"]:
        row["producer"] = -1
    assert waiting(write_run(tmp_path / "run", facts, rows), facts) is None


def test_the_first_screen_counts_what_only_the_drain_received(tmp_path: Path) -> None:
    waited = range(700, 790)
    history = crash(lost=waited)
    for number in waited:
        history.deliver(number, at_ms=41_000 + number, via=Via.DRAIN)
    run = judged_run(tmp_path / "run", history)
    assert run.summary is not None and (run.summary.backlog_left, run.summary.waiting) == (
        True,
        90,
    )
    text = "when the load ended, consumers had not received 90 confirmed messages (backlog)"
    assert text in html.text(page_of(run)).partition("Words and signs")[0]
