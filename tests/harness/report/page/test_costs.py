"""The cost page: medians and ranges over runs of one load; what was not counted is no 0."""

from dataclasses import replace

import pytest

from harness.judging.result import RunReport
from harness.report.page.costs import CostRow, CostsView, Figure
from harness.view.costs import BROKERS, CLIENTS, PROXY, Cost, HostUse
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import page_of, summed
from tests.rigs.runs.reports import CELL, OTHER, run

HOST = HostUse("rmq1", BROKERS, 11.0, 0.5, 120e6, 130e6, 1e6, 2e6, None, 3e5)
COST = Cost(
    deployment="compose",
    load="300/s",
    seconds=12.0,
    offered_per_s=300.0,
    confirmed_per_s=250.0,
    p50_ms=3.0,
    p99_ms=40.0,
    hosts=(
        HOST,
        replace(HOST, host="rmq2", cores=0.25, memory_peak_bytes=150e6),
        replace(HOST, host="toxiproxy", part=PROXY, cores=0.1),
        replace(HOST, host="workers", part=CLIENTS, cores=0.2),
    ),
    doubt="",
)


def reports(*values: Cost, **changes: object) -> list[RunReport]:
    return [
        replace(summed(Story(), name=f"run-{number}", **changes), cost=cost)
        for number, cost in enumerate(values)
    ]


def view(*runs: RunReport) -> CostsView:
    return CostsView(page_of(*runs))


def only(*values: Cost) -> CostRow:
    ((row,),) = (table.rows for table in view(*reports(*values)).tables)
    return row


def figures(*values: Cost) -> dict[str, Figure]:
    names = [name for name, _ in view(*reports(*values)).columns]
    return dict(zip(names, only(*values).figures, strict=True))


def test_figure_is_the_median_over_runs_followed_by_range() -> None:
    found = figures(*(replace(COST, confirmed_per_s=rate) for rate in (250.0, 299.0, 298.0)))
    assert found["confirmed a second"] == Figure("298.0", "250.0 – 299.0", True)
    assert found["latency p99, ms"] == Figure("40.0", "", True)


def test_hosts_of_one_part_are_summed_except_for_memory() -> None:
    """Report the memory of the fullest host."""
    found = figures(COST)
    assert found["cores, brokers"].text == "0.75"
    assert (found["cores, mqproof's proxy"].text, found["cores, clients"].text) == ("0.10", "0.20")
    assert (found["memory, fullest host"].text, found["memory, peak"].text) == ("120 MB", "150 MB")
    assert found["network a second"].text == "6.0 MB/s"
    assert found["disk a second"].text == "600 KB/s"


def test_not_counted_not_sampled_and_not_judged_are_three_things() -> None:
    uncounted = replace(HOST, written_per_s=None)
    assert figures(replace(COST, hosts=(uncounted,)))["disk a second"].text == "not counted"
    unsampled = replace(HOST, seconds=0.0, written_per_s=None, cores=None)
    assert figures(replace(COST, hosts=(unsampled,)))["disk a second"].text == "not sampled"
    stalled = replace(COST, confirmed_per_s=None, p50_ms=None, doubt="publisher 1 stalled")
    assert figures(stalled)["confirmed a second"] == Figure("not judged", "", False)
    assert figures(stalled)["cores, brokers"].known
    assert only(stalled).doubts == ("publisher 1 stalled",)


def test_one_host_that_is_not_known_leaves_the_sum_unknown() -> None:
    some = replace(COST, hosts=(HOST, replace(HOST, host="rmq2", cores=None)))
    assert figures(some)["cores, brokers"].text == "not counted"


def test_costs_say_how_many_runs_were_measured() -> None:
    found = figures(COST, replace(COST, p50_ms=None), replace(COST, p50_ms=5.0))
    assert found["latency p50, ms"] == Figure("4.0", "3.0 – 5.0, 2 of 3 runs", True)


def test_cost_table_contains_runs_of_one_load_and_deployment() -> None:
    values = (COST, replace(COST, load="max"), replace(COST, deployment="local"))
    tables = view(*reports(*values)).tables
    assert [(table.load, table.deployment) for table in tables] == [
        ("300/s", "in containers"),
        ("max", "in containers"),
        ("300/s", "as processes"),
    ]


def test_scenarios_of_one_load_are_merged_and_layouts_are_not() -> None:
    scenarios = reports(COST, cell=("cut-one-node", *CELL[1:]))
    ((first, second),) = (
        table.rows for table in view(*reports(COST), *scenarios, *reports(COST, cell=OTHER)).tables
    )
    assert (first.layout, first.runs) == (CELL[2], "2 runs")
    assert (second.layout, second.runs) == (OTHER[2], "1 run")


def test_the_bar_is_cpu_a_thousand_messages_by_part() -> None:
    row = only(COST)
    assert row.bar_text == "brokers 3.00 s (brokers, mqproof's proxy and clients: 4.20 s)"
    assert [(one.part, one.width) for one in row.bar] == [
        (BROKERS, pytest.approx(71.43)),
        (PROXY, pytest.approx(9.52)),
        (CLIENTS, pytest.approx(19.05)),
    ]
    assert only(replace(COST, confirmed_per_s=None)).bar_text == "not known"


def test_hosts_are_listed_one_by_one_with_brokers_first() -> None:
    hosts = {host.host: host.figures for host in only(COST).hosts}
    assert list(hosts) == ["rmq1", "rmq2", "mqproof's proxy", "clients"]
    assert [one.text for one in hosts["rmq1"]] == [
        "0.50",
        "120 MB",
        "130 MB",
        "1.0 MB/s",
        "2.0 MB/s",
        "not counted",
        "300 KB/s",
    ]


def test_runs_without_steady_state_are_counted() -> None:
    empty = replace(COST, seconds=0.0, hosts=())
    found = view(*reports(COST, empty), run(Story(), name="x", verdicts=(), failure="no cluster"))
    assert (len(found.tables), found.runs_without) == (1, 2)
