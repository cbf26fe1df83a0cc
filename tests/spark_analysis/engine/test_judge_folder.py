"""A run folder judged without Spark."""

from pathlib import Path

from spark_analysis.engine.judge import judge_folder
from spark_analysis.schema.question import Question
from tests.rigs.histories.by_hand import History
from tests.rigs.runs.run_folders import write_run


def test_an_unjudgeable_run_is_named_by_request_or_folder(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run-1-beef", *History().publish(1).confirm(1).build())
    (folder / "manifest.json").write_text('{"facts": null}')

    def called(question: Question | None) -> str:
        (doubt,) = dict(judge_folder(folder, question))["doubts"].to_pylist()
        return str(doubt["run"])

    assert called(None) == "run-1-beef"
    assert called(Question()) == "run-1-beef"
    assert called(Question(run="the second")) == "the second"
