"""Whether name servers that a fault left alone told the way meanwhile."""

from pathlib import Path

import pytest

from harness.analyse.routed import ROUTES, RouteValue, route_state
from tests.rigs.histories.by_hand import History
from tests.rigs.histories.watching import ALL, look, looks
from tests.rigs.runs.judged_runs import manifest_of
from tests.rigs.runs.run_folders import write_run

FAULT_MS = 10_000, 20_000


def killed(*query_ms: range) -> History:
    """ns1 is killed for 10 s; ns2 is asked at these times, and tells every route."""
    history = History().window(FAULT_MS[0], returned_ms=FAULT_MS[0], ended_ms=FAULT_MS[1])
    for each in query_ms:
        looks(history, "ns2", each, *ALL)
    return history


def routes(
    tmp_path: Path, history: History, left: int = 1, *, targets: tuple[str, ...]
) -> RouteValue:
    facts, rows = history.build()
    folder = write_run(tmp_path / f"run-{len(list(tmp_path.iterdir()))}", facts, rows)
    manifest = manifest_of(facts)
    of_window = {"name_servers_hit": list(targets), "name_servers_left": left}
    manifest.state["windows"] = {"1": of_window}
    return route_state(folder, manifest, facts)[ROUTES]


def of_one(tmp_path: Path, history: History) -> RouteValue:
    return routes(tmp_path, history, targets=("ns1",))


def test_a_name_server_that_always_answers_served_the_routes(tmp_path: Path) -> None:
    assert of_one(tmp_path, killed(range(9_000, 21_000, 500))) is True


@pytest.mark.parametrize("why", ["", "no answer within 1 s"])
@pytest.mark.parametrize(("from_ms", "expected"), [(16_500, True), (17_000, False)])
def test_empty_or_silent_name_server_has_no_route(
    tmp_path: Path, why: str, from_ms: int, expected: bool
) -> None:
    """Count a name server as without a route when it is silent for five seconds."""
    history = killed(range(9_000, 12_500, 500), range(from_ms, 21_000, 500))
    for at_ms in range(12_500, from_ms, 500):
        look(history, "ns2", at_ms, why=why)
    assert of_one(tmp_path, history) is expected


def test_a_name_server_hit_by_the_fault_does_not_count(tmp_path: Path) -> None:
    history = looks(killed(), "ns1", range(9_000, 21_000, 500), *ALL)
    look(history, "ns2", 12_000, why="refused")
    assert of_one(tmp_path, history) is False


def test_another_one_that_answers_is_enough(tmp_path: Path) -> None:
    history = looks(killed(range(9_000, 21_000, 500)), "ns3", range(9_000, 21_000, 500))
    assert of_one(tmp_path, history) is True


def test_every_queue_needs_a_prober_with_routes(tmp_path: Path) -> None:
    history = killed(range(9_000, 21_000, 500))
    for at_ms in range(9_000, 21_000, 500):
        look(history, "ns2", at_ms, prober=10)
    assert of_one(tmp_path, history) is False


def test_routes_are_unknown_without_queries_or_while_the_prober_stalls(tmp_path: Path) -> None:
    assert of_one(tmp_path, killed()) is None
    assert of_one(tmp_path, killed(range(9_000, 12_000, 500))) is None
    stalled = killed(range(9_000, 12_000, 500))
    look(stalled, "ns2", 13_000, why="no answer; this prober itself stood still meanwhile")
    assert of_one(tmp_path, stalled) is None


@pytest.mark.parametrize(("took_ms", "expected"), [(100, False), (3_000, None)])
def test_a_silence_counts_without_the_time_of_a_stall(
    tmp_path: Path, took_ms: int, expected: RouteValue
) -> None:
    history = killed(range(9_000, 12_500, 500), range(18_500, 21_000, 500))
    look(history, "ns2", 12_500, why="refused")
    stalled = "no answer; this prober itself stood still meanwhile"
    look(history, "ns2", 13_000, why=stalled, took_ms=took_ms)
    for at_ms in range(13_000 + took_ms, 18_500, 500):
        look(history, "ns2", at_ms, why="refused")
    assert of_one(tmp_path, history) is expected


def test_routing_is_checked_only_if_one_name_server_survives(
    tmp_path: Path,
) -> None:
    silent = look(killed(), "ns2", 12_000, why="refused")
    for targets, left in (((), 2), (("ns1", "ns2"), 0)):
        assert isinstance(routes(tmp_path, silent, left, targets=targets), dict)


def test_times_are_those_of_the_fault(tmp_path: Path) -> None:
    history = killed(range(10_000, 20_500, 500))
    for at_ms in (*range(2_000, 10_000, 500), *range(20_500, 40_000, 500)):
        look(history, "ns2", at_ms, why="refused")
    assert of_one(tmp_path, history) is True
