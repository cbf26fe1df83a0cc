"""Who waits for whom where runs are played together: the pure part."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from harness.run.core.barrier import Barrier, Refusal, TargetProposal, disagreement
from spark_analysis.schema.words import UnverifiedCause

RUNS = ("one", "two", "three")


def test_barrier_opens_when_every_run_has_arrived() -> None:
    of = Barrier(RUNS)
    assert of.arrive("one", "load") == of.arrive("three", "load") == ()
    assert not of.met("load")
    assert of.arrive("two", "load") == ("load",)
    assert of.met("load")


def test_a_withdrawn_run_is_not_awaited_and_awaits_the_others() -> None:
    of = Barrier(RUNS)
    of.arrive("one", "undo")
    assert of.withdraw("two") == ()
    assert of.others_go_on("two")
    assert of.arrive("two", "undo") == ()
    assert of.arrive("three", "undo") == ("undo",)


def test_when_all_have_withdrawn_no_run_waits() -> None:
    of = Barrier(RUNS)
    of.arrive("one", "undo")
    assert [of.withdraw(run) for run in RUNS] == [(), (), ("undo",)]
    assert of.arrive("two", "later") == ("later",)
    assert not any(map(of.others_go_on, RUNS))


def test_late_run_finds_the_barrier_as_it_was_met() -> None:
    of = Barrier(("one", "two"))
    of.arrive("one", "aim", TargetProposal("rmq1"))
    of.withdraw("two")
    assert of.arrive("two", "aim", TargetProposal("", Refusal("interrupted"))) == ()
    assert of.proposals("aim") == {"one": TargetProposal("rmq1")}


def test_a_fault_with_different_targets_is_performed_for_no_run() -> None:
    said = {"one": TargetProposal("rmq1"), "two": TargetProposal("rmq2")}
    why = disagreement("one", said)
    assert why == Refusal("it means rmq1 here, and rmq2 in two, played together with it")
    assert disagreement("two", said)


def test_run_that_cannot_suffer_a_fault_blocks_it_with_reason() -> None:
    refusal = Refusal("no host leads the queue", UnverifiedCause.NO_LEADER)
    said = {"one": TargetProposal("rmq1"), "two": TargetProposal("", refusal)}
    assert disagreement("two", said) == refusal
    why = disagreement("one", said)
    text = "two, played together with it, could not: no host leads the queue"
    assert why == Refusal(text, UnverifiedCause.NO_LEADER)


def test_runs_that_mean_the_same_suffer_it() -> None:
    said = dict.fromkeys(RUNS, TargetProposal("rmq1"))
    assert [disagreement(run, said) for run in RUNS] == [None, None, None]


MOVES = st.lists(st.tuples(st.sampled_from(RUNS), st.booleans()), max_size=12)


@given(MOVES)
def test_a_point_is_met_exactly_when_no_run_is_missing(
    moves: Sequence[tuple[str, bool]],
) -> None:
    of, come, left, meetings = Barrier(RUNS), set[str](), set(RUNS), 0
    for run, leaves in moves:
        meetings += len(of.withdraw(run) if leaves else of.arrive(run, "point"))
        come, left = (come, left - {run}) if leaves else (come | {run}, left)
        assert of.met("point") == (meetings == 1)
        if come:
            assert of.met("point") or left - come
    assert meetings <= 1
