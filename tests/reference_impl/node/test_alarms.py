"""Which nodes run short of something: by measuring, by others' word, and for a while."""

import pytest

from reference_impl.node.alarms import DISK, MEMORY, Alarms


def test_high_memory_and_low_disk_raise_a_nodes_alarms() -> None:
    alarms = Alarms("a", memory=100, disk=50)
    assert not alarms.measured(memory=100, disk=50)
    assert alarms.measured(memory=101, disk=49)
    assert alarms.own == {MEMORY, DISK}
    assert alarms.measured(memory=101, disk=50)
    assert alarms.found == {"a": {MEMORY}}
    assert alarms.measured(memory=99, disk=50)
    assert alarms.found == {}


def test_the_same_again_is_no_news() -> None:
    alarms = Alarms("a", memory=100, disk=0)
    assert [alarms.measured(memory, 1) for memory in (200, 300, 1)] == [True, False, True]


def test_without_limits_there_is_no_alarm() -> None:
    assert not Alarms("a", memory=0, disk=0).measured(memory=1 << 40, disk=0)


def test_another_nodes_report_counts_until_it_is_lost() -> None:
    alarms = Alarms("a", memory=100, disk=0)
    assert alarms.update("b", frozenset({MEMORY}))
    assert not alarms.update("b", frozenset({MEMORY}))
    assert (alarms.found, alarms.own) == ({"b": {MEMORY}}, frozenset())
    assert alarms.forget("b")
    assert not alarms.forget("b")
    assert alarms.found == {}


@pytest.mark.parametrize("resource", [MEMORY, DISK])
def test_a_set_limit_holds_until_it_is_reset(resource: str) -> None:
    alarms = Alarms("a", memory=0, disk=0)
    alarms.limit(resource, 1 if resource == MEMORY else 1 << 50)
    assert alarms.measured(memory=10, disk=10)
    assert alarms.own == {resource}
    alarms.limit(resource, None)
    assert alarms.measured(memory=10, disk=10)
    assert alarms.own == frozenset()


def test_alarms_read_before_a_change_stay_unchanged() -> None:
    alarms = Alarms("a", memory=1, disk=0)
    before = alarms.found
    alarms.measured(memory=2, disk=0)
    assert before == {}
