"""What a run cost, in units that people compare; what is not known is not 0."""

import pytest

from harness.view.costs import BROKERS, CLIENTS, PROXY, Cost, cost, load_of
from tests.oracle.costs import costs
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import PUBLISHER, History
from tests.rigs.histories.resources import sample, sampled
from tests.rigs.runs.judged_runs import manifest_of

SOURCE = """
[workload]
queues = ["orders"]
publishers = 2
consumers = 1
rate = 300
body_bytes = 256
persistent = true
confirms = true
"""


def cost_of(history: History, source: str = SOURCE) -> Cost:
    facts, rows = history.build()
    manifest = manifest_of(facts, scenario_source=source)
    return cost(manifest, facts, costs(facts, rows), judge(facts, rows).doubts)


def calm() -> History:
    """10 s of load at 100/s before a fault, and three hosts that are sampled every second."""
    history = History().window(10_000).flow(range(1_000), from_ms=0, every_ms=10)
    for host, cores in (("rmq1", 0.5), ("toxiproxy", 0.1), ("workers", 0.2)):
        sampled(history, host, range(500, 12_000, 1_000), cores=cores, memory_bytes=1 << 20)
    return history


def test_rates_are_of_the_time_before_the_fault() -> None:
    found = cost_of(calm())
    assert found.seconds == 10.0
    assert (found.offered_per_s, found.confirmed_per_s) == (100.0, 100.0)
    assert (found.p50_ms, found.p99_ms) == (1.0, 1.0)
    assert found.doubt == ""


def test_a_host_is_a_broker_the_proxy_or_the_clients() -> None:
    found = cost_of(calm())
    assert [(host.host, host.part, host.cores) for host in found.hosts] == [
        ("rmq1", BROKERS, pytest.approx(0.5)),
        ("toxiproxy", PROXY, pytest.approx(0.1)),
        ("workers", CLIENTS, pytest.approx(0.2)),
    ]
    assert found.cpu_s_per_1000(BROKERS) == pytest.approx(5.0)
    assert found.hosts[0].received_per_s is None  # no host of this run counts it


def test_a_missing_or_unknown_part_makes_the_cost_unknown() -> None:
    lone = cost_of(sample(History(), "rmq1", 5, cpu_ns=1))
    assert lone.sum_of(BROKERS, "cores") is None
    assert lone.sum_of(PROXY, "cores") is None
    assert lone.cpu_s_per_1000(BROKERS) is None


def test_steady_state_stall_leaves_only_the_rate_unknown() -> None:
    """Keep what the hosts used."""
    found = cost_of(calm().stall(PUBLISHER, at_ms=5_000, late_ms=150))
    assert (found.confirmed_per_s, found.p50_ms, found.cpu_s_per_1000(BROKERS)) == (None,) * 3
    assert found.doubt == "publisher 1 stalled 150 ms, 5.0 s after the recording began (host busy)"
    assert found.sum_of(BROKERS, "cores") == pytest.approx(0.5)


def test_later_errors_say_nothing_about_the_steady_state() -> None:
    late = cost_of(calm().stall(PUBLISHER, at_ms=15_000, late_ms=150))
    assert late.confirmed_per_s == 100.0
    unverified = History().window(10_000, verified=False).flow([1], from_ms=5, every_ms=1)
    assert cost_of(unverified).confirmed_per_s == pytest.approx(0.1)


def test_why_there_is_no_rate_is_reported() -> None:
    assert cost_of(History(confirms=False)).doubt == "publishers ask for no confirms"
    assert cost_of(History().window(0)).doubt == "there was no load before the first fault"
    assert cost_of(History(clock_problem="the machine slept")).confirmed_per_s is None


@pytest.mark.parametrize(
    ("source", "load"),
    [
        (SOURCE, "300/s, 2 publishers, 1 consumer, 256 bytes, persistent, confirms"),
        (
            SOURCE.replace("300", '"max"').replace("true", "false"),
            "as fast as it goes, 2 publishers, 1 consumer, 256 bytes, not persistent, no confirms",
        ),
        ('[workload]\nqueues = ["a", "b"]\npublishers = 1', "1 publisher, 2 queues"),
        ("[workload]\nconsumers = 1\nconsumer_groups = 2", "1 consumer in each of 2 groups"),
        ('title = "nothing"', ""),
        ("not = [toml", ""),
    ],
)
def test_a_load_is_reported_in_words(source: str, load: str) -> None:
    assert load_of(source) == load
