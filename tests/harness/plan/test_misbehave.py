"""What `--misbehave` may say, and to whom."""

from dataclasses import replace

import pytest

from harness.cli import main
from harness.judging.exits import Exit
from harness.plan.misbehave import (
    KINDS,
    OF_LEDGERS,
    OF_REPLICAS,
    RULES,
    SHARE,
    WITHOUT,
    Misbehave,
    parse,
)
from harness.plan.model import Experiment
from harness.plan.problems import PlanError
from harness.request import run_request
from reference_impl.misbehave import kinds
from reference_impl.rocketmq.ctgmq.rules import ReplicaRule
from reference_impl.rocketmq.dledger.rules import Rule

REFERENCE = ("--system", "reference-mirrored", "--deployment", "local")


def experiment(*systems: str, deployment: str = "local") -> Experiment:
    wanted = run_request.RunRequest(
        scenarios=("master-crash",), systems=systems, deployment=deployment, repeats=1, seed=7
    )
    return run_request.experiment_of(wanted, "e")


def test_the_harness_and_the_reference_know_the_same_kinds() -> None:
    assert set(KINDS) - {*OF_LEDGERS, *OF_REPLICAS} == set(kinds.Kind)
    assert tuple(f"{WITHOUT}{rule}" for rule in Rule) == OF_LEDGERS
    assert tuple(f"{WITHOUT}{rule}" for rule in ReplicaRule) == OF_REPLICAS
    assert SHARE == kinds.SHARE


@pytest.mark.parametrize(
    ("word", "share"), [("drop", SHARE), ("drop:0.02", 0.02), ("drop:2%", 0.02), ("drop:1", 1.0)]
)
def test_a_share_is_a_fraction_or_a_percentage(word: str, share: float) -> None:
    assert parse(word, experiment("reference-mirrored")) == Misbehave("drop", share, 7)


@pytest.mark.parametrize(
    ("kind", "system"),
    [
        ("stale-guard", "reference-mirrored"),
        ("truncate", "reference-2m2s"),
        ("without-majority", "reference-dledger"),
        ("without-in-set", "reference-ctgmq"),
    ],
)
def test_misbehaviour_without_a_draw_hits_all_that_match_its_rule(kind: str, system: str) -> None:
    assert kind in RULES
    parsed = parse(kind, experiment(system))
    assert parsed == Misbehave(kind, 1.0, 7)
    assert str(parsed) == kind


def test_no_word_is_no_misbehaviour() -> None:
    assert parse("", experiment("rabbitmq-mirrored", deployment="compose")) is None


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("drip", "there is no misbehaviour 'drip'; did you mean 'drop'?"),
        ("drop:0", "a number above 0"),
        ("drop:101%", "a number above 0"),
        ("drop:nan", "a number above 0"),
        ("drop:", "a number above 0"),
        ("drop:few", "not 'few'"),
        ("stale-guard:1%", "stale-guard takes no share"),
        ("stale-guard:few", "stale-guard takes no share"),
    ],
)
def test_a_wrong_word_is_reported_with_what_would_be_right(word: str, text: str) -> None:
    with pytest.raises(PlanError, match="--misbehave") as error:
        parse(word, experiment("reference-mirrored"))
    assert text in str(error.value)


def test_a_real_broker_cannot_misbehave_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["run", "master-crash", "--system", "rabbitmq-mirrored", "--misbehave", "drop"])
    assert code == Exit.BAD_INPUT
    said = capsys.readouterr().err
    assert "rabbitmq-mirrored cannot drop on request, nor misbehave in any other way" in said


def of(name: str, *kinds: str, deployment: str = "local") -> Experiment:
    """The reference, but under another name and with these kinds."""
    known = experiment("reference-mirrored")
    system = replace(known.runs[0].system, name=name, misbehaves=kinds)
    runs = tuple(replace(run, system=system, deployment=deployment) for run in known.runs)
    return replace(known, runs=runs)


def test_system_accepts_its_declared_misbehaviours_whatever_its_name() -> None:
    assert parse("drop", of("acme", "drop")) == Misbehave("drop", SHARE, 7)
    with pytest.raises(PlanError, match="acme cannot forget on request, only drop, reorder"):
        parse("forget", of("acme", "drop", "reorder"))
    with pytest.raises(PlanError, match="reference-of-mine cannot drop on request, nor misbehave"):
        parse("drop", of("reference-of-mine"))


def test_only_subprocesses_misbehave_and_other_cells_are_listed() -> None:
    away = of("acme", "drop", deployment="compose")
    mixed = replace(away, runs=(*away.runs, *of("other").runs))
    with pytest.raises(PlanError) as caught:
        parse("drop", mixed)
    assert [one.text for one in caught.value.problems] == [
        "acme can drop on request only under 'local', not under 'compose'",
        "other cannot drop on request, nor misbehave in any other way",
    ]


def test_a_plan_that_misbehaves_can_be_shown(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "master-crash", *REFERENCE, "--misbehave", "drop:1%", "--dry-run"]
    assert main(words) == 0


def test_the_replay_command_misbehaves_as_well() -> None:
    wanted = run_request.RunRequest(
        scenarios=("master-crash",), repeats=1, seed=7, misbehave="drop:1%"
    )
    assert run_request.replay(wanted, "claims").endswith(
        "--misbehave drop:1% --judge claims --seed 7"
    )
