"""The matrix: a word and a number a cell, and no cell that is silently missing."""

from harness.claims.claims import read_claims
from harness.claims.judge import ClaimOutcome
from harness.judging.result import Report, RunReport
from harness.plan.model import Cell, Skipped
from harness.report.page.cells import cells
from harness.report.page.matrix import COLUMNS_MAX, MatrixField, MatrixView
from spark_analysis.schema.service import NEVER
from tests.rigs.runs.findings import Story, verdicts_of
from tests.rigs.runs.judged_runs import WARNING, page_of, summed
from tests.rigs.runs.reports import CELL, run

SCENARIO, SYSTEM, LAYOUT, CLIENT = CELL
PROMISE = """
[[claim]]
name = "loses-nothing"
sentence = "It loses nothing."
source = "an article"
quantifier = "all"
predicate = ["lost == 0"]
"""


def cell(scenario: str = SCENARIO, system: str = SYSTEM, layout: str = LAYOUT) -> Cell:
    return scenario, system, layout, CLIENT


def view(report: Report) -> MatrixView:
    return MatrixView(report, cells(report))


def of(*runs: RunReport, **changes: object) -> MatrixView:
    return view(page_of(*runs, **changes))


NONE_OF_ONE = "lost in 0 of 1 run"


def entry(*runs: RunReport, **changes: object) -> MatrixField:
    return of(*runs, **changes).blocks[0].bands[0].rows[0].entries[0]


def known(story: Story) -> str:
    return entry(summed(story)).weight.replace("\u00a0", " ")


def test_cell_shows_its_loss_or_else_its_downtime() -> None:
    assert known(Story()) == "0 s"
    assert known(Story().outage(12, 12.5)) == "0.500 s"
    assert known(Story().count("lost", "stored", 37)) == "37 lost"
    assert known(Story().count("stranded", "stored", 4)) == "4 stranded"
    assert known(Story().outage(27, 60, NEVER)) == "≥ 33.0 s"


def test_a_number_that_is_not_decided_is_a_question() -> None:
    stalled = Story().doubt("availability", "stalled", window=1, worker=1)
    undrained = Story().count("loss_unknown", "drain", 3).doubt("loss", "drain", queue="orders")
    assert known(stalled) == "?"
    assert known(undrained) == "loss ?"


def test_outcome_is_a_word_and_a_sign_besides_a_colour() -> None:
    found = entry(summed(Story()))
    assert (found.tone, found.sign, found.word, found.runs) == ("fail", "✗", "FAIL", "1 run")
    assert found.title == f"{SCENARIO} on {SYSTEM} {LAYOUT} with pika: FAIL; {NONE_OF_ONE}"


def test_cell_outcome_depends_on_promises_not_on_unconfirmed_warnings() -> None:
    warned = verdicts_of(read_claims(WARNING, "claims of a test"), Story().evidence)
    assert [one.outcome for one in warned] == [ClaimOutcome.FAIL]
    kept = verdicts_of(read_claims(PROMISE, "claims of a test"), Story().evidence)
    found = entry(summed(Story(), verdicts=(*warned, *kept)))
    assert (found.tone, found.word) == ("pass", "PASS")
    both = summed(Story(), verdicts=(*warned, *summed(Story()).verdicts))
    assert (entry(both).tone, entry(both).word) == ("fail", "FAIL")


def test_runs_that_were_not_judged_are_reported() -> None:
    lost = run(Story(), name="b", verdicts=(), failure="no cluster")
    assert entry(summed(Story()), lost).runs == "1 of 2 judged"
    nothing = entry(lost)
    assert (nothing.sign, nothing.word, nothing.weight) == ("?", "NOT JUDGED", "")
    assert nothing.runs == "1 run"


def test_deviation_from_the_known_result_is_marked() -> None:
    assert not entry(summed(Story())).differs
    surprising = entry(summed(Story().count("lost", "stored", 3)))
    assert surprising.differs
    assert "FAIL, not as it is known to be; lost in 1 of 1 run" in surprising.title


def test_skipped_cell_cites_its_numbered_reason_reported_once() -> None:
    skipped = [Skipped(cell(f"mirror-{number}"), "no mirror") for number in range(3)]
    skipped.append(Skipped(cell("other"), "no such client"))
    found = of(summed(Story()), skipped=tuple(skipped))
    assert found.reasons == ("no mirror", "no such client")
    entries = [band.rows[0].entries[0] for band in found.blocks[0].bands[1:]]
    assert [one.reason for one in entries] == [1, 1, 1, 2]
    assert {(one.sign, one.word) for one in entries} == {("–", "N/A")}


def test_an_unrequested_cell_is_blank_and_says_so() -> None:
    found = of(
        summed(Story()), summed(Story(), name="b", cell=cell("cut-one-node", layout="exactly-2"))
    )
    (block,) = found.blocks
    rows = [[one.word for one in band.rows[0].entries] for band in block.bands]
    assert rows == [["FAIL", ""], ["", "FAIL"]]
    assert block.bands[0].rows[0].entries[1].title.endswith("exactly-2: not requested")


def test_systems_with_a_shared_layout_are_listed_together() -> None:
    places = [("a", "x"), ("b", "y"), ("c", "x"), ("b", "z"), ("c", "w")]
    runs = [
        summed(Story(), name=str(number), cell=cell(system=system, layout=layout))
        for number, (system, layout) in enumerate(places)
    ]
    first, second = of(*runs).blocks
    assert [row.name for row in first.bands[0].rows] == ["a", "c"]
    assert (first.layouts, first.system, first.first) == (("x", "w"), "", 1)
    assert (second.layouts, second.system, second.first) == (("y", "z"), "b with pika", 3)


def test_many_layouts_fill_several_tables_of_equal_width() -> None:
    names = [f"layout-{number}" for number in range(COLUMNS_MAX + 2)]
    runs = [summed(Story(), name=name, cell=cell(layout=name)) for name in names]
    blocks = of(*runs).blocks
    assert [len(block.layouts) for block in blocks] == [5, 5]
    assert [name for block in blocks for name in block.layouts] == names


def test_outcomes_are_counted_the_gravest_first() -> None:
    runs = [
        summed(Story()),
        run(Story(), name="b", cell=cell("b"), verdicts=(), failure="no cluster"),
    ]
    skipped = (Skipped(cell("c"), "no mirror"),)
    assert of(*runs, skipped=skipped).outcomes == (
        ("fail", "✗ FAIL", 1),
        ("open", "? NOT JUDGED", 1),
        ("not_applicable", "– N/A", 1),
    )
