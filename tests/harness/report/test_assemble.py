"""What a stored experiment must still know for its page to be made again."""

from pathlib import Path

from harness.analyse.experiments import recall, remember
from harness.report import asking
from harness.report.assemble import titles
from harness.report.display import CellTitle


def test_a_stored_experiment_remembers_what_its_cells_words_mean(tmp_path: Path) -> None:
    asked = asking.Asked(("master-crash", "cut-one-node"), (), (), (), None, 2, 7)
    experiment = asking.experiment_of(asked, "e")
    words = {cell: (t.scenario, t.system, t.layout) for cell, t in titles(experiment).items()}
    remember(experiment, "again", words, tmp_path / "e")
    found = {cell: CellTitle(*told) for cell, told in recall(tmp_path / "e").titles.items()}
    assert found == titles(experiment)
    assert len(found) == 2
    assert all(title.scenario and title.system and title.layout for title in found.values())
