"""The stories of tests/conformance as histories for the two judges."""

from pathlib import Path

from harness.analyse.history import WORDS, state
from harness.analyse.questions import question
from harness.histories.history import History
from harness.histories.neutral import read
from spark_analysis.schema.facts import Facts
from tests.rigs.generated.histories import Rows

STORIES = sorted((Path(__file__).parents[2] / "conformance" / "stories").glob("*.json.gz"))


def history_of(path: Path) -> tuple[Facts, Rows]:
    """Its facts, with what claims ask of it, and its rows."""
    history = read(path, WORDS)
    return question(state(history)).of(history.facts), rows(history)


def rows(history: History) -> Rows:
    return {
        name: [
            dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)
        ]
        for name, columns in history.tables.items()
    }
