"""Ways that another system declares, judged by the oracle and by the kernels by their traits."""

from dataclasses import replace

import pytest

from harness.workers.rocketmq.ways import HALF, RETRY_TOPIC
from spark_analysis.engine.kernel.records import BadRecords
from spark_analysis.schema.ways import AUDIT, DRAIN, LOAD, DeliveryWay
from spark_analysis.schema.words import Fate, Outcome, Redelivered, Via
from tests.oracle.judge import judge
from tests.rigs.histories.both_judges import by_kernels, judged_by_both, raw_columns
from tests.rigs.histories.by_hand import History

PUSHED = DeliveryWay(9, "pushed", LOAD, "pushed to")
PARKED = DeliveryWay(10, "parked", LOAD, "delivered from the parking place to", again=True)
PURGED = DeliveryWay(11, "purged", DRAIN, "purged by")
STORED = DeliveryWay(200, "stored", AUDIT, "found in the store by")
OPEN = DeliveryWay(254, "open", AUDIT, "found open by", uncommitted=True)
OWN = (PUSHED, PARKED, PURGED, STORED, OPEN)
ALIKE = [
    (PUSHED, Via.LOAD),
    (PARKED, RETRY_TOPIC.number),
    (PURGED, Via.DRAIN),
    (STORED, Via.AUDIT),
    (OPEN, HALF.number),
]


def story(history: History, via: int) -> History:
    """Everything that depends on a way: first deliveries, copies, finds, transactions, queues."""
    history.window(10_000, ended_ms=12_000).queue("bills")
    for sequence in range(8):
        history.publish(sequence, at_ms=10_500 + sequence).confirm(sequence)
    history.deliver(0, at_ms=11_000, via=via)
    history.deliver(1, at_ms=11_001).deliver(1, at_ms=13_000, via=via, tag=90)
    history.deliver(2, at_ms=11_002, via=via).deliver(2, at_ms=13_001)
    history.deliver(3, at_ms=11_003, via=via, redelivered=Redelivered.YES)
    history.deliver(4, at_ms=11_004, place="a/0", offset=4)
    history.deliver(4, at_ms=13_002, place="a/1", offset=4, via=via)
    history.deliver(5, at_ms=13_003, via=via, queue="bills")
    history.client_event("lost", at_ms=14_000)
    for sequence, fate in ((20, Fate.COMMIT), (21, Fate.ROLLBACK), (22, Fate.COMMIT_WHEN_CHECKED)):
        history.publish(sequence, at_ms=15_000 + sequence).terms(sequence, fate=fate)
        refused = fate is Fate.ROLLBACK
        history = (
            history.settle(sequence, Outcome.REFUSED) if refused else history.confirm(sequence)
        )
        history.deliver(sequence, at_ms=70_000 + sequence, via=via)
    return history


@pytest.mark.parametrize(("declared", "ours"), ALIKE, ids=[way.label for way, _ in ALIKE])
def test_a_declared_way_is_judged_as_one_of_its_traits(declared: DeliveryWay, ours: int) -> None:
    theirs = judged_by_both(*story(History(ways=OWN), declared.number).build())
    assert theirs == judged_by_both(*story(History(), ours).build())
    assert theirs.counts


def test_each_trait_changes_a_verdict() -> None:
    counts = [judged_by_both(*story(History(ways=OWN), way.number).build()).counts for way in OWN]
    assert len({tuple(sorted(each)) for each in counts}) == len(OWN)


@pytest.mark.parametrize("via", [0, 4, 5, 8, 12, 255])
def test_a_way_that_the_system_does_not_declare_is_refused(via: int) -> None:
    history = History(ways=OWN).publish(1).confirm(1).deliver(1).deliver(1, via=via).deliver(1)
    facts, rows = history.build()
    with pytest.raises(BadRecords, match=rf"deliveries\.via is {via}, and the ways .* 9, 10, 11"):
        by_kernels(facts, raw_columns(rows))
    with pytest.raises(KeyError):
        judge(facts, rows)


def test_without_declared_ways_there_are_our_own_alone() -> None:
    facts, rows = History(ways=()).publish(1).confirm(1).deliver(1, via=PARKED.number).build()
    with pytest.raises(BadRecords, match="the ways of this run are 1, 2, 3: "):
        by_kernels(facts, raw_columns(rows))
    judged_by_both(replace(facts, ways=(PARKED,)), rows)
