"""A claims file of the user's own: how it is read, kept, and named."""

import json
import shlex
from pathlib import Path

import pytest

from harness.claims.claims import shipped
from harness.cli import main
from harness.judging import own_claims
from harness.pipeline.port import Pipeline
from harness.plan.model import Experiment
from harness.plan.problems import PlanError
from harness.run_folder.claims_copy import ClaimsText
from harness.run_folder.experiments import (
    NoExperiment,
    document_of,
    judge_by,
    recall,
    remember,
    remember_merged,
)
from tests.rigs.runs.stored import stored

CLAIM = """[[claim]]
name = "keeps-ours"
sentence = "Nothing of ours is lost."
source = "ours"
section = "1"
quantifier = "all"
predicate = ["lost == 0"]
"""
ARTICLE = """[[article]]
name = "ours"
title = "Our service level"
"""
NOTHING = Experiment("e", 7, (), ())
OURS = ClaimsText("ours.toml", ARTICLE + CLAIM)


def no_pipeline() -> Pipeline:
    raise AssertionError("nothing starts with a claims file that cannot be read")


def test_a_claims_source_names_its_file() -> None:
    own = own_claims.parsed(OURS)
    assert [(one.name, one.source) for one in own.claims] == [
        ("keeps-ours", "“Our service level”, section “1” (claims file ours.toml)")
    ]
    assert own_claims.every([own]) == (*own_claims.every([]), *own.claims)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "master-crash", "--system", "reference-mirrored", "--dry-run"),
        ("run", "gone", "--system", "gone"),
        ("analyse", "gone"),
        ("judge", "gone.json"),
    ],
)
def test_all_mistakes_of_a_file_stop_every_judge(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    taken = CLAIM.replace("keeps-ours", shipped()[0].name)
    wrong = CLAIM.replace("lost ==", "losst ==").replace("quantifier", "quantify")
    Path("ours.toml").write_text(ARTICLE + taken + wrong)
    assert main([*words, "--claims", "ours.toml"], no_pipeline) == 254
    said = capsys.readouterr().err
    for problem in (
        f"ours.toml, line 5, [[claim]] 1, name: the claim {shipped()[0].name!r} is there already",
        "ours.toml, line 16, [[claim]] 2, quantify: there is no such key; did you mean",
        "ours.toml, line 17, [[claim]] 2, predicate, number 1: there is no fact 'losst'; "
        "did you mean 'lost'",
    ):
        assert problem in said


@pytest.mark.parametrize(
    ("word", "said"), [("gone.toml", "--claims: gone.toml: cannot be read"), ("", "with nothing")]
)
def test_a_file_that_is_missing_is_a_problem(word: str, said: str) -> None:
    own, (problem,) = own_claims.given(word)
    assert own is None
    assert said in str(problem)


def test_a_dry_run_names_the_claims(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ours.toml"
    file.write_text(OURS.text)
    words = "run master-crash --system reference-mirrored --dry-run --claims"
    assert main([*words.split(), str(file)], no_pipeline) == 0
    assert f"claims file {file}: keeps-ours" in capsys.readouterr().out.replace("\n", "")


def test_an_experiment_keeps_its_claims_and_repeats_with_them(tmp_path: Path) -> None:
    folder = tmp_path / "e"
    remember(NOTHING, "mqproof run x", {}, folder, "claims", OURS)
    found = recall(folder)
    assert found.claims == OURS
    assert found.replay_here == shlex.join(
        ["mqproof", "run", "x", "--claims", f"{folder}/claims.toml"]
    )
    assert json.loads(document_of(folder, []))["claims"] == OURS.entry
    judge_by(other := ClaimsText("other.toml", CLAIM), folder)
    assert recall(folder).claims == other


def test_a_copy_that_was_changed_judges_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "e"
    remember(NOTHING, "", {}, folder, "claims", OURS)
    (folder / "claims.toml").write_text(CLAIM)
    with pytest.raises(NoExperiment, match="was changed"):
        recall(folder)
    (folder / "claims.toml").unlink()
    with pytest.raises(NoExperiment, match="cannot be read"):
        recall(folder)


def test_several_experiments_are_judged_by_the_claims_of_all(tmp_path: Path) -> None:
    folders = [stored(tmp_path / name) for name in "abc"]
    judge_by(OURS, folders[0])
    judge_by(OURS, folders[1])
    remember_merged(folders, "", tmp_path / "all")
    (own,) = own_claims.together(recall(tmp_path / "all").claims_files)
    assert own.copy == OURS
    remember_merged(folders, "", tmp_path / "anew", None, other := ClaimsText("o", CLAIM * 0))
    assert recall(tmp_path / "anew").claims_files == (other,)


def test_one_claim_of_two_files_is_refused() -> None:
    other = ClaimsText("other.toml", OURS.text.replace("== 0", "<= 1"))
    with pytest.raises(PlanError, match="'keeps-ours' stands in") as caught:
        own_claims.together([OURS, other])
    assert "--claims FILE" in str(caught.value)
