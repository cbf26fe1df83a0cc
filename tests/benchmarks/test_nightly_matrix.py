"""Runs kept over sessions, the matrix that they fill, and the page that tells what they show."""

import csv
import io
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from harness.claims.claims import shipped, shipped_beside
from harness.claims.judge import Outcome
from harness.request.asking import scenario_names
from tests.benchmarks import article_page, judged_runs, publish_rate
from tests.benchmarks.judged_runs import Knowledge, Run
from tests.benchmarks.nightly_matrix import (
    UNJUDGED_MAX,
    Choice,
    Matrix,
    Tally,
    matrix,
    once_more,
    piece,
    table,
    tally,
    told_of,
)
from tests.stored import stored

REAL, REFERENCE = "rabbitmq-mirrored", "reference-mirrored"
LAYOUT = "all-automatic@T=10"
KNOWLEDGE = Knowledge(shipped())
ONCE = "PASS: broken in 0 of 1 run; up to 95 % of runs not excluded; as expected"
USUAL = (
    "nothing-unexpected nothing-corrupt refused-stays-refused confirmed-hence-delivered "
    "queue-is-first-in-first-out mirror-failure-harms-nobody"
)


def run(**changes: object) -> Run:
    told = Run(
        experiment="20261122-000000-aaaa",
        seed=7,
        run="mirror-crash-1-beef",
        repeat=1,
        scenario="mirror-crash",
        system=REAL,
        layout=LAYOUT,
        client="pika",
        deployment="compose",
        broker="3.10.8",
        passed=USUAL,
        failed="",
        inconclusive="",
        not_applicable="mirror-takes-over",
        told="",
        confirmed_per_s=None,
    )
    return replace(told, **changes)  # type: ignore[arg-type]


def failed(**changes: object) -> Run:
    told = json.dumps({"mirror-failure-harms-nobody": "missed == 0: 9 | <b>"})
    passed = USUAL.replace(" mirror-failure-harms-nobody", "")
    parts = {"passed": passed, "failed": "mirror-failure-harms-nobody", "told": told}
    return run(**{**parts, **changes})


def undecided(**changes: object) -> Run:
    passed = USUAL.replace(" mirror-failure-harms-nobody", "")
    parts = {"passed": passed, "inconclusive": "mirror-failure-harms-nobody"}
    return run(**{**parts, **changes})


def passed(runs: int) -> str:
    return f"PASS: broken in 0 of {runs} run{'' if runs == 1 else 's'}"


def verdict_file(folder: Path, experiment: str) -> None:
    claims = [
        {"claim": "confirmed-hence-delivered", "outcome": "PASS", "judged": ["lost == 0: 0 of 9"]},
        {"claim": "mirror-failure-harms-nobody", "outcome": "FAIL", "judged": ["missed == 0: 9"]},
        {"claim": "mirror-takes-over", "outcome": "NOT APPLICABLE", "judged": []},
    ]
    cell = dict(zip(("scenario", "system", "layout", "client"), run().cell, strict=True))
    one = {"name": "r-1", "cell": cell, "repeat": 2, "claims": claims, "cost": None}
    document = {"seed": 7, "versions": {"rabbitmq": "3.10.8"}, "runs": [one]}
    (folder / experiment).mkdir()
    (folder / experiment / "verdict.json").write_text(json.dumps(document))


# --- kept over sessions --------------------------------------------------------------------------


def test_an_experiments_runs_come_back_from_a_csv_as_they_were(tmp_path: Path) -> None:
    verdict_file(tmp_path, "20261122-000000-aaaa")
    (one,) = judged_runs.found(tmp_path)
    assert one.outcomes == {
        "confirmed-hence-delivered": Outcome.PASS,
        "mirror-failure-harms-nobody": Outcome.FAIL,
        "mirror-takes-over": Outcome.NOT_APPLICABLE,
    }
    assert one.why("mirror-failure-harms-nobody") == "missed == 0: 9"
    kept = io.StringIO()
    judged_runs.write([one, run(confirmed_per_s=12.5)], kept)
    (tmp_path / "earlier.csv").write_text(kept.getvalue())
    assert set(judged_runs.found(tmp_path)) == {one, run(confirmed_per_s=12.5)}  # each once


def test_an_experiment_that_ended_without_a_verdict_counts_as_not_judged(tmp_path: Path) -> None:
    stored(tmp_path / "20261122-000000-aaaa", [("mirror-crash-1-beef", run().cell)])
    found = judged_runs.found(tmp_path)
    assert [one.cell for one in found] == [run().cell]
    assert tally(found, KNOWLEDGE).in_vain.total() == 1


def test_a_csv_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    with (tmp_path / "values.csv").open("w", newline="") as out:
        csv.writer(out).writerows([("experiment", "value"), ("e", "1")])
    assert judged_runs.found(tmp_path) == []


def test_a_run_is_replayed_by_its_experiments_seed_with_as_many_repeats_as_it_needs() -> None:
    words = "mqproof run mirror-crash --system rabbitmq-mirrored --layout all-automatic@T=10"
    words += " --client pika --deployment compose"
    assert run().replay == f"{words} --seed 7"
    assert run(repeat=3).replay == f"{words} --repeats 3 --seed 7"


# --- what is played next -------------------------------------------------------------------------

CRASH, STOP = ("master-crash", REAL, "a@T=10"), ("master-stop", REAL, "a@T=10")
FREEZE, OTHER = ("master-freeze", REAL, "a@T=10"), ("master-crash", REAL, "b@T=10")
CELLS = (FREEZE, CRASH, STOP, OTHER)


def test_the_poorest_layout_comes_first_and_what_alters_a_cluster_last_in_it() -> None:
    counted = Tally(judged=Counter({OTHER: 1}))
    assert piece(CELLS, counted, 2, 6) == (
        REAL,
        "a@T=10",
        ["master-crash", "master-stop", "master-freeze"],
    )
    counted = Tally(judged=Counter({CRASH: 2, STOP: 2, FREEZE: 2, OTHER: 1}))
    assert piece(CELLS, counted, 2, 6) == (REAL, "b@T=10", ["master-crash"])


def test_a_piece_has_no_more_scenarios_than_it_may() -> None:
    _, _, names = piece(CELLS, Tally(), 1, 2) or ("", "", [])
    assert len(names) == 2


def test_nothing_is_left_where_each_cell_was_judged_or_tried_often_enough() -> None:
    judged = Counter({CRASH: 1, STOP: 1, OTHER: 1})
    assert piece(CELLS, Tally(judged, Counter({FREEZE: UNJUDGED_MAX})), 1, 6) is None
    assert piece(CELLS, Tally(judged, Counter({FREEZE: UNJUDGED_MAX - 1})), 1, 6) is not None


def test_a_run_that_decided_less_than_is_known_of_its_cell_is_played_again() -> None:
    counted = tally([run(), failed(), undecided()], KNOWLEDGE)
    assert (counted.judged.total(), counted.in_vain.total()) == (2, 1)


def test_what_is_played_once_more_is_told() -> None:
    counted = Tally(in_vain=Counter({FREEZE: 2}))
    told = list(once_more(["master-freeze", "master-stop"], REAL, "a@T=10", counted))
    assert told == ["master-freeze on a@T=10: 2 runs not judged so far; once more"]


def test_cells_that_mean_nothing_have_a_reason_and_are_never_played() -> None:
    whole = matrix(Choice(layouts=("unmirrored", "all-automatic-haproxy-pair")))
    assert ("master-crash", REFERENCE, "unmirrored@T=10") in whole.cells
    assert ("balancer-crash", REAL, "all-automatic-haproxy-pair@T=10") in whole.cells
    no_mirror = whole.reasons["mirror-crash", REAL, "unmirrored@T=10"]
    assert "queues have one copy, no mirror" in no_mirror
    assert not set(whole.cells) & whole.reasons.keys()


def test_the_telling_cells_are_those_of_the_scenarios_own_table() -> None:
    whole = matrix(Choice(systems=(REAL,), telling=True))
    assert ("cut-one-node", REAL, "all-automatic-2-pause@T=10") in whole.cells
    assert ("mirror-crash", REAL, LAYOUT) in whole.cells  # "every one": the default layout
    assert ("mirror-crash", REAL, "exactly-2@T=10") not in whole.cells
    played = {cell[0] for cell in whole.cells}
    every = {cell[0] for cell in matrix(Choice(systems=(REAL,))).cells}
    assert played == every < set(scenario_names())  # the others are for name servers and logs


# --- what is told --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        ([], "not run"),
        ([run(), run()], f"{passed(2)}; up to 78 % of runs not excluded; as expected"),
        ([undecided()], "1 of 1 run not judged"),
        (
            [run(), undecided()],
            f"1 of 2 runs not judged; {passed(1)}; up to 95 % of runs not excluded; as expected",
        ),
        (
            [*[run()] * 4, undecided()],
            f"{passed(4)}; up to 53 % of runs not excluded; as expected; 1 of 5 runs not judged",
        ),
        (
            [run(), failed()],
            "FAIL: mirror-failure-harms-nobody in 1 of 2 runs; 1.3 % to 99 % of runs; "
            "**differs**: mirror-failure-harms-nobody: FAIL, expected PASS",
        ),
    ],
)
def test_a_cell_tells_verdict_standing_and_what_so_many_runs_exclude(
    runs: list[Run], told: str
) -> None:
    assert told_of(runs, KNOWLEDGE) == told


def test_the_table_sets_systems_side_by_side_and_leaves_out_nothing() -> None:
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


# --- the page of the articles --------------------------------------------------------------------


def page(*runs: Run) -> str:
    return "\n".join(article_page.page(shipped(), shipped_beside(), runs, REAL))


def section(text: str, name: str) -> str:
    return text.partition(f"\n## {name}: ")[2].partition("\n## ")[0]


def test_a_claim_that_nobody_ran_has_no_verdict() -> None:
    text = page()
    assert section(text, "mirror-failure-harms-nobody").startswith("not run yet\n")
    assert section(text, "more-mirrors-less-throughput").startswith("not run yet\n")
    assert not [word for word in ("PASS", "FAIL") if f": {word}\n" in text]


def test_runs_on_the_reference_say_nothing_of_the_real_broker() -> None:
    text = page(failed(system=REFERENCE))
    assert section(text, "mirror-failure-harms-nobody").startswith("not run yet\n")


def test_one_failure_refutes_and_the_run_that_shows_it_can_be_replayed() -> None:
    text = section(page(run(), failed(run="r-2", seed=9)), "mirror-failure-harms-nobody")
    assert text.startswith("FAIL\n")
    assert "- FAIL in 1 of its runs: mirror-crash on all-automatic@T=10 (1)" in text
    assert "seed 9, repeat 1: missed == 0: 9 \\| &lt;b>" in text
    assert failed(seed=9).replay in text
    assert "- PASS in 1 of its runs" in text


def test_the_table_tells_in_how_many_runs_and_what_these_do_not_exclude() -> None:
    (row,) = [line for line in page(run(), failed(run="r-2")).splitlines()
              if line.startswith("| [mirror-failure-harms-nobody]")]  # fmt: skip
    assert row.endswith("| FAIL | FAIL in 1 of 2 runs; 1.3 % to 99 % of runs |")


def test_what_no_run_does_is_not_applicable_and_not_passed() -> None:
    text = section(page(run()), "mirror-takes-over")
    assert text.startswith("NOT APPLICABLE to any run\n")


def test_a_claim_quotes_its_article_and_the_section_of_it() -> None:
    text = section(page(), "mirror-failure-harms-nobody")
    assert "> 当slave宕掉了" in text
    assert "(seeds/000, 补充要点)" in text
    assert section(page(), "multicast-is-atomic").startswith("no run judges it\n")


def test_a_page_of_some_articles_tells_nothing_of_others() -> None:
    told = article_page.only(shipped_beside(), ["seeds/001", "seeds/002"])
    text = "\n".join(article_page.page(shipped(), told, (), "rocketmq-2m2s"))
    assert section(text, "other-masters-take-over").startswith("not run yet\n")
    assert "seeds/000" not in text
    assert "- seeds/002: " in text


def test_layouts_beside_each_other_are_judged_by_the_rates_of_their_runs() -> None:
    runs = [
        run(scenario="publish-rate", layout=f"{layout}@T=10", run=f"{layout}-{number}",
            confirmed_per_s=rate + number)
        for layout, rate in (("mirrors-0", 900), ("mirrors-1", 700), ("mirrors-2", 500),
                             ("mirrors-4", 300))
        for number in range(3)
    ]  # fmt: skip
    assert section(page(*runs), "more-mirrors-less-throughput").startswith("PASS\n")
    lines = list(publish_rate.table(runs, REAL))
    assert "| mirrors-4 | 3 | 301 [300; 301; 302] |  |" in lines
    assert any(line.startswith("- **PASS** more-mirrors-less-throughput") for line in lines)
    assert any("**INCONCLUSIVE** mirroring-costs-without-mirrors" in line for line in lines)
