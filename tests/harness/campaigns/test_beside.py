"""Two systems beside each other: which claims are of one class, and whose times agree."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.campaigns.beside import beside
from harness.campaigns.packed import Packed
from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.judging.result import RunReport
from harness.view.summary import Number
from tests.rigs.runs.judged_runs import crash, judged_run

REAL, OURS = "rocketmq-2m2s", "reference-2m2s"
PASS, FAIL, UNKNOWN, NEVER = (
    ClaimOutcome.PASS,
    ClaimOutcome.FAIL,
    ClaimOutcome.INCONCLUSIVE,
    ClaimOutcome.NOT_APPLICABLE,
)


def verdict(claim: str, outcome: ClaimOutcome) -> ClaimVerdict:
    return ClaimVerdict(claim, outcome, "it is kept", "Kept.", "seeds/001")


def run(
    folder: Path, system: str, number: int, outcomes: dict[str, ClaimOutcome], out_s: float = 1.0
) -> RunReport:
    cell = ("master-crash", system, "colocated@T=10", "java")
    found = judged_run(folder / f"{system}-{number}", crash(), cell=cell)
    assert found.summary is not None
    return replace(
        found,
        verdicts=tuple(verdict(claim, outcome) for claim, outcome in outcomes.items()),
        summary=replace(found.summary, out_s=Number(least=out_s, exact=True)),
    )


def rows(*runs: RunReport) -> list[dict[str, str]]:
    first, _, *others = beside([Packed("e.tar.xz", "mqproof run", (), runs)])
    names = [name.strip() for name in first.strip("|").split("|")]
    return [
        dict(zip(names, map(str.strip, one.strip("|").split("|")), strict=True)) for one in others
    ]


def test_claims_share_a_class_if_both_sides_saw_an_outcome(tmp_path: Path) -> None:
    (row,) = rows(
        run(tmp_path, REAL, 1, {"a": PASS, "b": PASS, "c": NEVER, "d": FAIL, "e": PASS}),
        run(tmp_path, REAL, 2, {"a": FAIL, "b": PASS, "c": NEVER, "d": UNKNOWN, "e": PASS}),
        run(tmp_path, OURS, 1, {"a": FAIL, "b": FAIL, "c": NEVER, "d": PASS, "e": UNKNOWN}),
    )
    assert row["systems"] == f"{REAL}, {OURS}"
    assert row["runs"] == "2, 1"
    assert row["claims of one class"] == "2"  # a and c; of e nothing is said
    assert row["of two classes"] == "`b`: 2 PASS, 1 FAIL; `d`: 1 FAIL, 1 PASS"


@pytest.mark.parametrize(
    ("real_s", "ours_s", "said"),
    [
        (1.0, 2.0, "agree"),
        (1.0, 2.1, "**differ**"),
        (2.1, 1.0, "**differ**"),
        (0.02, 0.11, "agree"),
        (0.0, 0.11, "**differ**"),
    ],
)
def test_times_agree_within_factor_two_or_a_tenth_second(
    real_s: float, ours_s: float, said: str, tmp_path: Path
) -> None:
    (row,) = rows(run(tmp_path, REAL, 1, {}, real_s), run(tmp_path, OURS, 1, {}, ours_s))
    assert row["times"] == said


def test_times_known_on_one_side_neither_agree_nor_differ(tmp_path: Path) -> None:
    known = run(tmp_path, REAL, 1, {})
    assert known.summary is not None
    nothing = Number(least=None, exact=False, why="the instrument stood still")
    doubted = run(tmp_path, OURS, 1, {})
    doubted = replace(doubted, summary=replace(known.summary, out_s=nothing))
    (row,) = rows(known, doubted)
    assert (row["out"], row["times"]) == ("1.00 s, -", "not known")


def test_a_cell_of_one_system_alone_has_no_row(tmp_path: Path) -> None:
    assert rows(run(tmp_path, REAL, 1, {"a": PASS}), run(tmp_path, REAL, 2, {"a": PASS})) == []
