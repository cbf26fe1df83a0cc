"""One report over several experiments, from their folders to its own."""

import json
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from harness.judging import own_claims
from harness.judging.exits import Judge
from harness.judging.result import ClaimsFile
from harness.pipeline import stages
from harness.run_folder.claims_copy import ClaimsText
from harness.run_folder.manifest import SEALED
from tests.rigs.histories.by_hand import History
from tests.rigs.runs.displays import Heard
from tests.rigs.runs.judged_runs import manifest_of
from tests.rigs.runs.reports import CELL
from tests.rigs.runs.run_folders import write_run
from tests.rigs.runs.stored import stored

pytestmark = [pytest.mark.slow, pytest.mark.engine, pytest.mark.usefixtures("shared_spark")]

RUN = "master-crash-1-beef"
CLAIM = """[[claim]]
name = "sends-few"
sentence = "Few messages are confirmed."
source = "ours"
quantifier = "all"
predicate = ["acknowledged <= {limit}"]
"""


def experiment(folder: Path, messages: int, seed: int) -> Path:
    """An experiment of two runs; one was never begun."""
    stored(folder, [(RUN, CELL), ("never-begun", CELL)], seed=seed)
    history = History(run=RUN).flow(range(messages), from_ms=0, every_ms=10)
    facts = replace(
        history.facts, scenario=CELL[0], system=CELL[1], layout=CELL[2], client=CELL[3]
    )
    write_run(folder / "runs" / RUN, facts, history.rows)
    sealed = replace(manifest_of(facts, phase=SEALED), facts=facts.to_json())
    sealed.save(folder / "runs" / RUN)
    return folder


def test_runs_of_equal_name_and_cell_are_repeats_of_one(tmp_path: Path) -> None:
    folders = [experiment(tmp_path / "a", 10, seed=1), experiment(tmp_path / "b", 30, seed=2)]
    into = tmp_path / "results" / "both"
    made = stages.analyse(folders, into, Judge.CLAIMS, Heard())
    assert made.folder == into
    assert [(run.name, run.piece, run.repeat, run.failure) for run in made.runs] == [
        (f"a/{RUN}", "a", 1, ""),
        ("never-begun", "a", 2, "it was not begun"),
        (f"b/{RUN}", "b", 3, ""),
        ("never-begun", "b", 4, "it was not begun"),
    ]
    confirmed = [run.summary.confirmed for run in made.runs if run.summary is not None]
    assert confirmed == [10, 30]
    assert [(piece.experiment, piece.seed) for piece in made.pieces] == [("a", 1), ("b", 2)]
    assert made.seed is None
    assert f"mqproof analyse {folders[0]} {folders[1]}" in made.replay
    lost = next(row for row in made.comparison if row.measure == "lost")
    assert (lost.runs, lost.judged) == (2, 2)
    assert set(pq.read_table(into / "marts" / "counts")["run"].to_pylist()) == {
        f"a/{RUN}",
        f"b/{RUN}",
    }
    # Its pieces are as they were, and the same folder makes the same report again.
    assert not list((tmp_path / "a").glob("marts"))
    again = stages.analyse([into], into, Judge.CLAIMS, Heard())
    assert [run.name for run in again.runs] == [run.name for run in made.runs]


def test_analyse_uses_the_judge_that_the_folder_recorded(tmp_path: Path) -> None:
    folder = experiment(tmp_path / "a", 10, seed=1)
    assert stages.analyse([folder], folder, None, Heard()).judge is Judge.CLAIMS
    document = json.loads((folder / "experiment.json").read_text())
    (folder / "experiment.json").write_text(json.dumps({**document, "judge": "expectations"}))
    assert stages.analyse([folder], folder, None, Heard()).judge is Judge.EXPECTATIONS
    assert stages.analyse([folder], folder, Judge.CLAIMS, Heard()).judge is Judge.CLAIMS


def test_own_claims_judge_again_until_others_replace_them(tmp_path: Path) -> None:
    folder = experiment(tmp_path / "a", 10, seed=1)
    for limit, outcome in ((9, "FAIL"), (10, "PASS")):
        text = CLAIM.format(limit=limit)
        own = own_claims.parsed(ClaimsText(f"most-{limit}.toml", text))
        stages.analyse([folder], folder, None, Heard(), claims=own)
        again = stages.analyse([folder], folder, None, Heard())
        assert again.claims_files == (ClaimsFile(f"most-{limit}.toml", ("sends-few",)),)
        found = {one.claim: one for one in again.runs[0].verdicts}["sends-few"]
        assert (found.outcome.value, found.source) == (
            outcome,
            f"ours (claims file most-{limit}.toml)",
        )
        assert again.replay.endswith(f"--claims {folder}/claims.toml")
