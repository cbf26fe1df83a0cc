"""Spark and the oracle agree row for row on many generated histories.

1. All histories are judged by one Spark job, as run folders, the way users' runs are.
2. A difference is shown on a small history, found by judging without Spark again and again.
3. Every word that the schema knows must have occurred often enough, or agreement means little.
"""

import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from pprint import pformat

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from spark_analysis.engine.judge import judge_folder
from spark_analysis.engine.pipeline import analyse
from spark_analysis.schema import service
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import MARTS, Findings
from spark_analysis.schema.measure import Grade
from spark_analysis.schema.measures import REGISTER
from spark_analysis.schema.words import Fate, RecoveredBy, Strength
from tests.oracle.judge import judge
from tests.rigs.generated.histories import Rows
from tests.rigs.histories.both_judges import Answer, listed
from tests.rigs.histories.fixed import BY_NIGHT, HISTORIES, fixed_histories, often
from tests.rigs.histories.smaller import smaller
from tests.rigs.histories.telling import words_of
from tests.rigs.runs.run_folders import write_run

pytestmark = pytest.mark.slow

MANY = 5_000
NUMBERS = ("none", "one", "several")  # of windows
EITHER_WAY = (True, False)


@dataclass(frozen=True)
class Judged:
    """A history and what the oracle says of it."""

    facts: Facts
    rows: Rows
    findings: Findings


@pytest.fixture(
    scope="module",
    params=[
        HISTORIES,
        pytest.param(BY_NIGHT, marks=pytest.mark.nightly),
        pytest.param(MANY, marks=pytest.mark.nightly),
    ],
    ids=["few", "some", "many"],
)
def histories(request: pytest.FixtureRequest) -> list[tuple[Facts, Rows]]:
    found = fixed_histories(request.param)
    assert len(found) >= request.param
    return found


@pytest.fixture(scope="module")
def generated(histories: list[tuple[Facts, Rows]]) -> list[Judged]:
    return [Judged(facts, rows, judge(facts, rows)) for facts, rows in histories]


@pytest.fixture(scope="module")
def analysing(
    histories: list[tuple[Facts, Rows]],
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Future[Path]]:
    """Where the marts will be: Spark is at work while the oracle judges."""
    folder = tmp_path_factory.mktemp("agreement")
    runs = [write_run(folder / facts.run, facts, rows) for facts, rows in histories]

    def analysed() -> Path:
        analyse(spark, [str(run) for run in runs], str(folder / "marts"))
        return folder / "marts"

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(analysed)


def test_spark_and_the_definition_agree_row_for_row(
    analysing: Future[Path], generated: list[Judged]
) -> None:
    marts = analysing.result()
    judged = {name: read_mart(marts / name) for name in MARTS}
    for each in generated:
        found = {name: judged[name].get(each.facts.run, Counter()) for name in MARTS}
        if found != listed(each.findings):
            pytest.fail(f"Spark and the oracle differ:\n{story(each.facts, each.rows)}")


def test_the_histories_contain_every_word_often(generated: list[Judged]) -> None:
    seen = Counter(word for each in generated for word in words_of(each.findings))
    least = often(len(generated))
    assert not {word: seen[word] for word in WORDS if seen[word] < least}
    assert set(seen) <= WORDS | SELDOM, "a word that the schema does not know"


def read_mart(folder: Path) -> dict[str, Counter[tuple[object, ...]]]:
    """The rows of a mart by run."""
    by_run: dict[str, Counter[tuple[object, ...]]] = {}
    table = pq.read_table(folder)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        by_run.setdefault(row[0], Counter())[row] += 1
    return by_run


def by_kernels(facts: Facts, rows: Rows) -> Answer:
    """What a Spark task would find, without Spark."""
    with tempfile.TemporaryDirectory() as folder:
        found = dict(judge_folder(write_run(Path(folder) / "run", facts, rows)))
    return {
        name: Counter(tuple(row.values()) for row in found[name].to_pylist())
        if name in found
        else Counter()
        for name in MARTS
    }


def story(facts: Facts, rows: Rows) -> str:
    """A small history on which both differ, and what each says of it."""

    def differ(facts: Facts, rows: Rows) -> bool:
        return by_kernels(facts, rows) != listed(judge(facts, rows))

    if not differ(facts, rows):
        return f"only in Spark, on {facts.run}: the way to or from the kernels loses rows"
    facts, rows = smaller(facts, rows, differ)
    spark_only, oracle_only = {}, {}
    expectations = listed(judge(facts, rows))
    for name, found in by_kernels(facts, rows).items():
        expected = expectations[name]
        spark_only[name] = list((found - expected).elements())
        oracle_only[name] = list((expected - found).elements())
    parts = {"facts": facts, "rows": rows, "Spark": spark_only, "oracle": oracle_only}
    return "\n".join(f"{name}: {pformat(part, width=99)}" for name, part in parts.items())


def _details() -> dict[str, tuple[str, ...]]:
    """What each measure is counted by."""
    strengths = tuple(strength.name.lower() for strength in list(Strength)[1:])
    fates = tuple(fate.name.lower() for fate in list(Fate)[1:])
    strays = ("never_sent", "not_sent", "unknown_attempt")
    unread = ("consumer_log", "drain", "unreadable")
    details: dict[str, tuple[str, ...]] = {
        "state": ("acknowledged", "indeterminate", "returned", "refused", "not_sent"),
        **dict.fromkeys(("confirmed", "stranded", "unreachable", "lost"), strengths),
        **dict.fromkeys(("torn_transaction", "attempt_lost"), strengths),
        **dict.fromkeys(("transactions", "rolled_back_but_delivered"), fates),
        "rollback_unknown": ("rollback", "rollback_when_checked"),
        "could_show": tuple(one.name for one in REGISTER if one.shown_by or one.opportunity),
        "loss_unknown": ("not_due", "pending", "consumer_log", "drain"),
        "attempt_open": ("not_due", *unread),
        "not_redelivered_unknown": (
            *unread,
            *("consumer_killed", "acknowledged_at_the_end", "unconfirmed"),
        ),
        "lost_indeterminate": ("found", ""),
        **dict.fromkeys(("refused_but_delivered", "denied"), ("returned", "refused")),
        "unexpected": ("other_run", *strays),
        "unrecorded": strays,
        "corrupt": ("header", "payload"),
        "not_judged": ("not_promised", "not_at_once", "not_certain", "not_reported"),
    }
    counted = (each for each in REGISTER if each.listed or each.grade is Grade.CENSUS)
    return {
        each.name: details.pop(each.name, tuple(one.name for one in each.details) or ("",))
        for each in counted
    } | details


def _words() -> set[tuple[object, ...]]:
    stages = ("first_success", "sustained_success", "consumers_resumed", "backlog_drained")
    doubts = {
        "run": ("fault", "clock", "causality"),
        "availability": (
            *("stalled", "stalls", "consumer_stalled", "consumer_stalls", "publisher_log"),
            *("publishers_absent", "consumers_absent"),
        ),
        "loss": (
            *("consumer_log", "publisher_log", "drain", "unreadable"),
            *("not_due", "pending"),
        ),
    }
    return {
        *(("count", measure, detail) for measure, each in _details().items() for detail in each),
        *(
            ("charge", each.name, number)
            for each in REGISTER
            if each.attributed
            for number in NUMBERS
        ),
        *(("stage", stage, reached) for stage in stages for reached in EITHER_WAY),
        *(("recovered_by", to) for to in RecoveredBy),
        *(("doubt", scope, reason) for scope, each in doubts.items() for reason in each),
        *(("silence", "censored", censored) for censored in EITHER_WAY),
        *(("second", *each) for each in product(EITHER_WAY, EITHER_WAY)),
        *_words_of_service(),
    }


def _words_of_service() -> Iterator[tuple[object, ...]]:
    scopes = (service.RUN, service.QUEUE, service.PUBLISHER)
    ended = (service.SYSTEM, service.UNDO, service.EITHER, service.UNKNOWN, service.NEVER)
    promises = (service.FAULT, service.HEALED, "declared")
    verdicts = (service.SERVED, service.OUT, service.OPEN, service.SICK, service.FEW)
    yield from product(("outage",), scopes, ended)
    yield from product(("outage in",), NUMBERS)
    yield from product(("service",), scopes, promises, verdicts)
    yield from product(("consumption",), (service.QUEUE, service.CONSUMER), EITHER_WAY)
    yield from product(("starvation",), EITHER_WAY, EITHER_WAY, EITHER_WAY)
    yield from product(("due in force", "sent in force"), EITHER_WAY)


WORDS = _words()
# Generated histories seldom have these; tests/conformance has them by hand.
SELDOM = {("count", "not_redelivered_unknown", "end_not_recorded")}
