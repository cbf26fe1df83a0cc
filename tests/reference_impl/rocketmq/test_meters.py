"""What tools are shown of a broker's pace: messages a second, lately."""

import pytest

from reference_impl.rocketmq.broker.parts import Meter, Meters
from reference_impl.rocketmq.simulator.world import HostClock, WorldClock


def paced(per_s: int, seconds: int) -> tuple[Meter, WorldClock]:
    world = WorldClock()
    meter = Meter(HostClock(world).now_ms)
    for _ in range(seconds):
        world.ms += 1_000
        for _ in range(per_s):
            meter.add()
    return meter, world


@pytest.mark.parametrize("span_s", [10, 60, 600])
def test_a_steady_pace_is_the_rate_of_every_span(span_s: int) -> None:
    meter, _ = paced(20, 700)
    assert meter.per_s(span_s) == pytest.approx(20)
    assert meter.total == 14_000


def test_a_young_brokers_rate_covers_its_whole_life() -> None:
    meter, _ = paced(20, 5)
    assert meter.per_s(60) == pytest.approx(20)


def test_rates_decay_span_by_span_after_traffic_stops() -> None:
    meter, world = paced(20, 100)
    world.ms += 30_000
    assert (meter.per_s(10), meter.per_s(60)) == (0, pytest.approx(10, abs=0.5))
    assert meter.rates_text().split()[0] == "0.00"


def test_a_groups_pace_is_its_own_by_topic() -> None:
    world = WorldClock()
    meters = Meters(HostClock(world))
    world.ms += 10_000
    meters.gave("readers", "orders", 30)
    meters.gave("readers", "orders", 0)
    meters.gave("others", "orders", 10)
    assert meters.given.total == 40
    assert meters.by_group["readers", "orders"].total == 30
    assert set(meters.by_group) == {("readers", "orders"), ("others", "orders")}
