"""What a stored experiment must still know for its page to be made again."""

from pathlib import Path

from harness import pipeline
from harness.report import asking
from harness.report.assemble import titles
from harness.report.display import RunOptions


def test_a_stored_experiment_remembers_what_its_cells_words_mean(tmp_path: Path) -> None:
    asked = asking.Asked(("master-crash", "cut-one-node"), (), (), (), "", 2, 7)
    experiment = asking.experiment_of(asked, "e")
    pipeline._remember(experiment, RunOptions(tmp_path), tmp_path / "e")
    found = pipeline._titles(pipeline._recalled(tmp_path / "e"))
    assert found == titles(experiment)
    assert len(found) == 2
    assert all(title.scenario and title.system and title.layout for title in found.values())


def test_a_folder_of_before_there_were_titles_has_none() -> None:
    assert pipeline._titles({"name": "e"}) == {}
