"""The matrix as Markdown: what cells were judged to be."""

import pytest

from harness.campaigns.cells import Matrix, describe_cell, table
from harness.campaigns.stored import CampaignRun, Knowledge
from harness.claims.claims import shipped
from tests.harness.campaigns.judged import LAYOUT, REAL, REFERENCE, failed, run, undecided

KNOWLEDGE = Knowledge(shipped())
ONCE = "PASS: broken in 0 of 1 run (95 % one-sided bound: at most 95 %); as expected"


def passed(runs: int) -> str:
    return f"PASS: broken in 0 of {runs} run{'' if runs == 1 else 's'}"


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([], "not run"),
        ([run(), run()], f"{passed(2)} (95 % one-sided bound: at most 78 %); as expected"),
        ([undecided()], "1 of 1 run not judged"),
        (
            [run(), undecided()],
            f"1 of 2 runs not judged; {passed(1)}"
            f" (95 % one-sided bound: at most 95 %); as expected",
        ),
        (
            [*[run()] * 4, undecided()],
            f"{passed(4)}"
            f" (95 % one-sided bound: at most 53 %); as expected; 1 of 5 runs not judged",
        ),
        (
            [run(), failed()],
            "FAIL: mirror-failure-affects-own-clients in 1 of 2 runs (95 % CI: 1.3 to 99 %); "
            "**differs**: mirror-failure-affects-own-clients: FAIL, expected PASS",
        ),
    ],
)
def test_a_cell_shows_verdict_knowledge_and_confidence_interval(
    runs: list[CampaignRun], expected: str
) -> None:
    assert describe_cell(runs, KNOWLEDGE) == expected


def test_table_sets_systems_side_by_side_and_omits_nothing() -> None:
    cells = (
        ("mirror-crash", REAL, LAYOUT),
        ("mirror-crash", REFERENCE, LAYOUT),
        ("memory-alarm", REAL, LAYOUT),
        ("master-stop", REAL, LAYOUT),
    )
    whole = Matrix(cells, {("memory-alarm", REFERENCE, LAYOUT): "it watches | nothing"})
    runs = [run(), run(scenario="memory-alarm", passed="nothing-corrupt")]
    assert list(table(runs, whole, KNOWLEDGE)) == [
        "| scenario | layout | rabbitmq-mirrored | reference-mirrored |",
        "| --- | --- | --- | --- |",
        f"| memory-alarm | {LAYOUT} | {ONCE} | NOT APPLICABLE: it watches \\| nothing |",
        f"| mirror-crash | {LAYOUT} | {ONCE} | not run |",
        "",
        "Not run yet, on any system (1 cells):",
        "",
        f"- master-stop: {LAYOUT}",
        "",
        "NOT APPLICABLE, and why:",
        "",
        f"- reference-mirrored: it watches \\| nothing: memory-alarm on {LAYOUT}",
    ]


def test_system_without_runnable_cells_keeps_its_column_and_reasons() -> None:
    cell, other = ("mirror-crash", REAL, LAYOUT), ("mirror-crash", "a-broker", LAYOUT)
    head, _, row, *_ = table([run()], Matrix((cell,), {other: "no queues"}), KNOWLEDGE)
    assert head == "| scenario | layout | a-broker | rabbitmq-mirrored |"
    assert row == f"| mirror-crash | {LAYOUT} | NOT APPLICABLE: no queues | {ONCE} |"
