"""Memory and disk of each broker's host over the time of a run, in slices of its timeline.

1. Of memory the largest sample of a slice counts; of the disk what was written in it.
2. What was not sampled or not counted is None, never 0: a counter that is 0 in every sample of the
   run is one that the machine does not count.
3. A counter that falls was restarted with its host: what was written meanwhile is unknown.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.deploy.local.site import PROXY_NAME
from harness.deploy.local.usage import WORKERS
from harness.run_folder.rows import Resource

NS_PER_S = 1_000_000_000
BESIDE = (PROXY_NAME, WORKERS)  # what is sampled and is no broker
NO_SAMPLES = "memory and disk of the brokers are unknown: nothing sampled them"
NOT_KEPT = "memory and disk of the brokers are not part of packed evidence"
NO_MEMORY = "memory of the brokers is unknown: it was not counted"
NO_DISK = "what the brokers wrote to disk is unknown: it was not counted"


@dataclass(frozen=True, slots=True)
class UseOfSlice:
    """One slice of one host. `written_per_s`: bytes a second."""

    from_s: int
    memory_bytes: int | None
    written_per_s: float | None


@dataclass(frozen=True, slots=True)
class HostHistory:
    """One broker's host."""

    host: str
    slices: tuple[UseOfSlice, ...]


@dataclass(frozen=True, slots=True)
class UseOverTime:
    """`unknown`: the parts that are missing, and why, in sentences."""

    hosts: tuple[HostHistory, ...] = ()
    unknown: tuple[str, ...] = (NOT_KEPT,)


NOTHING_KEPT = UseOverTime()


def use_over_time(samples: Sequence[Resource] | None, slice_s: int) -> UseOverTime:
    """`samples`: rows of the run's resources; None where they are not kept."""
    if samples is None:
        return NOTHING_KEPT
    of_brokers = [one for one in samples if one.host not in BESIDE]
    if not of_brokers:
        return UseOverTime(unknown=(NO_SAMPLES,))
    counts_memory = any(one.memory_bytes for one in samples)
    counts_disk = any(one.disk_written_bytes for one in samples)
    by_host: defaultdict[str, list[Resource]] = defaultdict(list)
    for one in sorted(of_brokers, key=lambda one: one.at_ns):
        by_host[one.host].append(one)
    hosts = (
        HostHistory(host, tuple(_slices(found, slice_s, counts_memory, counts_disk)))
        for host, found in sorted(by_host.items())
    )
    unknown = ((NO_MEMORY, counts_memory), (NO_DISK, counts_disk))
    return UseOverTime(tuple(hosts), tuple(text for text, counted in unknown if not counted))


def _slices(
    samples: Sequence[Resource], slice_s: int, counts_memory: bool, counts_disk: bool
) -> Iterable[UseOfSlice]:
    memory: dict[int, int] = {}
    for one in samples:
        number = one.at_ns // (slice_s * NS_PER_S)
        memory[number] = max(memory.get(number, 0), one.memory_bytes)
    written = _written(samples, slice_s) if counts_disk else {}
    for number, peak in sorted(memory.items()):
        yield UseOfSlice(number * slice_s, peak if counts_memory else None, written.get(number))


def _written(samples: Sequence[Resource], slice_s: int) -> dict[int, float | None]:
    """By slice, the mean rate between the samples that end in it; None after a restart."""
    grown: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for before, after in pairwise(samples):
        number = after.at_ns // (slice_s * NS_PER_S)
        took_ns = after.at_ns - before.at_ns
        grown[number].append((after.disk_written_bytes - before.disk_written_bytes, took_ns))
    return {
        number: None
        if any(octets < 0 or took_ns <= 0 for octets, took_ns in each)
        else sum(octets for octets, _ in each) * NS_PER_S / sum(took_ns for _, took_ns in each)
        for number, each in grown.items()
    }
