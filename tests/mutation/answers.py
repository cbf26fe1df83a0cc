"""What both judges say of many histories, asked once, before anything is mutated.

1. The histories are those of all stories in tests/spark_analysis/oracle, and the fixed ones.
2. A mutant is held against the answers and not against the other judge, so that a mutant of each
   dies on the other. The kernels refuse records that no worker writes: that is their answer then.
3. Small histories come first, and before all others those that show something not shown before.
4. To note them takes minutes, so they are kept in a folder, until code or tests change.
"""

import hashlib
import pickle
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from spark_analysis.engine.kernel.records import BadRecords
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from tests.oracle.judge import judge
from tests.rigs.generated.histories import Rows
from tests.rigs.histories import both_judges
from tests.rigs.histories.both_judges import Answer, Columns, by_kernels, listed, raw_columns
from tests.rigs.histories.fixed import fixed_histories
from tests.rigs.histories.telling import words_of

STORIES = "tests/spark_analysis/oracle"
HISTORIES = 1_000
_SOURCES = ("spark_analysis/**/*.py", "tests/rigs/**/*.py")
_NOTES = {"stories": (*_SOURCES, f"{STORIES}/*.py"), "generated": _SOURCES}  # and their sources


@dataclass(frozen=True, slots=True)
class Answered:
    """A history, its raw columns, and what the oracle and the kernels must say of it."""

    origin: str  # a story, or generated
    facts: Facts
    rows: Rows
    columns: Columns
    answer: Answer
    is_refused: bool  # by the kernels
    words: frozenset[object]


def answered(folder: Path, number: int) -> list[Answered]:
    """Those of so many histories, the telling ones first. `folder`: where they are kept."""
    folder.mkdir(exist_ok=True)
    with ProcessPoolExecutor(2) as pool:
        noted = [*pool.map(_note, _NOTES, _NOTES.values(), [folder] * len(_NOTES))]
    histories = [each for file in noted for each in pickle.loads(file.read_bytes())]
    return list(_telling_first(sorted(histories, key=_size)))[:number]


def objection(judge: str, histories: Iterable[Answered]) -> str:
    """The origin of the first history on which this judge, as it is now, answers otherwise."""
    from spark_analysis.engine.kernel.records import BadRecords
    from tests.oracle.judge import judge as by_oracle
    from tests.rigs.histories.both_judges import by_kernels, listed

    for each in histories:
        try:
            if judge == "oracle":
                agrees = listed(by_oracle(each.facts, each.rows)) == each.answer
            else:
                agrees = by_kernels(each.facts, each.columns) == each.answer
        except BadRecords:
            agrees = each.is_refused
        except Exception as error:
            return f"{each.origin}: {error!r}"
        if not agrees:
            return each.origin
    return ""


def _note(name: str, sources: tuple[str, ...], folder: Path) -> Path:
    """Where the answers of that name are kept; they are noted again if a source has changed."""
    paths = sorted(path for source in sources for path in Path().glob(source))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()
    file = folder / f"{name}-{digest[:16]}.pickle"
    if not file.exists():
        noted = _of_stories() if name == "stories" else _of_generated()
        file.write_bytes(pickle.dumps(noted))
    return file


def _of_stories() -> list[Answered]:
    return [_answered("story", *each) for each in _histories()]


def _of_generated() -> list[Answered]:
    return [_answered("generated", *each) for each in fixed_histories(HISTORIES)]


def _histories() -> list[tuple[Facts, Rows]]:
    """Every history that a story is about; most stories go on with theirs, so it is copied."""
    pickled: list[bytes] = []

    def listening(facts: Facts, rows: Rows) -> Findings:
        pickled.append(pickle.dumps((facts, rows)))
        return judge(facts, rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(both_judges, "judged_by_both", listening)
        assert pytest.main(["-q", "-p", "no:cacheprovider", STORIES]) == 0, "without any mutant"
    return [pickle.loads(each) for each in dict.fromkeys(pickled)]


def _answered(origin: str, facts: Facts, rows: Rows) -> Answered:
    findings, columns = judge(facts, rows), raw_columns(rows)
    try:
        by_kernels(facts, columns)
        is_refused = False
    except BadRecords:
        is_refused = True
    words = frozenset(words_of(findings))
    return Answered(origin, facts, rows, columns, listed(findings), is_refused, words)


def _size(each: Answered) -> int:
    return sum(map(len, each.rows.values()))


def _telling_first(histories: list[Answered]) -> Iterator[Answered]:
    seen: set[object] = set()
    rest = []
    for each in histories:
        if each.words <= seen:
            rest.append(each)
        else:
            seen |= each.words
            yield each
    yield from rest
