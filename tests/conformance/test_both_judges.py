"""The hand-made runs, and both judges: what the oracle says, the kernels say."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle.judge import judge
from tests.rigs.histories.both_judges import by_kernels, listed, raw_columns
from tests.rigs.histories.conformance import STORIES, history_of
from tests.rigs.histories.fixed import few_histories

pytestmark = [pytest.mark.slow, pytest.mark.engine]  # some are long: a second each


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.name.split(".")[0])
def test_both_judges_say_the_same_of_a_story(path: Path) -> None:
    facts, rows = history_of(path)
    assert by_kernels(facts, raw_columns(rows)) == listed(judge(facts, rows))


def test_both_judges_say_the_same_where_redelivery_may_change_the_order() -> None:
    for facts, rows in few_histories()[::3]:
        queues = replace(facts, requeues_behind=True)
        assert by_kernels(queues, raw_columns(rows)) == listed(judge(queues, rows)), facts.run
