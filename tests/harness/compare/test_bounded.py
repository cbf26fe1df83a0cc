"""A cell goes on until a promise is broken or a bound is reached."""

from dataclasses import replace

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.compare.bounded import Bounded
from harness.plan.bound import Bound
from harness.plan.clients.requirements import chosen_client
from harness.plan.model import Experiment, RunPlan
from tests.rigs.runs.plans import plan

HALF = Bound(0.5)  # 5 runs, and one to spare


def verdict(outcome: ClaimOutcome, warns: bool = False) -> ClaimVerdict:
    return ClaimVerdict("stays", outcome, "m", "s", "an article", warns=warns)


HELD, BROKEN = (verdict(ClaimOutcome.PASS),), (verdict(ClaimOutcome.FAIL),)
OPEN, UNTRUE = (verdict(ClaimOutcome.INCONCLUSIVE),), (verdict(ClaimOutcome.FAIL, warns=True),)


def runs(number: int, client: str = "pika") -> list[RunPlan]:
    return [
        replace(plan(name=f"{client}-{place}"), client=chosen_client(client), repeat=place)
        for place in range(1, number + 1)
    ]


def played(*came: tuple[ClaimVerdict, ...]) -> tuple[list[str], int]:
    """The report at the end of each run, and the number of runs that began."""
    bounded = Bounded(HALF)
    messages = []
    for each, verdicts in zip(runs(HALF.planned), came, strict=False):
        if not bounded.wanted(each):
            break
        messages.append(bounded.ended(each, verdicts))
    return messages, len(messages)


def test_the_bound_is_reached_after_enough_runs_without_violation() -> None:
    messages, begun = played(*[HELD] * 6)
    assert begun == 5
    assert messages[:4] == [""] * 4
    assert messages[4] == (
        "the bound is reached: violated in 0 of 5 runs (95 % one-sided bound: at most 45 %)"
    )


def test_a_broken_promise_ends_it_at_once() -> None:
    messages, begun = played(HELD, BROKEN, HELD)
    assert (begun, messages[1]) == (
        2,
        "a promise was broken in judged run 2 of this cell: stays",
    )


def test_a_warning_that_does_not_come_true_ends_nothing() -> None:
    assert played(*[[*HELD, *UNTRUE]] * 6)[1] == 5


def test_unjudged_run_does_not_count_towards_the_bound() -> None:
    messages, begun = played(HELD, OPEN, *[HELD] * 4)
    assert begun == 6
    assert messages[-1].endswith("at most 45 %); 1 could not be judged")


def test_cell_is_abandoned_if_unjudged_runs_exceed_the_spares() -> None:
    messages, begun = played(HELD, (), OPEN, HELD)
    assert begun == 3
    assert messages[-1] == "the bound is not reached: 2 runs of this cell could not be judged"


def test_each_cell_ends_separately_and_spared_runs_are_dropped() -> None:
    bounded = Bounded(HALF)
    one, other = runs(3), runs(3, "pika-stream")
    experiment = Experiment("e", 7, (*one, *other), ())
    assert bounded.wanted(one[0])
    bounded.ended(one[0], BROKEN)
    assert not bounded.wanted(one[1])
    assert bounded.wanted(other[0])
    bounded.ended(other[0], HELD)
    assert bounded.carried_out(experiment).runs == (one[0], *other)


def test_without_a_bound_every_run_is_wanted() -> None:
    bounded = Bounded(None)
    experiment = Experiment("e", 7, tuple(runs(3)), ())
    assert all(bounded.wanted(each) for each in experiment.runs)
    assert bounded.carried_out(experiment) is experiment
