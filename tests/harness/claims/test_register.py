"""The register of measures is the only list of them, and others have a word for all it names."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.claims import doubts
from harness.plan import vocabulary
from spark_analysis.schema.measure import Grade
from spark_analysis.schema.measures import REGISTER
from spark_analysis.schema.words import ProblemCause, UnverifiedCause
from tests.rigs.runs.findings import Story

ROOT = Path(__file__).parents[3]
PRODUCT = ("harness", "spark_analysis", "faults", "reference_impl")
# Words of a census are ordinary ones, and stand in many places where no measure is meant.
NAMES = {each.name for each in REGISTER if each.grade is not Grade.CENSUS}
NAMES |= {detail.name for each in REGISTER for detail in each.details}
FEW = 2
# Who finds them, or works out what has to be found, has to name them.
FINDERS = (
    "tests/oracle",
    "spark_analysis/engine/kernel",
    "harness/analyse/exactness.py",
)
# Who names several measures though it is no list of them: why.
EXEMPT = {
    "harness/histories/explained.py": "it says of three classes why a peer's verdict differs "
    "there; a new class has no such reason until somebody reads that peer's rules",
    "harness/histories/jepsen_verdict.py": "the words are fields of Jepsen's own total-queue, "
    "by its own rules; that two are spelt like ours is chance",
    "spark_analysis/schema/old_names.py": "old names of recorded formats and what they are "
    "now: a new measure has no old name",
}
THE_REGISTER = (
    "spark_analysis/schema/measures.py",
    "spark_analysis/schema/measures_of_runs.py",
    "spark_analysis/schema/measures_of_delays.py",
    "spark_analysis/schema/measures_of_transactions.py",
    "spark_analysis/schema/provenances.py",
)


def modules(ending: str) -> list[str]:
    paths = (path for part in PRODUCT for path in (ROOT / part).rglob(f"*{ending}"))
    caveat = (path.relative_to(ROOT).as_posix() for path in paths)
    return sorted(each for each in caveat if not each.startswith((*FINDERS, *THE_REGISTER)))


def words_of(node: ast.AST) -> Iterator[str]:
    """The texts that stand side by side in a tuple, list, set, dict, call or pattern."""
    match node:
        case ast.Tuple() | ast.List() | ast.Set():
            parts: list[ast.AST] = [*node.elts]
        case ast.Dict():
            parts = [*(key for key in node.keys if key is not None), *node.values]
        case ast.Call():
            parts = [*node.args]
        case ast.MatchOr():
            parts = [each.value for each in node.patterns if isinstance(each, ast.MatchValue)]
        case _:
            parts = []
    for part in parts:
        match part:
            case ast.Constant(value=str(word)):
                yield word
            case ast.Starred() | ast.Tuple() | ast.List() | ast.Set():
                yield from words_of(part.value if isinstance(part, ast.Starred) else part)


def lists_in(text: str) -> list[list[str]]:
    """The lists of more than a few names of measures."""
    named = (NAMES & set(words_of(node)) for node in ast.walk(ast.parse(text)))
    return [sorted(names) for names in named if len(names) > FEW]


def test_a_list_of_measures_is_seen_in_whatever_form() -> None:
    assert lists_in('A = ("lost", *("stranded", "corrupt"))')
    assert lists_in('A = {"lost": 1, "stranded": 2, "corrupt": 3}')
    assert lists_in('A = [("lost", "x"), ("stranded", "x"), ("corrupt", "x")]')
    assert lists_in('held = column.isin("lost", "stranded", "corrupt")')
    assert not lists_in('A = ("lost", "stranded")')


def test_no_module_but_the_register_has_a_list_of_measures() -> None:
    read = modules(".py")
    assert len(read) > len(PRODUCT)
    found = {path: lists_in((ROOT / path).read_text()) for path in read}
    assert {path for path, lists in found.items() if lists} == EXEMPT.keys()


def test_no_template_has_one_either() -> None:
    for path in (*modules(".css"), *modules(".html")):
        for line in (ROOT / path).read_text().splitlines():
            named = {name for name in NAMES if f".{name}" in line or f'"{name}"' in line}
            assert len(named) <= FEW, path


def test_each_doubt_that_stops_a_measure_has_an_advice() -> None:
    for measure in REGISTER:
        for stop in measure.stopped_by:
            story = Story().doubt(stop.scope, stop.reason, window=1, worker=1, queue="orders")
            (caveat,) = doubts.caveats_of(story.evidence.findings.doubts, story.evidence.facts)
            assert caveat.advice, stop


def test_claim_that_names_a_measure_is_unambiguous() -> None:
    kinds = ("DECLARED", "OPERATED", "SEEN", "RECORDED", "COUNTS", "FOUND")
    names = [name for kind in kinds for name in getattr(vocabulary, kind)]
    assert len(names) == len(set(names))
    assert {each.name for each in REGISTER if each.claimed} < vocabulary.COUNTS.keys()


@pytest.mark.parametrize(
    ("cause", "advice"),
    [
        (UnverifiedCause.TOO_SHORT, "let the fault last"),
        (UnverifiedCause.NO_LEADER, "see in broker_log"),
        (UnverifiedCause.NEVER_BEGAN, "choose a target"),
        (UnverifiedCause.OTHER, "see how the fault was verified"),
    ],
)
def test_advice_about_a_fault_fits_its_cause_whatever_its_words(
    cause: UnverifiedCause, advice: str
) -> None:
    words = "never began: no host says that it is the master; it was shorter than a check"
    evidence = Story().unverified(words, cause.value).evidence
    (caveat,) = doubts.caveats_of(evidence.findings.doubts, evidence.facts)
    assert caveat.advice.startswith(advice)


@pytest.mark.parametrize(
    ("cause", "advice"),
    [
        (ProblemCause.CLOCK, "run it again on a machine that is not suspended"),
        (ProblemCause.INTERRUPTED, "run it again, and let it run to its end"),
        (ProblemCause.DIED, "see why mqproof itself ended"),
        (ProblemCause.FAILED, "remove the named cause"),
        (ProblemCause.OPERATION, "see why the operation failed"),
    ],
)
def test_advice_about_a_whole_run_fits_its_cause(cause: ProblemCause, advice: str) -> None:
    words = "the machine was suspended, and the run was interrupted"
    story = Story().doubt("run", "clock")
    facts = replace(story.facts, clock_problem=words, problem_cause=cause.value)
    (caveat,) = doubts.caveats_of(story.evidence.findings.doubts, facts)
    assert caveat.advice.startswith(advice)
