"""For how long memory lasts: nothing is said where there is enough."""

from reference_impl.node.alarms import EVERY_MS, LONGEST_S, SHARE, Memory

LIMIT = 1_000
ENOUGH, SHORT = int(LIMIT * SHARE), int(LIMIT * SHARE) + 1


def test_no_notice_is_sent_while_there_is_enough() -> None:
    memory = Memory()
    assert not memory.measured(ENOUGH, LIMIT, 0)
    assert not memory.measured(ENOUGH, LIMIT, EVERY_MS)
    assert memory.lasts_s is None


def test_without_a_memory_limit_there_is_no_alarm() -> None:
    memory = Memory()
    assert not memory.measured(1 << 40, 0, 0)
    assert memory.lasts_s is None


def test_the_memory_forecast_shrinks_with_free_memory_until_the_alarm() -> None:
    memory = Memory()
    assert memory.measured(SHORT, LIMIT, 0)
    assert memory.lasts_s is not None
    assert 0.9 * LONGEST_S < memory.lasts_s < LONGEST_S
    assert not memory.measured(LIMIT, LIMIT, EVERY_MS - 1), "it is not looked yet"
    assert memory.measured((LIMIT + ENOUGH) // 2, LIMIT, EVERY_MS)
    assert memory.lasts_s == LONGEST_S / 2
    assert memory.measured(2 * LIMIT, LIMIT, 2 * EVERY_MS)
    assert memory.lasts_s == 0


def test_queues_get_one_notice_that_it_is_over() -> None:
    memory = Memory()
    memory.measured(SHORT, LIMIT, 0)
    assert memory.measured(ENOUGH, LIMIT, EVERY_MS)
    assert memory.lasts_s is None
    assert not memory.measured(ENOUGH, LIMIT, 2 * EVERY_MS)
