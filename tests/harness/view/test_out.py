"""All outages of a run together, and who was out beside it."""

from dataclasses import replace

from harness.view.summary import SPELLS_MAX, outs
from spark_analysis.schema.facts import QueueEnd
from spark_analysis.schema.service import NEVER, PUBLISHER, QUEUE, UNDO
from tests.rigs.runs.findings import Story


def test_outages_are_summed_wherever_they_lie() -> None:
    story = Story().outage(12, 15).outage(40, 42, windows="")
    (run,) = outs(story.facts, story.outages)
    assert (run.seconds, run.times, run.whole, run.back) == (5, 2, True, True)


def test_outages_that_the_system_did_not_end_are_bounds() -> None:
    undone, never = Story().outage(12, 27, UNDO), Story().outage(12, 60, NEVER)
    found = [outs(story.facts, story.outages)[0] for story in (undone, never)]
    assert [(one.whole, one.back) for one in found] == [(False, True), (False, False)]


def test_the_worst_of_several_queues_stands_beside_the_run() -> None:
    story = Story().outage(12, 13, scope=QUEUE, name="orders")
    story.outage(20, 60, NEVER, scope=QUEUE, name="q7").outage(5, 9, scope=PUBLISHER, name="1")
    assert len(outs(story.facts, story.outages)) == 1, "of one queue and one publisher"
    more = QueueEnd("q7", True, True, "", ())
    facts = replace(story.facts, queues=(*story.facts.queues, more))
    run, queue = outs(facts, story.outages)
    assert (run.seconds, queue.name, queue.of, queue.seconds) == (0, "q7", 2, 40)


def test_without_a_history_nothing_is_said() -> None:
    facts = Story().facts
    assert outs(replace(facts, confirms=False), ()) == outs(replace(facts, paced=False), ()) == ()


def test_longest_of_very_many_are_kept_and_all_are_summed() -> None:
    story = Story()
    for number in range(SPELLS_MAX + 1):
        story.outage(number, number + (0.25 if number == 7 else 0.5))
    (run,) = outs(story.facts, story.outages)
    assert (run.times, len(run.spells), run.seconds) == (61, 60, 30.25)
    assert story.outages[7] not in run.spells
