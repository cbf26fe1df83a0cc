"""Confirm levels of another system's scale, judged by the oracle and by the kernels."""

import pytest

from spark_analysis.engine.kernel.records import BadRecords
from spark_analysis.schema.words import Level
from tests.oracle.judge import judge
from tests.rigs.histories.both_judges import by_kernels, judged_by_both, raw_columns
from tests.rigs.histories.by_hand import History

SYNCED, CACHED = Level(1, "quorum_synced"), Level(40, "quorum_cached")
OWN = (SYNCED, CACHED)


def test_a_lost_message_has_the_label_of_its_level() -> None:
    history = History(levels=OWN).publish(1).confirm(1, strength=CACHED)
    (lost,) = (row for row in counts(history) if row[0] == "lost")
    assert lost == ("lost", "quorum_cached", 1)


def test_the_level_of_the_lowest_rank_is_the_strongest() -> None:
    history = History(levels=OWN).publish(1).confirm(1, strength=CACHED).deliver(1)
    history.publish(1, attempt=2).confirm(1, attempt=2, strength=SYNCED)
    assert ("confirmed", "quorum_synced", 1) in counts(history)


@pytest.mark.parametrize("rank", [2, 7, 41, 255])
def test_a_rank_that_the_system_does_not_declare_is_refused(rank: int) -> None:
    history = History(levels=OWN).publish(1).confirm(1, strength=Level(rank, "unknown"))
    facts, rows = history.build()
    with pytest.raises(BadRecords, match="unknown strength"):
        by_kernels(facts, raw_columns(rows))
    with pytest.raises(KeyError):
        judge(facts, rows)


def counts(history: History) -> list[tuple[str, str, int]]:
    found = judged_by_both(*history.build())
    return [(row.measure, row.detail, row.count) for row in found.counts]
