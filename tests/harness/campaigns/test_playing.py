"""What is played next, and how a campaign ends."""

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.campaigns import playing
from harness.campaigns.cells import Choice
from harness.campaigns.playing import (
    UNJUDGED_MAX,
    Counts,
    Pace,
    Piece,
    carry_out,
    counted,
    next_piece,
    once_more,
    outlook,
)
from harness.campaigns.stored import CampaignRun, Knowledge, as_csv
from harness.claims.claims import shipped
from harness.judging.exits import Judge
from tests.harness.campaigns.judged import REAL, REFERENCE, failed, run, undecided

KNOWLEDGE = Knowledge(shipped())
CRASH, STOP = ("master-crash", REAL, "a@T=10"), ("master-stop", REAL, "a@T=10")
FREEZE, OTHER = ("master-freeze", REAL, "a@T=10"), ("master-crash", REAL, "b@T=10")
CELLS = (FREEZE, CRASH, STOP, OTHER)
CHOICE = Choice((REAL,), ("all-automatic",), ("mirror-crash", "master-stop"))


@pytest.mark.parametrize(
    ("code", "said", "logged"),
    [
        (2, "mqproof: nothing was judged: /r/e: No space left on device", True),
        (2, "a warning of a library", False),
        (255, "this is a defect of mqproof itself", True),
    ],
)
def test_why_an_experiment_could_not_begin_is_logged(
    monkeypatch: pytest.MonkeyPatch, code: int, said: str, logged: bool
) -> None:
    def ended(_command: Sequence[str], output: int) -> tuple[int, bool]:
        os.write(output, said.encode())
        return code, False

    monkeypatch.setattr(playing, "_ended", ended)
    lines: list[str] = []
    assert playing.carried_out(["run"], "master-crash", lines.append) == code
    assert (f"  {said}" in lines) is logged


class Played:
    """Experiments that leave scripted runs behind, a CSV file each."""

    def __init__(self, *left: Sequence[CampaignRun], code: int = 0) -> None:
        self.left, self.code = list(left), code
        self.words: list[str] = []

    def __call__(
        self, folder: Path, words: Sequence[str], log: playing.Log, more: Sequence[str] = ()
    ) -> int:
        self.words.append(" ".join([*words, *more]))
        if runs := self.left.pop(0):
            (folder / f"{len(self.left)}.csv").write_text(as_csv(runs))
        return self.code


# --- what is next --------------------------------------------------------------------------------


def test_poorest_layout_runs_first_and_its_cluster_changes_last() -> None:
    """Play within a layout last what alters its cluster."""
    counts, pace = Counts(judged=Counter({OTHER: 1})), Pace(repeats=2)
    names = ("master-crash", "master-stop", "master-freeze")
    assert next_piece(CELLS, counts, pace) == Piece(REAL, "a@T=10", names)
    counts = Counts(judged=Counter({CRASH: 2, STOP: 2, FREEZE: 2, OTHER: 1}))
    assert next_piece(CELLS, counts, pace) == Piece(REAL, "b@T=10", ("master-crash",))


def test_a_piece_has_no_more_scenarios_than_it_may() -> None:
    piece = next_piece(CELLS, Counts(), Pace(piece=2))
    assert piece is not None
    assert len(piece.scenarios) == 2


def test_no_cell_remains_after_enough_judgements_or_attempts() -> None:
    judged = Counter({CRASH: 1, STOP: 1, OTHER: 1})
    in_vain = Counter({FREEZE: UNJUDGED_MAX})
    assert next_piece(CELLS, Counts(judged, in_vain), Pace()) is None
    in_vain = Counter({FREEZE: UNJUDGED_MAX - 1})
    assert next_piece(CELLS, Counts(judged, in_vain), Pace()) is not None


def test_run_that_decided_less_than_known_is_repeated() -> None:
    counts = counted([run(), failed(), undecided()], KNOWLEDGE)
    assert (counts.judged.total(), counts.in_vain.total()) == (2, 1)


def test_repeated_unjudged_runs_are_reported() -> None:
    counts = Counts(in_vain=Counter({FREEZE: 2}))
    lines = list(once_more(Piece(REAL, "a@T=10", ("master-freeze", "master-stop")), counts))
    assert lines == ["master-freeze on a@T=10: 2 runs not judged so far; repeating it"]


def test_a_layout_with_balancers_is_played_where_these_can_stand() -> None:
    piece = Piece(REFERENCE, "all-automatic-haproxy@T=10", ("master-crash",))
    assert piece.words(None)[-2:] == ["--deployment", "compose"]
    assert "--deployment" not in Piece(REFERENCE, "all-automatic@T=10", ("x",)).words(None)


# --- carrying a campaign out ---------------------------------------------------------------------


def test_judged_cells_are_not_played_again(tmp_path: Path) -> None:
    (tmp_path / "before.csv").write_text(as_csv([run()]))
    play = Played([run(run="r-2", scenario="master-stop", passed="nothing-corrupt")])
    lines: list[str] = []
    assert carry_out(tmp_path, CHOICE, Pace(), play, lines.append)
    assert play.words == [f"master-stop --system {REAL} --layout all-automatic@T=10"]
    assert lines == ["2 of 2 cells were judged once"]
    assert carry_out(tmp_path, CHOICE, Pace(), Played(), lines.append)


def test_cell_that_cannot_be_judged_is_abandoned_and_reported(tmp_path: Path) -> None:
    (tmp_path / "before.csv").write_text(as_csv([run(run="r-1", scenario="master-stop")]))
    play = Played(*([undecided(run=f"v-{number}")] for number in range(UNJUDGED_MAX)), code=2)
    lines: list[str] = []
    assert not carry_out(tmp_path, CHOICE, Pace(), play, lines.append)
    assert len(play.words) == UNJUDGED_MAX
    assert lines[0] == "mirror-crash on all-automatic@T=10: 1 run not judged so far; repeating it"
    assert lines[-2:] == [
        "1 of 2 cells were judged once",
        f"given up: mirror-crash on all-automatic@T=10 of {REAL}: 3 runs were not judged",
    ]


def test_an_experiment_that_leaves_no_run_behind_ends_the_campaign(tmp_path: Path) -> None:
    with pytest.raises(playing.Stuck, match=r"left no run behind \(exit code 254\)"):
        carry_out(tmp_path, CHOICE, Pace(), Played((), code=254), lambda _: None)


@pytest.mark.parametrize("minutes", [0.0, -1.0, float("nan")])
def test_invalid_time_is_reported_and_unlimited_time_is_accepted(minutes: float) -> None:
    (problem,) = Pace(minutes=minutes).problems()
    assert str(problem).startswith("--minutes: must be more than 0, not ")
    assert not [*Pace(minutes=float("inf")).problems()]


def test_no_experiment_begins_after_the_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter((0.0, 59.0, 61.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    play = Played([run()])
    lines: list[str] = []
    assert not carry_out(tmp_path, CHOICE, Pace(minutes=1, piece=1), play, lines.append)
    assert (len(play.words), lines[-1]) == (1, "1 of 2 cells were judged once")


def test_remaining_and_next_work_is_reported_before_playing() -> None:
    counts = Counts(Counter({CRASH: 1, STOP: 1}), Counter({FREEZE: UNJUDGED_MAX}))
    assert list(outlook((FREEZE, CRASH, STOP), counts, Choice(), Pace())) == [
        "2 of 3 cells were judged once",
        f"given up: master-freeze on a@T=10 of {REAL}: 3 runs were not judged",
        "nothing is left to play",
    ]


@pytest.mark.slow  # a process that is interrupted
def test_an_interrupt_ends_the_current_experiment_and_waits_for_it(tmp_path: Path) -> None:
    ready, ended = tmp_path / "ready", tmp_path / "ended"
    script = (
        "import os, pathlib, signal, sys\n"
        "def end(*_):\n"
        f"    pathlib.Path({str(ended)!r}).touch()\n"
        "    sys.exit(130)\n"
        "signal.signal(signal.SIGINT, end)\n"
        f"open({str(ready)!r}, 'w').close()\n"
        "signal.pause()\n"
    )
    os.mkfifo(ready)

    def interrupt() -> None:
        ready.read_text()  # until the process hears signals
        os.kill(os.getpid(), signal.SIGINT)

    asking = threading.Thread(target=interrupt)
    asking.start()
    with (tmp_path / "said").open("wb") as said:
        code, interrupted = playing._ended([sys.executable, "-c", script], said.fileno())
    asking.join()
    assert (code, interrupted, ended.exists()) == (130, True, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        (Judge.EXPECTATIONS, "a verdict is not as expectations.toml has it"),
        (Judge.CLAIMS, "a promise was broken: report.html says which"),
    ],
)
def test_an_experiments_exit_code_is_explained(
    judge: Judge, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(sys, "executable", "false")  # ends with 1
    playing.play(tmp_path, ["x"], said.append, judge=judge)
    playing.carried_out(["analyse", "x"], "y", said.append)
    first, second = (line.partition(", ")[2] for line in said)
    assert first == f"exit code 1 ({reason})"
    assert second == "exit code 1"
