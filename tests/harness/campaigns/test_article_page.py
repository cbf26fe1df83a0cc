"""The page that holds what the articles claim against runs."""

from harness.campaigns import article_page
from harness.campaigns.stored import CampaignRun
from harness.claims.claims import shipped, shipped_beside
from tests.benchmarks import publish_rate
from tests.harness.campaigns.judged import REAL, REFERENCE, failed, run


def page(*runs: CampaignRun) -> str:
    return "\n".join(article_page.page(shipped(), shipped_beside(), runs, REAL))


def section(text: str, name: str) -> str:
    return text.partition(f"\n## {name}: ")[2].partition("\n## ")[0]


def test_a_claim_that_was_never_run_has_no_verdict() -> None:
    text = page()
    assert section(text, "mirror-failure-affects-own-clients").startswith("not run yet\n")
    assert section(text, "more-mirrors-less-throughput").startswith("not run yet\n")
    assert not [word for word in ("PASS", "FAIL") if f": {word}\n" in text]


def test_runs_on_the_reference_say_nothing_of_the_real_broker() -> None:
    text = page(failed(system=REFERENCE))
    assert section(text, "mirror-failure-affects-own-clients").startswith("not run yet\n")


def test_one_failure_refutes_and_its_run_can_be_replayed() -> None:
    text = section(page(run(), failed(run="r-2", seed=9)), "mirror-failure-affects-own-clients")
    assert text.startswith("FAIL\n")
    assert "- FAIL in 1 of its runs: mirror-crash on all-automatic@T=10 (1)" in text
    assert "seed 9, repeat 1: missed == 0, found 9 \\| &lt;b>" in text
    assert failed(seed=9).replay in text
    assert "- PASS in 1 of its runs" in text


def test_a_claim_of_many_cells_names_those_with_most_runs() -> None:
    many = [run(scenario=f"crash-{number}", run=f"r-{number}") for number in range(8)]
    text = section(page(*many, run(scenario="crash-7")), "mirror-failure-affects-own-clients")
    (line,) = [line for line in text.splitlines() if line.startswith("- PASS in 9 of its runs: ")]
    assert "crash-7 on all-automatic@T=10 (2), crash-0 on all-automatic@T=10 (1)" in line
    assert line.endswith("; 2 more in 2 other cells")


def test_the_table_shows_runs_and_confidence_intervals() -> None:
    (row,) = [line for line in page(run(), failed(run="r-2")).splitlines()
              if line.startswith("| [mirror-failure-affects-own-clients]")]  # fmt: skip
    assert row.endswith("| FAIL | FAIL in 1 of 2 runs (95 % CI: 1.3 to 99 %) |")


def test_a_claim_that_no_run_tests_is_not_applicable() -> None:
    text = section(page(run()), "mirror-takes-over")
    assert text.startswith("NOT APPLICABLE to any run\n")


def test_a_claim_quotes_its_article_and_the_section_of_it() -> None:
    text = section(page(), "mirror-failure-affects-own-clients")
    assert "> 当slave宕掉了" in text
    assert "(seeds/000, 补充要点)" in text
    assert section(page(), "multicast-is-atomic").startswith("no run judges it\n")


def test_a_page_of_some_articles_shows_no_others() -> None:
    articles = article_page.only(shipped_beside(), ["seeds/001", "seeds/002"])
    text = "\n".join(article_page.page(shipped(), articles, (), "rocketmq-2m2s"))
    assert section(text, "other-masters-take-over").startswith("not run yet\n")
    assert "seeds/000" not in text
    assert "- seeds/002: " in text


def test_side_by_side_layouts_are_judged_by_run_rates() -> None:
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
