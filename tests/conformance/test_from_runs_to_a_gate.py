"""From verdicts of runs to the exit code, the text of a cell, and the answer of a night: which
broken night would be green, which healthy one red? What must be said follows from docs/verdicts.md
12 and 13, docs/running.md and docs/gate.md, by each story's argument."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.campaigns.cells import describe_cell
from harness.campaigns.stored import CampaignRun, Knowledge
from harness.claims.claims import shipped as shipped_claims
from harness.compare.rates import decided, tried
from harness.compare.versus import versus
from harness.judging.exits import (
    Exit,
    Judge,
    is_failure,
    of_claims,
    of_expectations,
    of_experiment,
    of_versus,
)
from harness.nightly import message
from tests.rigs.histories.many_runs import (
    CELL,
    OUTCOMES,
    Plays,
    expecting,
    recorded,
    verdicts,
)

PASSED, FAILED, OPEN = Exit.PASSED, Exit.FAILED, Exit.NOT_DECIDED


# --- repeats of one cell, and what is known of it ------------------------------------------------


@dataclass(frozen=True)
class Repeats:
    """Runs separated by `|`, and the exit codes by claims and by expectations."""

    why: str
    runs: str
    known: str
    by_claims: Exit
    by_expectations: Exit

    def __str__(self) -> str:
        return self.why

    @property
    def texts(self) -> list[str]:
        return [one.strip() for one in self.runs.split("|")] if self.runs != "none" else []


REPEATS = [
    Repeats("all pass as expected", "a:P b:P | a:P b:P", "a:P b:P", PASSED, PASSED),
    Repeats("one of three fails", "a:P | a:P | a:F", "a:P", FAILED, FAILED),
    Repeats("known failure in all", "a:F b:P | a:F b:P", "a:F b:P", FAILED, PASSED),
    Repeats("known failure, once passed", "a:F | a:P", "a:F", FAILED, FAILED),
    Repeats("known failure, always passed", "a:P | a:P", "a:F", PASSED, FAILED),
    Repeats("chance decides", "a:F | a:P | a:P", "a:PF", FAILED, PASSED),
    Repeats("chance decides, and one is open", "a:F | a:I", "a:PF", FAILED, OPEN),
    Repeats("one of two is open", "a:P b:P | a:I b:P", "a:P b:P", OPEN, OPEN),
    Repeats("open where open is known", "a:I b:P | a:I b:P", "a:I b:P", OPEN, PASSED),
    Repeats("open is known, and it fails", "a:F b:P", "a:I b:P", FAILED, FAILED),
    Repeats("open is known, and it passes", "a:P b:P", "a:I b:P", PASSED, FAILED),
    Repeats("a failure outranks an open run", "a:F | a:I", "a:P", FAILED, FAILED),
    Repeats("it no longer applies", "a:N b:P", "a:P b:P", PASSED, FAILED),
    Repeats("it never applied", "a:N b:P", "b:P", PASSED, PASSED),
    Repeats("nothing applied in one of two runs", "a:P | a:N", "a:PN", OPEN, PASSED),
    Repeats("nothing applied at all", "a:N b:N", "a:N", OPEN, PASSED),
    Repeats("a run broke off before its fault", "a:P b:P | ", "a:P b:P", OPEN, OPEN),
    Repeats("a run broke off, and another fails", "a:F | ", "a:P", FAILED, FAILED),
    Repeats("a fault was not verified", "a:I b:I c:N", "a:P b:P c:P", OPEN, OPEN),
    Repeats("not verified, with a proven harm", "a:F b:I", "a:P b:P", FAILED, FAILED),
    Repeats("the only run broke off", "", "a:P", OPEN, OPEN),
    Repeats("there is no run", "none", "a:P", OPEN, OPEN),
    Repeats("a new claim passes", "a:P b:P", "a:P", PASSED, OPEN),
    Repeats("a new claim fails", "a:P b:F", "a:P", FAILED, OPEN),
    Repeats("nothing is known", "a:P", "", PASSED, OPEN),
    Repeats("a warning came true", "a:P w:P", "a:P w:P", PASSED, PASSED),
    Repeats("a warning was not seen", "a:P w:F", "a:P w:F", PASSED, PASSED),
    Repeats("a warning is open", "a:P w:I", "a:P w:I", PASSED, PASSED),
    Repeats("a warning came true unexpectedly", "a:P w:P", "a:P w:F", PASSED, FAILED),
    Repeats("warnings alone decide nothing", "w:P | w:F", "w:PF", OPEN, PASSED),
    Repeats("a warning beside open promises", "a:I w:F", "a:P w:F", OPEN, OPEN),
    Repeats("some cases without an example", "a:P s:I", "a:P s:I", PASSED, PASSED),
    Repeats("some cases with an example", "a:P s:P", "a:P s:PI", PASSED, PASSED),
    Repeats("one of ten is open", "a:P |" * 9 + "a:I", "a:P", OPEN, OPEN),
]


@pytest.mark.parametrize("one", REPEATS, ids=str)
def test_repeats_have_the_exit_code_that_was_argued(one: Repeats) -> None:
    runs = [verdicts(text) for text in one.texts]
    known = expecting(**dict(word.split(":") for word in one.known.split()))
    cells = [known.compare(CELL, runs)] if runs else []
    assert of_claims(runs) is one.by_claims
    assert of_expectations(cells) is one.by_expectations


@pytest.mark.parametrize("one", REPEATS, ids=str)
def test_no_doubt_ever_makes_a_result_better(one: Repeats) -> None:
    """A run that breaks off beside the others may open a passed result, and no more."""
    runs = [verdicts(text) for text in one.texts]
    worse = of_claims([*runs, ()])
    assert worse is (FAILED if one.by_claims is FAILED else OPEN)


@pytest.mark.parametrize(
    ("interrupted", "crashed", "refused", "code"),
    [
        (False, False, False, PASSED),
        (True, True, True, Exit.INTERRUPTED),
        (False, True, True, Exit.CRASH),
        (False, False, True, Exit.BAD_INPUT),
    ],
)
def test_what_broke_off_never_passes(
    interrupted: bool, crashed: bool, refused: bool, code: Exit
) -> None:
    runs = [verdicts("a:P")]
    found = of_experiment(
        Judge.CLAIMS, runs, [], interrupted=interrupted, crashed=crashed, refused=refused
    )
    assert found is code


@pytest.mark.parametrize(
    ("text", "by_claims", "by_expectations"),
    [("a:F", True, True), ("w:F", False, False), ("w:P", False, False), ("a:I", False, False)],
)
def test_a_warning_that_was_not_seen_fails_no_test(
    text: str, by_claims: bool, by_expectations: bool
) -> None:
    """CI reads junit.xml: it must say what the exit code says."""
    (one,) = verdicts(text)
    assert is_failure(Judge.CLAIMS, one, None) is by_claims
    assert is_failure(Judge.EXPECTATIONS, one, None) is by_expectations


# --- what a cell is said to have done ------------------------------------------------------------


def stored(text: str) -> CampaignRun:
    names = {"a": PROMISES[0], "b": PROMISES[1], "w": WARNING, "s": SOME}
    words = (word.split(":") for word in text.split())
    outcomes = {names[name]: OUTCOMES[letter] for name, letter in words}
    return CampaignRun("e", 7, "r", 1, *CELL, outcomes=outcomes)


PROMISES = [one.name for one in shipped_claims() if not (one.warns or one.some)]
WARNING = next(one.name for one in shipped_claims() if one.warns and not one.some)
SOME = next(one.name for one in shipped_claims() if one.some and not one.warns)


@pytest.mark.parametrize(
    ("runs", "first"),
    [
        ("a:P b:P", "PASS"),
        ("a:P s:I", "PASS"),
        ("a:P w:I", "PASS"),
        ("a:P w:F", "PASS"),
        ("a:I b:P", "INCONCLUSIVE"),
        ("a:I b:F", "FAIL"),
        ("a:P | a:F", "FAIL"),
        ("a:P | a:I", "INCONCLUSIVE"),
        ("a:N w:P", "NOT APPLICABLE"),
        ("a:N w:F", "NOT APPLICABLE"),
        ("a:N b:N", "NOT APPLICABLE"),
    ],
)
def test_only_promises_decide_what_a_cell_did(runs: str, first: str) -> None:
    text = describe_cell([stored(one) for one in runs.split("|")], Knowledge(shipped_claims()))
    assert text.startswith(first)


@pytest.mark.parametrize(
    ("text", "is_judged"),
    [("a:P", True), ("a:F w:I", True), ("a:I w:P", False), ("a:I w:F", False), ("a:N s:P", False)],
)
def test_a_run_is_judged_only_if_a_promise_was_decided(text: str, is_judged: bool) -> None:
    assert decided(verdicts(text)) is is_judged


@pytest.mark.parametrize(
    ("runs", "violated", "of", "not_judged"),
    [
        ("a:P | a:P", 0, 2, 0),
        ("a:P | a:F | a:I", 1, 2, 1),
        ("a:P | ", 0, 1, 1),
        ("a:N | a:P", 0, 1, 0),
        ("a:N | ", 0, 0, 0),
        ("a:I | a:I", 0, 0, 2),
    ],
)
def test_a_rate_counts_only_runs_that_were_judged(
    runs: str, violated: int, of: int, not_judged: int
) -> None:
    found = tried([verdicts(one) for one in runs.split("|")])["a"]
    assert (found.rate.violated, found.rate.runs, found.not_judged) == (violated, of, not_judged)


# --- nights against a baseline -------------------------------------------------------------------


@dataclass(frozen=True)
class NightStory:
    """A baseline's runs, separated by `|`; tonight's plays, each a text of its runs; how many were
    planned. `alarms`: what alarms."""

    why: str
    baseline: str
    plays: tuple[str, ...]
    planned: int
    code: Exit
    alarms: str = ""

    def __str__(self) -> str:
        return self.why


GOOD = " | ".join(["a:P b:P w:P"] * 12)
NIGHTS = [
    NightStory("nothing is worse", GOOD, ("a:P b:P w:P",), 1, PASSED),
    NightStory("a promise is broken", GOOD, ("a:F b:P w:P",), 1, FAILED, "a"),
    NightStory("one of three plays breaks it", GOOD, ("a:P", "a:P", "a:F"), 3, FAILED, "a"),
    NightStory("something is lost", GOOD, ("a:P b:P +3",), 1, FAILED, "loss"),
    NightStory("lost, and every promise is open", GOOD, ("a:I b:I +3",) * 2, 1, FAILED, "loss"),
    NightStory("a warning is not seen", GOOD, ("a:P b:P w:F",), 1, PASSED),
    NightStory("a warning is open", GOOD, ("a:P b:P w:I",), 1, PASSED),
    NightStory("a warning alone is decided", GOOD, ("a:I w:F ?", "a:I w:F ?"), 1, OPEN),
    NightStory("nothing is decided", GOOD, ("a:I b:I ?", "a:I b:I ?"), 1, OPEN),
    NightStory("promises are open, loss is known", GOOD, ("a:I b:I", "a:I b:I"), 1, OPEN),
    NightStory("undecided once, decided again", GOOD, ("a:I b:I ?", "a:P b:P"), 1, OPEN),
    NightStory("undecided once, broken again", GOOD, ("a:I b:I ?", "a:F b:P"), 1, FAILED, "a"),
    NightStory("the only play leaves nothing", GOOD, ("", ""), 1, OPEN),
    NightStory("a play leaves nothing, its repeat passes", GOOD, ("", "a:P b:P"), 1, PASSED),
    NightStory("a play is never judged", GOOD, ("!", "!"), 1, OPEN),
    NightStory("one of two runs broke off", GOOD, ("a:P b:P | ",), 1, OPEN),
    NightStory("no baseline, and all passes", "", ("a:P",), 1, OPEN),
    NightStory("no baseline, and a promise is broken", "", ("a:F",), 1, FAILED, "a"),
    NightStory("a broken promise is known", "a:F |" * 11 + "a:F", ("a:F",), 1, PASSED),
    NightStory("a known failure passes", "a:F |" * 11 + "a:F", ("a:P",), 1, PASSED),
    NightStory("flaky, and it happens", "a:F |" + "a:P |" * 10 + "a:P", ("a:F",), 1, PASSED),
    NightStory(
        "flaky, and all of six fail", "a:F |" + "a:P |" * 28 + "a:P", ("a:F",) * 6, 6, FAILED, "a"
    ),
    NightStory(
        "the baseline never decided it", "a:I b:P |" * 11 + "a:I b:P", ("a:F b:P",), 1, FAILED, "a"
    ),
    NightStory("what the baseline knew is open in one play", GOOD, ("a:I b:P",), 1, PASSED),
    NightStory("what the baseline knew is open in five", GOOD, ("a:I b:P",) * 5, 5, OPEN),
    NightStory("it does not apply any more in five", GOOD, ("a:N b:P",) * 5, 5, OPEN),
    NightStory("a claim is gone in five", GOOD, ("b:P",) * 5, 5, OPEN),
    NightStory("a new claim is broken", GOOD, ("a:P b:P c:F",), 1, FAILED, "c"),
    NightStory("a new claim passes", GOOD, ("a:P b:P c:P",), 1, PASSED),
    NightStory("one clean baseline run, and it is broken", "a:P", ("a:F",), 1, FAILED, "a"),
]


@pytest.mark.parametrize("one", NIGHTS, ids=str)
def test_a_night_ends_as_argued(one: NightStory, tmp_path: Path) -> None:
    runs = [text.strip() for text in one.baseline.split("|")] if one.baseline else []
    for number, text in enumerate(runs):
        recorded(tmp_path / "good", f"20261101-220000-{number:04x}", [text])
    baseline = message.baseline_of(tmp_path / "good")
    night = Plays(tmp_path / "nights", [*one.plays]).night(one.planned)
    answered, _ = message.answered(baseline, (), night)
    assert (answered.exit_code, {alarm.what for alarm in answered.alarms}) == (
        one.code,
        {*one.alarms.split()},
    )


def test_a_night_that_is_too_short_to_play_anything_passes_nothing(tmp_path: Path) -> None:
    recorded(tmp_path / "good", "20261101-220000-0001", ["a:P"])
    night = Plays(tmp_path / "nights", []).night(1, hours=0.01)
    answered, _ = message.answered(message.baseline_of(tmp_path / "good"), (), night)
    assert answered.exit_code is OPEN


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        ("a:P |" * 9 + "a:P", "a:P |" * 9 + "a:P", PASSED),
        ("a:P |" * 9 + "a:P", "a:F |" * 9 + "a:F", FAILED),
        ("a:F |" * 9 + "a:F", "a:P |" * 9 + "a:P", PASSED),
        ("w:P |" * 9 + "w:P", "w:F |" * 9 + "w:F", PASSED),
        ("a:P ?", "a:I ?", OPEN),
        ("a:I ?", "a:I ?", OPEN),
        ("a:P ?", "", OPEN),
    ],
)
def test_two_experiments_compare_as_argued(
    first: str, second: str, code: Exit, tmp_path: Path
) -> None:
    sides = [
        recorded(tmp_path, name, [text.strip() for text in runs.split("|")])
        for name, runs in (("first", first), ("second", second))
    ]
    assert of_versus(versus(*sides)) is code
