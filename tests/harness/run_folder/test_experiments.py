"""What a folder was asked for: one experiment's, or several in one."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.plan.model import Experiment
from harness.run_folder.experiments import (
    NoExperiment,
    curtail,
    problems,
    recall,
    remember,
    remember_merged,
)
from tests.rigs.runs.plans import plan
from tests.rigs.runs.reports import CELL, OTHER, SKIPPED
from tests.rigs.runs.stored import document as stored_document
from tests.rigs.runs.stored import stored

RUN = "master-crash-1-beef"


def test_a_run_lies_where_its_experiment_does(tmp_path: Path) -> None:
    (run,) = recall(stored(tmp_path / "e")).runs
    assert (run.folder, run.experiment) == (tmp_path / "e" / "runs" / RUN, "e")
    assert (run.cell, run.repeat, run.seed) == (CELL, 1, 7)


def test_a_folder_of_before_there_were_titles_has_none(tmp_path: Path) -> None:
    path = stored(tmp_path / "e") / "experiment.json"
    path.write_text(path.read_text().replace('"titles"', '"other"'))
    assert recall(tmp_path / "e").titles == {}


def test_repeats_are_numbered_through_merged_experiments(tmp_path: Path) -> None:
    folders = [
        stored(tmp_path / "a", [(RUN, CELL), ("x", OTHER)]),
        stored(tmp_path / "b", [(RUN, CELL)], seed=8),
    ]
    remember_merged(folders, "mqproof analyse a b", tmp_path / "results" / "both")
    both = recall(tmp_path / "results" / "both")
    assert [(run.experiment, run.cell, run.repeat) for run in both.runs] == [
        ("a", CELL, 1),
        ("a", OTHER, 1),
        ("b", CELL, 2),
    ]
    assert (both.name, both.seed, both.replay) == ("both", None, "mqproof analyse a b")
    assert [(piece.name, piece.seed) for piece in both.pieces] == [("a", 7), ("b", 8)]


def test_a_merged_report_can_be_moved_together_with_its_pieces(tmp_path: Path) -> None:
    folders = [stored(tmp_path / "r" / "a"), stored(tmp_path / "r" / "b")]
    remember_merged(folders, "", tmp_path / "r" / "both")
    (tmp_path / "r").rename(tmp_path / "elsewhere")
    runs = recall(tmp_path / "elsewhere" / "both").runs
    assert [run.folder.resolve().parent.parent.name for run in runs] == ["a", "b"]
    assert all(run.folder.resolve().is_relative_to(tmp_path / "elsewhere") for run in runs)


def test_merged_experiments_can_be_merged_again(tmp_path: Path) -> None:
    folders = [stored(tmp_path / "a"), stored(tmp_path / "b")]
    remember_merged(folders, "", tmp_path / "both")
    assert list(problems([tmp_path / "both", stored(tmp_path / "c")])) == []
    remember_merged([tmp_path / "both", tmp_path / "c"], "", tmp_path / "all")
    assert [piece.name for piece in recall(tmp_path / "all").pieces] == ["a", "b", "c"]


def test_cell_skipped_once_and_run_once_counts_as_run(tmp_path: Path) -> None:
    folders = [
        stored(tmp_path / "a", skipped=[SKIPPED]),
        stored(tmp_path / "b", [("x", SKIPPED.cell)], skipped=[]),
    ]
    remember_merged(folders, "", tmp_path / "both")
    assert recall(tmp_path / "a").skipped == (SKIPPED,)
    assert recall(tmp_path / "both").skipped == ()


def test_the_same_experiment_twice_is_named_however_it_came_in(tmp_path: Path) -> None:
    a, b = stored(tmp_path / "a"), stored(tmp_path / "b")
    copy = stored(tmp_path / "copy", name="a")
    remember_merged([a, b], "", tmp_path / "both")
    messages = [str(problem) for problem in problems([tmp_path / "both", a, copy])]
    assert messages == [
        f"DIR: {a} is named 2 times",
        f"DIR: {a} and {copy} are copies of one experiment, a: leave one of them",
    ]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"name": "e", "runs": 3}', '{"name": "e", "pieces": ["gone"]}']
)
def test_foreign_folders_are_reported_as_foreign(tmp_path: Path, text: str) -> None:
    (tmp_path / "experiment.json").write_text(text)
    with pytest.raises(NoExperiment, match=str(tmp_path)):
        recall(tmp_path)
    assert len(list(problems([tmp_path]))) == 1


@pytest.mark.parametrize(("judges", "judge"), [(("a", "a"), "a"), (("a", "b"), "")])
def test_a_merged_folder_has_the_judge_of_its_experiments(
    tmp_path: Path, judges: tuple[str, str], judge: str
) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder, own in zip(folders, judges, strict=True):
        remember(Experiment(folder.name, 7, (plan(name="quick"),), ()), "", {}, folder, own)
        assert recall(folder).judge == own
    remember_merged(folders, "", tmp_path / "both")
    assert recall(tmp_path / "both").judge == judge
    remember_merged(folders, "", tmp_path / "requested", "b")
    assert recall(tmp_path / "requested").judge == "b"


def test_a_folder_from_before_judges_were_recorded_has_none(tmp_path: Path) -> None:
    assert recall(stored(tmp_path / "old")).judge == ""


def test_runs_spared_by_a_bound_are_no_longer_expected(tmp_path: Path) -> None:
    first, second = (plan(name=f"quick-{number}") for number in (1, 2))
    experiment = Experiment("e", 7, (first, second), ())
    remember(experiment, "mqproof run quick --bound 10%", {}, tmp_path / "e")
    curtail(replace(experiment, runs=(first,)), tmp_path / "e")
    assert [run.name for run in recall(tmp_path / "e").runs] == ["quick-1"]
    assert [path.name for path in (tmp_path / "e").iterdir()] == ["experiment.json"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "cannot be read"),
        ('{"name": ' + "9" * 5000 + "}", "cannot be read"),
        ('{"name": "e", "replay": "", "pieces": ["."]}', "is merged itself"),
        ('{"name": "e", "replay": "", "pieces": ["a\\u0000"]}', "there is no folder"),
        ('{"name": "e", "replay": "", "pieces": 1}', "is none of ours"),
    ],
)
def test_a_foreign_folder_is_reported_and_its_links_not_followed(
    text: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "experiment.json").write_text(text)
    with pytest.raises(NoExperiment, match=message) as caught:
        recall(tmp_path)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", 7),
        ("name", "x" * 5000),
        ("name", "../../elsewhere"),
        ("name", ".."),
        ("repeat", "1"),
        ("seed", 2**64),
        ("cell", ["a", "b", "c"]),
        ("cell", ["a", "b", "c", 4]),
        ("cell", "abcd" * 9),
    ],
)
def test_a_malformed_run_name_is_rejected(key: str, value: object, tmp_path: Path) -> None:
    document = stored_document("e")
    document["runs"][0][key] = value
    (tmp_path / "experiment.json").write_text(json.dumps(document))
    with pytest.raises(NoExperiment, match="is none of ours"):
        recall(tmp_path)


def test_results_behind_a_link_to_nothing_are_made_where_it_leads(tmp_path: Path) -> None:
    folders = [stored(tmp_path / "a"), stored(tmp_path / "b")]
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "results")
    remember_merged(folders, "", tmp_path / "link" / "both")
    assert [piece.name for piece in recall(tmp_path / "link" / "both").pieces] == ["a", "b"]
    assert (tmp_path / "elsewhere" / "results" / "both").is_dir()


@pytest.mark.parametrize("name", ["../x", "..", "", "a/b", "\ud800"])
def test_an_experiment_whose_name_leads_elsewhere_is_none(tmp_path: Path, name: str) -> None:
    path = stored(tmp_path / "e") / "experiment.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "name": name}))
    with pytest.raises(NoExperiment, match="no name of an experiment"):
        recall(tmp_path / "e")


def test_a_file_system_without_folders_is_no_defect_of_ours() -> None:
    experiment = Experiment("e", 7, (plan(name="quick"),), ())
    with pytest.raises(PermissionError, match="no folder can be made here"):
        remember(experiment, "", {}, Path("/proc/results/e"))
