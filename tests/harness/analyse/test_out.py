"""How long a run was out in all, and which of its queues or publishers for longest."""

from dataclasses import replace

from harness.analyse.out import Out, of_run, worst_of_many
from spark_analysis.schema.facts import QueueEnd
from spark_analysis.schema.service import NEVER, QUEUE, UNKNOWN
from tests.findings import Story

QUEUES = tuple(QueueEnd(f"q{number}", True, True, "", ()) for number in range(200))


def test_every_outage_of_a_run_counts_whatever_window_it_lies_in() -> None:
    story = Story().outage(2, 3, windows="").outage(20, 24.5)
    assert of_run(story.facts, story.outages) == Out("run", "", 1, 5.5, whole=True, back=True)
    assert of_run(story.facts, []) == Out("run", "", 1, 0, whole=True, back=True)


def test_an_outage_that_was_not_seen_to_end_is_a_bound() -> None:
    story = Story().outage(20, 60, NEVER)
    assert of_run(story.facts, story.outages) == Out("run", "", 1, 40, whole=False, back=False)
    story = Story().outage(20, 60, UNKNOWN)
    assert of_run(story.facts, story.outages) == Out("run", "", 1, 40, whole=False, back=True)


def test_without_confirms_or_a_pace_there_is_no_history() -> None:
    facts = Story().facts
    assert of_run(replace(facts, confirms=False), []) is None
    assert of_run(replace(facts, paced=False), []) is None


def test_one_queue_of_many_is_told_by_all_its_outages() -> None:
    story = Story().outage(20, 21, scope=QUEUE, name="q7").outage(30, 69, scope=QUEUE, name="q7")
    story.outage(20, 50, scope=QUEUE, name="q9")
    facts = replace(story.facts, queues=QUEUES)
    assert worst_of_many(facts, story.outages) == Out(QUEUE, "q7", 200, 40, whole=True, back=True)


def test_a_queue_that_is_the_only_one_is_the_run() -> None:
    story = Story().outage(20, 21, scope=QUEUE, name="orders")
    assert worst_of_many(story.facts, story.outages) is None
