"""Two faults at once on a real cluster of the reference: each is verified, and each ends."""

from collections.abc import Sequence

import pytest

from faults.core.mechanisms import LOCAL
from harness.plan.model import RunPlan
from spark_analysis.schema.facts import Window
from tests.rigs.runs.fault_pairs import (
    OTHER,
    SAME,
    Pair,
    batches,
    pairs,
    planned,
    planned_batch,
)
from tests.rigs.runs.fault_pairs_played import judged, play
from tests.rigs.runs.manifests import manifest

pytestmark = [pytest.mark.slow, pytest.mark.long]

IN_CI = (
    Pair("partition", "freeze", "nested", OTHER),
    Pair("kill", "black_hole", "overlapping", OTHER),
)
REPRESENTATIVE = (
    *IN_CI,
    Pair("freeze", "partition", "nested", SAME),
    Pair("partition", "partition", "overlapping", OTHER),
    Pair("slow", "hang", "overlapping", SAME),
    Pair("hang", "kill", "nested", SAME),
    Pair("client_freeze", "partition", "in the undo", ""),
)
LATER = batches(pair for pair in pairs() if pair not in IN_CI)


def verify(batch: Sequence[Pair]) -> None:
    """Planning refuses a pair with a reason, or the pair is verified."""
    runs = {pair: planned(pair) for pair in batch}
    assert all(runs.values()), "a refusal says why"
    found = play([pair for pair, run in runs.items() if isinstance(run, RunPlan)])
    left = {pair.name: reason for pair, reason in found.items() if reason}
    assert not left


@pytest.mark.parametrize("pair", IN_CI, ids=lambda pair: pair.name)
def test_two_faults_at_once_are_both_verified(pair: Pair) -> None:
    verify([pair])


@pytest.mark.nightly
@pytest.mark.parametrize("batch", LATER, ids=lambda batch: f"{batch[0].name} and others")
def test_every_pair_is_verified_or_refused_at_planning(batch: Sequence[Pair]) -> None:
    verify(batch)


@pytest.mark.nightly
def test_every_batch_is_planned() -> None:
    played = [pair for pair in pairs() if isinstance(planned(pair), RunPlan)]
    found = batches(played)
    assert sorted(pair for batch in found for pair in batch) == sorted(played)
    assert all(isinstance(planned_batch(batch), RunPlan) for batch in found)
    assert not [pair for batch in found for pair in batch[:-1] if pair.splits]


def test_a_killed_publisher_is_not_meant_again() -> None:
    crash = Pair("client_crash", "kill", "overlapping", "")
    both = Pair("client_freeze", "client_crash", "in the undo", OTHER)
    run = planned_batch([crash, both, crash])
    assert isinstance(run, RunPlan)
    targets = [window.fault.target.word for window in run.schedule.windows]
    assert targets[0] == "publisher-1"
    assert targets[2:4] == ["publisher-2", "publisher-3"]
    assert targets[4] == "publisher-4"
    assert run.scenario.workload.publishers == 4


def window(number: int, verified: bool = True, doubt: str = "", **times: int) -> Window:
    known = {"origin_ns": 0, "returned_ns": 0, "ended_ns": 9, **times}
    return Window(
        number=number, kind="kill", verified=verified, gone=True, unverified_reason=doubt, **known
    )


def test_each_pair_of_a_batch_is_judged_by_its_windows() -> None:
    one, two = REPRESENTATIVE[:2]
    run = manifest()
    run.windows = [window(1), window(2), window(3), window(4, False, "not verified active")]
    assert judged([one, two], run) == {one: "", two: "fault 2: not verified active"}
    run.windows = [window(1), window(2, origin_ns=10), window(3), window(4)]
    late = "the second fault opened after the first had been undone"
    assert judged([one, two], run) == {one: late, two: ""}


def test_a_pair_is_not_judged_whose_turn_did_not_come() -> None:
    run = manifest()
    run.failure = "publisher-1 was lost"
    run.windows = [window(1), window(2)]
    run.windows += [window(number, False, "never began") for number in range(3, 7)]
    one, two, three = REPRESENTATIVE[:3]
    assert judged([one, two, three], run) == {one: "", two: run.failure}


def test_the_representative_pairs_are_planned() -> None:
    assert all(isinstance(planned(pair, LOCAL), RunPlan) for pair in REPRESENTATIVE)
