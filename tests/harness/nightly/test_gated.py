"""From a night's experiments to its answer, its message and its exit code."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from harness.compare.gate import gate
from harness.compare.rates import rate
from harness.judging.exits import Exit
from harness.nightly import message, record
from harness.nightly.record import Night
from harness.plan.model import Cell
from harness.plan.problems import PlanError
from harness.report.page import formats
from tests.harness.nightly.nights import good, night
from tests.harness.nightly.verdicts import CELL, experiment, run_of


def answered(*nights: Night) -> Night:
    *before, tonight = nights
    return message.answered(good(), before, tonight)[0]


def test_a_night_in_which_nothing_is_worse_passes() -> None:
    assert answered(night(1)).exit_code == Exit.PASSED


def test_a_loss_fails_it_and_stands_in_its_record() -> None:
    judged_night = answered(night(1), night(2, lost=True))
    assert judged_night.exit_code == Exit.FAILED
    (alarm,) = judged_night.alarms
    assert (alarm.cell, alarm.what) == (CELL, "loss")
    assert alarm.text == (
        "loss did not happen before: in 1 of 1 run (95 % CI: 2.5 to 100 %), "
        "before in 0 of 30 runs (95 % one-sided bound: at most 9.5 %); "
        f"since {formats.dated(night(2).name)}: Lost."
    )


def test_an_alarm_says_what_version_came_between_the_nights() -> None:
    judged_night = answered(night(1), night(2, lost=True, version="4.0.5"))
    (alarm,) = judged_night.alarms
    since = f"since {formats.dated(night(2).name)}"
    assert f"{since}; between these nights: rabbitmq: 3.10.8 → 4.0.5" in alarm.text


OTHER: Cell = (*CELL[:2], "all-automatic@T=10+4.0.5", CELL[3])


def versioned(whole: Night, *versions: str) -> Night:
    """The night, whose cells were played in these versions, one each."""
    cells = (
        replace(cell, versions={"rabbitmq": version})
        for cell, version in zip(whole.cells, versions, strict=True)
    )
    return replace(whole, cells=tuple(cells), versions={"rabbitmq": ", ".join(versions)})


def test_an_alarm_names_only_changes_of_its_own_cell() -> None:
    cells = (CELL, OTHER)
    before = versioned(night(1, cells=cells), "3.10.8", "4.0.5")
    after = versioned(night(2, cells=cells, lost=True), "3.10.8", "4.0.6")
    texts = {alarm.cell: alarm.text for alarm in answered(before, after).alarms}
    assert "between these nights" not in texts[CELL]
    assert "; between these nights: rabbitmq: 4.0.5 → 4.0.6" in texts[OTHER]
    assert [record.every_change(one) for one in record.changes((before, after))] == [
        (),
        ("rabbitmq: 4.0.5 → 4.0.6",),
    ]


def test_two_versions_played_in_another_order_are_no_change() -> None:
    before = versioned(night(1, cells=(CELL, OTHER)), "3.10.8", "4.0.5")
    after = versioned(night(2, cells=(OTHER, CELL)), "4.0.5", "3.10.8")
    alone = versioned(night(3, cells=(OTHER,)), "4.0.5")
    old = night(4, cells=(CELL, OTHER), version="3.10.8, 4.0.5")
    assert [record.every_change(one) for one in record.changes((before, after, alone, old))] == [
        (),
        (),
        (),
        (),
    ]


def test_longer_outage_fails_the_gate_with_both_sides_runs() -> None:
    judged_night = answered(*(night(number, out_s=6 + number / 100) for number in range(1, 6)))
    (alarm,) = judged_night.alarms
    assert "takes longer: 6.03 s (5 runs), before 3.15 s (" in alarm.text.replace("\u00a0", " ")
    assert f"since {formats.dated(night(1).name)}" in alarm.text


@pytest.mark.parametrize("cells", [((*CELL[:3], "rocketmq-native"),), (CELL, ("x", *CELL[1:]))])
def test_a_cell_without_baseline_leaves_the_night_undecided(cells: tuple[Cell, ...]) -> None:
    assert answered(night(1, cells=cells)).exit_code == Exit.NOT_DECIDED


def test_a_planned_unjudged_cell_leaves_the_night_undecided() -> None:
    whole = night(1)
    why = "the machine was busy"
    busy = record.Played(CELL, whole.began, exit_code=2, why=why)
    judged_night, answer = message.answered(good(), (), replace(whole, played=(busy,), cells=()))
    assert judged_night.exit_code == Exit.NOT_DECIDED
    said = f"not judged as often as was planned: {why}"
    assert any(line.endswith(said) for line in message.lines(judged_night, answer))


def test_a_night_whose_experiments_are_gone_passes_nothing(tmp_path: Path) -> None:
    judged_night, _ = message.answered(good(), (), message.judged(tmp_path, night(1)))
    assert judged_night.exit_code == Exit.NOT_DECIDED


def test_the_first_line_says_whether_to_read_on() -> None:
    lost = answered(night(1, lost=True))
    first, *_ = message.lines(lost, gate(good(), [record.side(lost)]))
    assert first == "mqproof nightly: WORSE in 1 place (exit code 1)"
    assert message.headline(answered(night(1))).endswith("nothing is worse (exit code 0)")


def test_a_missing_baseline_is_no_unjudged_cell() -> None:
    both = night(1, cells=(CELL, OTHER))
    assert message.headline(answered(both)) == (
        "mqproof nightly: nothing is worse; no baseline yet for 1 of 2 cells "
        "(exit code 2: accept a baseline, docs/gate.md 2)"
    )
    planned = (replace(both.planned[0], plays=2), both.planned[1])
    first = message.headline(answered(replace(both, planned=planned)))
    assert first.endswith("but not everything was judged (exit code 2)")


def test_a_message_spells_its_first_interval_out() -> None:
    lost = answered(night(1), night(2, lost=True))
    text = "\n".join(message.lines(lost, gate(good(), [record.side(lost)])))
    assert "loss did not happen before: in 1 of 1 run (95 % confidence interval (CI): 2.5" in text


def test_no_list_of_a_message_is_longer_than_anybody_reads() -> None:
    cells = tuple((f"scenario-{number}", *CELL[1:]) for number in range(50))
    judged_night, answer = message.answered(good(), (), night(1, cells=cells))
    lines = message.lines(judged_night, answer)
    assert "no baseline: 50" in lines
    assert "- and 30 more: the pages have them" in lines


def test_the_runs_of_a_night_are_those_of_its_experiments(tmp_path: Path) -> None:
    whole = night(1)
    experiment(tmp_path, whole.played[0].experiment, [run_of(lost=3, out_s=-9.5)], "3.10.9")
    judged_night = message.judged(tmp_path, whole)
    (cell,) = judged_night.cells
    assert (cell.cell, cell.runs, cell.claims["loss"].violated) == (CELL, 1, 1)
    assert cell.times == {"total_downtime": ((9.5, True),)}
    assert judged_night.versions == cell.versions == {"rabbitmq": "3.10.9"}
    assert record.side(judged_night).cells[CELL].times["total_downtime"][0].censored


def test_a_cell_keeps_the_versions_of_its_own_experiments(tmp_path: Path) -> None:
    whole = night(1, cells=(OTHER, CELL))
    for one, version in zip(whole.played, ("4.0.5", "3.10.8"), strict=True):
        experiment(tmp_path, one.experiment, [run_of(one.cell)], version)
    judged_night = message.judged(tmp_path, whole)
    assert {one.cell: one.versions["rabbitmq"] for one in judged_night.cells} == {
        OTHER: "4.0.5",
        CELL: "3.10.8",
    }
    assert judged_night.versions == {"rabbitmq": "3.10.8, 4.0.5"}


def test_an_experiment_that_is_gone_is_none_of_its_runs(tmp_path: Path) -> None:
    assert message.judged(tmp_path, night(1)).cells == ()


def test_a_baseline_is_every_experiment_in_its_folder(tmp_path: Path) -> None:
    for number in range(3):
        experiment(tmp_path, f"e{number}", [run_of(out_s=number)])
    (ran,) = message.baseline_of(tmp_path).cells.values()
    assert ran.runs == 3
    assert message.baseline_of(tmp_path / "none").cells == {}


def test_a_rehearsal_among_several_experiments_is_no_baseline(tmp_path: Path) -> None:
    plain = "mqproof run master-crash --seed 7"
    replays = {"honest": (plain, plain), "mixed": (plain, f"{plain} --misbehave drop:5%")}
    for name, pieces in replays.items():
        experiment(tmp_path, name, [run_of()], replay="mqproof report a b", pieces=pieces)
    (ran,) = message.baseline_of(tmp_path).cells.values()
    assert ran.runs == 1


def test_unreadable_baseline_is_reported_with_every_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (experiment(tmp_path, name, [run_of()]) / "verdict.json").write_text("{")
    with pytest.raises(PlanError) as caught:
        message.baseline_of(tmp_path)
    assert len(caught.value.problems) == 2


def test_a_night_is_read_back_as_it_was_kept(tmp_path: Path) -> None:
    first, second = night(1), answered(night(2, lost=True, label="v2"))
    for one in (second, first):
        record.save(tmp_path, one)
    assert record.nights(tmp_path) == [first, second]


def test_unreadable_night_is_reported_with_its_place(tmp_path: Path) -> None:
    record.save(tmp_path, night(1))
    path = tmp_path / record.NIGHTS / night(1).name / record.NAME
    path.write_text(path.read_text().replace('"version": 2', '"version": 3'))
    with pytest.raises(PlanError, match=r"night\.json: cannot be read"):
        record.nights(tmp_path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("20261127-220507-0a1f", "2026-11-27 22:05 UTC"), ("a night of mine", "a night of mine")],
)
def test_a_night_is_called_by_its_date(name: str, expected: str) -> None:
    assert formats.dated(name) == expected


@pytest.mark.parametrize(("runs", "warned"), [(1, True), (9, True), (10, False), (30, False)])
def test_an_alarm_with_few_baseline_runs_suggests_more_runs(runs: int, warned: bool) -> None:
    lossy = night(1, lost=True)
    over, _ = message.answered(good(runs=runs), [], lossy)
    assert over.exit_code == Exit.FAILED, "a loss is never held back"
    (alarm,) = over.alarms
    assert (f"only {runs} baseline run" in alarm.text) == warned
    assert ("add baseline runs (10 at least, 30 are good)" in alarm.text) == warned
    bound = rate(0, runs).bounds
    assert f"before in 0 of {runs} run{'' if runs == 1 else 's'} ({bound})" in alarm.text
