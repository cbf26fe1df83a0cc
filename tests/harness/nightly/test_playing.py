"""A night, play after play: what is on record when the machine dies in it, and what then."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from harness.nightly import playing, record
from harness.nightly.playing import NightEnvironment, NightRequest
from harness.nightly.record import Night
from harness.nightly.suite import Item, Suite
from harness.plan.model import Cell
from tests.harness.nightly.verdicts import CELL, experiment, run_of

OTHER: Cell = ("master-freeze", *CELL[1:])
QUIET, BUSY = 0.01, 0.9
TONIGHT = "20261125-220000-00aa"


def item(cell: Cell, plays: int = 1) -> Item:
    return Item(cell, plays, "", 30.0, 1.0, "now")


def suite(*items: Item, hours: float = 8.0) -> Suite:
    return Suite("nights", Path("good"), hours * 3600, 0.1, 0.0, 30, tuple(items), ())


@dataclass
class FakeNight:
    """A world whose plays take a minute, and leave scripted results."""

    folder: Path
    # "dies": the machine; "none": no experiment; "refused": one that was not judged
    outcomes: list[str] = field(default_factory=list)
    beside: str = "0000"  # of experiments that somebody else begins in the same folder
    busy: float = QUIET
    at: datetime = datetime(2026, 11, 25, 22, 0, tzinfo=UTC)
    each: timedelta = timedelta(minutes=1)
    words: list[str] = field(default_factory=list)
    analysed: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def world(self) -> NightEnvironment:
        return NightEnvironment(
            lambda: self.at, self.name, self.play, self.analyse, lambda: self.busy
        )

    def name(self) -> str:
        return f"{self.at:%Y%m%d-%H%M%S}-{len(self.words) + 1:04x}"

    def play(
        self, folder: Path, name: str, words: Sequence[str], log: Callable[[str], None]
    ) -> int:
        self.words.append(words[0])
        outcome = self.outcomes.pop(0) if self.outcomes else "PASS"
        (folder / f"{self.at:%Y%m%d-%H%M%S}-{self.beside}").mkdir(exist_ok=True)
        self.at += self.each
        (folder / f"{self.at:%Y%m%d-%H%M%S}-{self.beside}").mkdir(exist_ok=True)
        if outcome == "dies":
            (folder / name).mkdir()
            raise KeyboardInterrupt
        if outcome == "refused":
            (folder / name).mkdir()
        if outcome in ("none", "refused"):
            return 254
        cell = (words[0], words[2], words[4], words[6])
        run = run_of(cell, outcome="" if outcome == "unjudged" else outcome)
        experiment(folder, name, [run])
        return {"PASS": 0, "FAIL": 1}.get(outcome, 2)

    def analyse(self, folder: Path, log: Callable[[str], None]) -> int:
        self.analysed.append(folder.name)
        experiment(folder.parent, folder.name, [run_of()])
        return 0

    def night(self, plan: Suite, before: Sequence[Night] = ()) -> Night:
        begun = playing.begun(plan, NightRequest(TONIGHT), before, self.at)
        return self.played(plan, begun)

    def played(self, plan: Suite, night: Night) -> Night:
        return playing.played(self.folder, plan, night, self.world, self.said.append)


def stored(folder: Path) -> Night:
    (night,) = record.nights(folder)
    return night


def test_each_cell_is_played_as_often_as_the_suite_says(tmp_path: Path) -> None:
    fake = FakeNight(tmp_path)
    night = fake.night(suite(item(CELL, 2), item(OTHER)))
    assert fake.words == ["master-crash", "master-crash", "master-freeze"]
    assert all(one.judged and one.exit_code == 0 for one in night.played)
    assert [one.seconds for one in night.played] == [60, 60, 60]
    assert not list(playing.left(night))
    assert stored(tmp_path) == night


def test_undecided_play_is_repeated_once_and_both_are_recorded(
    tmp_path: Path,
) -> None:
    fake = FakeNight(tmp_path, ["unjudged", "PASS"])
    night = fake.night(suite(item(CELL)))
    assert [one.judged for one in night.played] == [False, True]
    assert not list(playing.left(night))


def test_but_not_for_ever(tmp_path: Path) -> None:
    fake = FakeNight(tmp_path, ["unjudged", "none", "PASS"])
    night = fake.night(suite(item(CELL)))
    assert len(night.played) == 2
    assert night.played[1].why == "it left no experiment behind (exit code 254)"
    assert [one.cell for one in playing.left(night)] == [CELL]


def test_a_play_that_was_refused_after_it_began_says_so(tmp_path: Path) -> None:
    fake = FakeNight(tmp_path, ["refused", "refused"])
    night = fake.night(suite(item(CELL)))
    assert {one.why for one in night.played} == {"it ended before it was judged (exit code 254)"}
    assert all(one.experiment for one in night.played)


def test_broken_promise_is_a_judgement_and_is_not_retried(tmp_path: Path) -> None:
    fake = FakeNight(tmp_path, ["FAIL"])
    night = fake.night(suite(item(CELL)))
    assert [(one.exit_code, one.judged) for one in night.played] == [(1, True)]


def test_night_continues_after_a_crash_and_judges_recorded_runs(tmp_path: Path) -> None:
    plan = suite(item(CELL), item(OTHER))
    fake = FakeNight(tmp_path, ["dies"])
    with pytest.raises(KeyboardInterrupt):
        fake.night(plan)
    broken = stored(tmp_path)
    assert playing.unfinished([broken]) == broken
    assert [one.exit_code for one in broken.played] == [None]
    night = fake.played(plan, broken)
    assert fake.analysed == [night.played[0].experiment]
    assert [(one.why, one.judged) for one in night.played] == [
        ("it was broken off", True),
        ("", True),
    ]
    assert fake.words == ["master-crash", "master-freeze"]


def test_an_unrecorded_run_is_played_again(tmp_path: Path) -> None:
    for other in ("good", "site"):
        (tmp_path / other).mkdir()
    plan = suite(item(CELL))
    fake = FakeNight(tmp_path)
    begun = playing.begun(plan, NightRequest(TONIGHT), (), fake.at)
    died = record.Played(CELL, fake.at.isoformat(), "20261125-220000-0bad")
    (tmp_path / "20261125-220001-0001").mkdir()  # somebody else's
    night = fake.played(plan, replace(begun, played=(died,)))
    assert [(one.experiment == "", one.judged) for one in night.played] == [
        (True, False),
        (False, True),
    ]


def test_no_play_begins_after_the_nights_end(tmp_path: Path) -> None:
    fake = FakeNight(tmp_path)
    plan = suite(item(CELL, 2), item(OTHER, 3), hours=0.2)  # twelve minutes, ten are planned
    begun = playing.begun(plan, NightRequest(TONIGHT), (), fake.at)
    assert begun.left_out == ()
    fake.each = timedelta(minutes=5)  # longer than was thought
    night = fake.played(plan, begun)
    assert fake.words == ["master-crash", "master-crash", "master-freeze"]
    assert fake.said == ["the night was over: " + " · ".join(OTHER) + " is not played"]
    assert [one.cell for one in playing.left(night)] == [OTHER]


def test_busy_machine_plays_nothing_and_records_that(tmp_path: Path) -> None:
    fake = FakeNight(tmp_path, busy=BUSY)
    night = fake.night(suite(item(CELL)))
    assert fake.words == []
    assert "90 % of this machine's cores were busy" in night.played[0].why
    assert [one.cell for one in playing.left(night)] == [CELL]


def test_cell_removed_from_the_file_is_not_played(tmp_path: Path) -> None:
    fake = FakeNight(tmp_path)
    begun = playing.begun(suite(item(CELL), item(OTHER)), NightRequest(TONIGHT), (), fake.at)
    night = fake.played(suite(item(OTHER)), begun)
    assert fake.words == ["master-freeze"]
    assert [one.why for one in night.plays_of(CELL)] == ["it stands in the suite no more"] * 2


def test_durations_are_estimated_from_earlier_nights(tmp_path: Path) -> None:
    fake = FakeNight(tmp_path)
    plan = suite(item(CELL))
    first = playing.begun(plan, NightRequest("first"), (), fake.at)
    assert first.planned[0].estimate_s == 30 + playing.MORE_S
    night = fake.played(plan, first)
    assert (
        playing.begun(plan, NightRequest("second"), [night], fake.at).planned[0].estimate_s == 60
    )


def test_next_night_knows_the_judged_and_alarming_cells(tmp_path: Path) -> None:
    fake = FakeNight(tmp_path)
    plan = suite(item(CELL))
    night = fake.night(plan)
    (well,) = playing.begun(plan, NightRequest("second"), [night], fake.at).planned
    assert well.reason == "it was judged 1 night ago"
    alarm = record.Alarmed(CELL, "loss", "it lost")
    (badly,) = playing.begun(
        plan, NightRequest("second"), [replace(night, alarms=(alarm,))], fake.at
    ).planned
    assert badly.reason == "it alarmed when it was last judged"
