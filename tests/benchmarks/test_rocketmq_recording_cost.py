"""What the measurement of recording's cost prints, and which loads it can be asked for."""

import pytest

from tests.benchmarks.rocketmq_recording_cost import Pair, describe, rate, window_of


def test_each_ratio_stands_beside_the_rates_that_were_reached() -> None:
    pairs = [Pair(4000, 5000), Pair(5000, 5000), Pair(4500, 5000)]
    assert describe("rocketmq-native", 128, pairs) == (
        "rocketmq-native, window 128: median 0.90 of 0.80 (4,000 recorded, 5,000 bare a second); "
        "0.90 (4,500 recorded, 5,000 bare a second); 1.00 (5,000 recorded, 5,000 bare a second)"
    )


def test_a_load_may_be_as_fast_as_it_goes() -> None:
    assert (rate("max"), rate("5000")) == (0.0, 5000)
    for word in ("0", "-1", "most"):
        with pytest.raises(ValueError, match=word):
            rate(word)


def test_windows_are_alike_as_far_as_each_client_can() -> None:
    clients = ("rocketmq-java-4.9.8", "rocketmq-native")
    assert [window_of(client, 128) for client in clients] == [128, 128]
    assert [window_of(client, 1000) for client in clients] == [1000, 128]
