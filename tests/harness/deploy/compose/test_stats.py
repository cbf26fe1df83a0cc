"""What a host had used: its network, its processes, over restarts."""

from harness.cluster.port import HostSample
from harness.deploy.compose.core.stats import Counters, HostUse, StatsSample, read

STATISTICS = {
    "cpu_stats": {"cpu_usage": {"total_usage": 5_000}},
    "memory_stats": {"usage": 1_000, "stats": {"total_inactive_file": 300}},
    "networks": {
        "eth0": {"rx_bytes": 1, "tx_bytes": 2},
        "eth1": {"rx_bytes": 10, "tx_bytes": 20},
    },
    "blkio_stats": {
        "io_service_bytes_recursive": [
            {"op": "Read", "value": 7},
            {"op": "Write", "value": 8},
            {"op": "Total", "value": 15},
        ]
    },
}


def look(cpu_ns: int, memory_bytes: int = 0) -> StatsSample:
    return StatsSample(memory_bytes, Counters(cpu_ns, 0, 0, 0, 0))


def test_reads_the_engines_words() -> None:
    assert read(STATISTICS) == StatsSample(700, Counters(5_000, 11, 22, 7, 8))


def test_an_unreported_value_is_not_used() -> None:
    stopped = {"blkio_stats": {"io_service_bytes_recursive": None}, "memory_stats": {}}
    assert read(stopped) == StatsSample(0, Counters(0, 0, 0, 0, 0))


def test_a_host_is_the_sum_of_its_containers() -> None:
    use = HostUse("rmq1", frozenset({"network", "broker"}))
    use.take("network", read(STATISTICS))
    assert use.sample(2) is None
    use.take("broker", look(900, memory_bytes=50))
    assert use.sample(3) == HostSample("rmq1", 3, 5_900, 750, 11, 22, 7, 8)


def test_counters_never_go_back_over_a_restart() -> None:
    use = HostUse("rmq1", frozenset({"broker"}))
    samples = []
    for cpu_ns in (100, 250, 0, 0, 40):
        use.take("broker", look(cpu_ns))
        sample = use.sample(0)
        assert sample is not None
        samples.append(sample.cpu_ns)
    assert samples == [100, 250, 250, 250, 290]
