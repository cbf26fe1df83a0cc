"""What a page needs of affected messages, in few rows however many there are."""

from spark_analysis.schema.digest import EXAMPLES_MAX, Later, Mark
from spark_analysis.schema.words import Outcome
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History


def late(story: History, numbers: range, at_ms: float) -> History:
    """Publishes of one instant that are never confirmed."""
    for number in numbers:
        story.publish(number, at_ms=at_ms).settle(number, Outcome.REFUSED, at_ms=at_ms + 1)
    return story


def test_affected_messages_are_counted_by_measure_and_second() -> None:
    story = late(late(History(), range(3), 500), range(3, 5), 1_500)
    found = judge(*story.build()).marks
    assert set(found) == {Mark("run", "missed", 0, 3), Mark("run", "missed", 1, 2)}


def test_the_first_messages_of_each_class_are_examples() -> None:
    story = late(late(History(), range(100, 200), 500), range(10), 1_500)
    found = judge(*story.build())
    assert len(tuple(found.affected)) == 110
    assert [row.sequence for row in found.examples] == [*range(100, 100 + EXAMPLES_MAX)]


def test_a_repeatedly_delivered_message_is_one_example_of_its_class() -> None:
    story = History().publish(1, at_ms=0).confirm(1).publish(2, at_ms=1).confirm(2)
    story.deliver(1, at_ms=10)
    for again in range(300):
        story.deliver(1, at_ms=20 + again)
    story.deliver(2, at_ms=900).deliver(2, at_ms=901)
    found = judge(*story.build())
    assert [(row.measure, row.sequence, row.at_ns // 10**6) for row in found.examples] == [
        ("duplicated", 1, 20),
        ("duplicated", 2, 901),
    ]


def test_late_publishes_long_after_recovery_are_counted_by_window() -> None:
    story = History(load_ms=(0, 60_000)).window(10_000, returned_ms=10_000)
    for number in range(600):
        story.publish(number, at_ms=100 * number)
        story.confirm(number, at_ms=100 * number + (1_900 if number in (120, 400, 500) else 1))
    (row,) = judge(*story.build()).later
    assert row == Later("run", 1, 2)
