"""The worker's own lateness."""

from harness.workers.core.lateness import Late, Lateness

MS = 1_000_000
SECOND = 1_000 * MS


def test_each_second_leaves_its_worst_tick() -> None:
    lateness = Lateness(0)
    assert lateness.tick(11 * MS) == []
    assert lateness.tick(24 * MS) == []
    assert lateness.tick(34 * MS) == []
    assert lateness.tick(SECOND + 5 * MS)[0] == Late(24 * MS, 3 * MS)


def test_a_stall_is_recorded_at_once_and_on_its_own() -> None:
    lateness = Lateness(0)
    assert lateness.tick(70 * MS) == [Late(70 * MS, 60 * MS)]
    assert lateness.tick(140 * MS) == [Late(140 * MS, 60 * MS)]
    assert lateness.tick(151 * MS) == []
    assert lateness.end() == [Late(151 * MS, 1 * MS)]


def test_the_status_shows_the_worst_since_the_last_query() -> None:
    lateness = Lateness(0)
    lateness.tick(70 * MS)
    lateness.tick(81 * MS)
    assert lateness.worst_lately_ns() == 60 * MS
    assert lateness.worst_lately_ns() == 0
