"""Which cells a matrix has, and why others mean nothing."""

import pytest

from harness.campaigns.cells import Choice, chosen, held_beside, matrix, problems
from harness.plan.problems import PlanError
from harness.request import kernel
from harness.request.run_request import scenario_names, systems
from tests.benchmarks import publish_rate
from tests.harness.campaigns.judged import LAYOUT, REAL, REFERENCE


@pytest.fixture(autouse=True)
def whole_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Docker host's kernel has every module; to ask for its release starts a process."""
    monkeypatch.setattr(kernel, "obstacles", lambda *_: iter(()))


def test_meaningless_cells_have_a_reason_and_never_run() -> None:
    whole = matrix(Choice(layouts=("unmirrored", "all-automatic-haproxy-pair")))
    assert ("master-crash", REFERENCE, "unmirrored@T=10") in whole.cells
    assert ("balancer-crash", REAL, "all-automatic-haproxy-pair@T=10") in whole.cells
    no_mirror = whole.reasons["mirror-crash", REAL, "unmirrored@T=10"]
    assert "queues have one copy, no mirror" in no_mirror
    assert not set(whole.cells) & whole.reasons.keys()


def test_the_telling_cells_are_those_of_the_scenarios_own_table() -> None:
    whole = matrix(Choice(systems=(REAL,), telling=True))
    assert ("cut-one-node", REAL, "all-automatic-2-pause@T=10") in whole.cells
    assert ("mirror-crash", REAL, LAYOUT) in whole.cells  # "every one": the default layout
    assert ("mirror-crash", REAL, "exactly-2@T=10") not in whole.cells
    played = {cell[0] for cell in whole.cells}
    every = {cell[0] for cell in matrix(Choice(systems=(REAL,))).cells}
    assert played == every < set(scenario_names())  # the others are for name servers and logs


def test_compared_layouts_run_only_their_scenario_unless_requested() -> None:
    assert held_beside() == {name: {publish_rate.SCENARIO} for name in publish_rate.LAYOUTS}
    whole = matrix(Choice(systems=(REAL,)))
    assert {name for name, _, layout in whole.cells if layout == "mirrors-2@T=10"} == {
        publish_rate.SCENARIO
    }
    cells = matrix(Choice(systems=(REAL,), layouts=("mirrors-2",)))
    assert ("master-crash", REAL, "mirrors-2@T=10") in cells.cells


def test_every_system_has_cells_with_its_own_timers_by_default() -> None:
    whole = matrix(Choice(scenarios=("master-crash",)))
    labels = {system: label for _, system, label in whole.cells}
    assert {system: label.partition("@")[2] for system, label in labels.items()} == {
        one.name: one.default_layout.partition("@")[2] for one in systems()
    }


def test_unknown_words_are_reported_at_once_with_the_choices() -> None:
    wrong = Choice(("rabit",), ("exactly-3",), ("master-crush", "master-stop", "master-stop"),
                   "T=1", "external")  # fmt: skip
    texts = [str(one) for one in problems(wrong)]
    assert [one.partition(":")[0] for one in texts] == [
        "--system", "--layout", "--scenario", "--scenario", "--profile", "--deployment",
    ]  # fmt: skip
    assert "valid: rabbitmq-mirrored | " in texts[0]
    assert "did you mean 'exactly-2'?" in texts[1]
    assert "did you mean 'master-crash'?" in texts[2]
    assert "'master-stop' is named twice" in texts[3]
    assert "valid: T=10 | " in texts[4]
    assert texts[5].endswith("valid: compose | local")


def test_a_named_system_without_these_timers_is_reported() -> None:
    names = tuple(one.name for one in systems())
    texts = [str(one).partition("; ")[0] for one in problems(Choice(names, profile="T=10"))]
    assert texts == [
        f"--profile: no layout of {name} has 'T=10'"
        for name in (
            "reference-2m2s",
            "reference-ctgmq",
            "reference-dledger",
            "rocketmq-2m2s",
            "rocketmq-controller",
            "rocketmq-dledger",
        )
    ]


def test_a_choice_of_which_nothing_is_left_is_reported() -> None:
    with pytest.raises(PlanError, match="without --telling there may be more"):
        chosen(Choice((REAL,), ("exactly-2",), ("mirror-crash",), telling=True))
