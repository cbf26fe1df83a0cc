"""Memory and disk of brokers over time: slices, restarts, and what is unknown."""

import pytest

from harness.run_folder.rows import Resource
from harness.view.costs import (
    NO_DISK,
    NO_MEMORY,
    NO_SAMPLES,
    NOT_KEPT,
    UseOfSlice,
    use_over_time,
)

S = 1_000_000_000


def sample(at_s: float, memory: int, written: int = 0, host: str = "ref1") -> Resource:
    return Resource(host, round(at_s * S), memory, written)


def test_the_peak_of_memory_counts_in_each_slice() -> None:
    found = use_over_time([sample(0, 5), sample(1, 9), sample(2, 7), sample(3, 6)], slice_s=2)
    (host,) = found.hosts
    assert [(one.from_s, one.memory_bytes) for one in host.slices] == [(0, 9), (2, 7)]
    assert found.unknown == (NO_DISK,)


def test_written_bytes_become_a_rate_of_their_slice() -> None:
    samples = [sample(0, 1, 100), sample(1, 1, 300), sample(2, 1, 300), sample(4, 1, 900)]
    (host,) = use_over_time(samples, slice_s=1).hosts
    assert [(one.from_s, one.written_per_s) for one in host.slices] == [
        (0, None),
        (1, 200.0),
        (2, 0.0),
        (4, 300.0),
    ]


def test_a_counter_that_falls_is_unknown_in_its_slice() -> None:
    samples = [sample(0, 1, 100), sample(1, 1, 10), sample(2, 1, 30)]
    (host,) = use_over_time(samples, slice_s=1).hosts
    assert host.slices[1] == UseOfSlice(1, 1, None)
    assert host.slices[2] == UseOfSlice(2, 1, 20.0)


@pytest.mark.parametrize(
    ("samples", "unknown"),
    [
        (None, (NOT_KEPT,)),
        ([], (NO_SAMPLES,)),
        ([sample(0, 5, 5, host="workers"), sample(0, 5, 5, host="toxiproxy")], (NO_SAMPLES,)),
        ([sample(0, 0, 0)], (NO_MEMORY, NO_DISK)),
        ([sample(0, 5, 5)], ()),
    ],
)
def test_what_was_not_counted_is_named(
    samples: list[Resource] | None, unknown: tuple[str, ...]
) -> None:
    assert use_over_time(samples, 1).unknown == unknown


def test_each_broker_host_has_its_own_history() -> None:
    samples = [sample(0, 5, host="ref2"), sample(0, 4), sample(1, 3, host="workers")]
    assert [one.host for one in use_over_time(samples, 1).hosts] == ["ref1", "ref2"]
