"""What of old nights is kept."""

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from harness.nightly import record
from harness.nightly.record import Alarmed, Night
from harness.plan.problems import PlanError
from tests.harness.nightly.nights import night
from tests.harness.nightly.verdicts import CELL, experiment, run_of


def test_old_recordings_of_harmless_runs_are_deleted() -> None:
    nights = [night(number) for number in range(5)]
    gone = list(record.done_with(nights, 3))
    assert gone == [one.played[0].experiment for one in nights[:2]]
    assert list(record.done_with(nights, 5)) == []
    assert list(record.done_with(nights[:2], 30)) == []


def test_harmful_alarming_or_unjudged_runs_are_kept_for_good() -> None:
    alarmed = night(2, alarms=(Alarmed(CELL, "total_downtime", "longer"),))
    third = night(3)
    unjudged = replace(third, played=tuple(replace(one, judged=False) for one in third.played))
    assert list(record.done_with([night(1, lost=True), alarmed, unjudged, night(4)], 1)) == []


def test_verdict_and_report_stay_where_recordings_went(tmp_path: Path) -> None:
    nights = [night(1), night(2)]
    for one in nights:
        experiment(tmp_path, one.played[0].experiment, [run_of()])
    assert record.tidy(tmp_path, nights, 1) == 1
    old, new = (tmp_path / one.played[0].experiment for one in nights)
    assert sorted(path.name for path in old.iterdir()) == ["report.html", "verdict.json"]
    assert (new / "runs").exists()
    assert record.tidy(tmp_path, nights, 1) == 0


def recorded(folder: Path, night: Night, name: str = "n") -> Path:
    """The record of a night as somebody changed it."""
    path = folder / record.NIGHTS / name / record.NAME
    path.parent.mkdir(parents=True)
    path.write_bytes(msgspec.json.encode(night))
    return path


@pytest.mark.parametrize("name", ["../mine", "/etc", "good", "."])
def test_no_folder_but_an_experiment_of_the_night_is_removed(tmp_path: Path, name: str) -> None:
    whole = night(1)
    played = (replace(whole.played[0], experiment=name),)
    path = recorded(tmp_path, replace(whole, name=name, played=played))
    with pytest.raises(PlanError) as refused:
        record.nights(tmp_path)
    assert [problem.place for problem in refused.value.problems] == [str(path)] * 2
    assert f"`name` is {name!r}; expected: YYYYMMDD" in str(refused.value)
    assert f"`played.experiment` is {name!r}; expected: YYYYMMDD" in str(refused.value)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"ends": "tomorrow"}, "`ends` is 'tomorrow'; expected: a time with its zone"),
        ({"began": "2026-11-25T22:00:00"}, "`began` is '2026-11-25T22:00:00'; expected: a time"),
        ({"exit_code": 77}, "`exit_code` is 77; expected: 0, 1 or 2, or null"),
        ({"exit_code": 130}, "`exit_code` is 130; expected: 0, 1 or 2, or null"),
    ],
)
def test_times_and_codes_that_no_night_has_are_bad_input(
    tmp_path: Path, changes: dict[str, object], reason: str
) -> None:
    whole = night(1)
    path = recorded(tmp_path, replace(whole, **changes))
    with pytest.raises(PlanError) as refused:
        record.nights(tmp_path)
    assert f"{path}: {reason}" in str(refused.value)
    path.write_bytes(msgspec.json.encode(whole))
    assert record.nights(tmp_path) == [whole]
