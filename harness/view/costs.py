"""Costs of a run in its steady state, in units that layouts compare by: second, host, message; and
memory and disk of each broker's host over its whole time, in slices of its timeline.

1. The numbers of costs are those of the marts `steady_state` and `use`: only from the time before
   the first fault. Only runs of one load compare, so a cost says what load it is of.
2. What is not known, not sampled or not counted is None, never 0: a counter that is 0 in every
   sample of the run is one that the machine does not count. One that falls was restarted with its
   host: what was written meanwhile is unknown.
3. A stall of the instrument, or a log that is missing, leaves rate and latency unknown; what hosts
   used was seen all the same.
4. Of memory the largest sample of a slice counts; of the disk what was written in it.
"""

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from harness.claims.doubts import caveats_of
from harness.deploy.local.site import PROXY_NAME
from harness.deploy.local.usage import WORKERS
from harness.plan.files.toml_problems import document_of
from harness.plan.problems import PlanError
from harness.run_folder.manifest import Manifest
from harness.run_folder.rows import Resource
from harness.view.grouping import by_key
from harness.view.summary import NS
from spark_analysis.schema.costs import Costs, SteadyState, Use
from spark_analysis.schema.doubts import Doubt
from spark_analysis.schema.facts import Facts

BROKERS, PROXY, CLIENTS = "brokers", "proxy", "workers"
PARTS = (BROKERS, PROXY, CLIENTS)
_STOPPING = ("clock", "records")  # doubts about a run that reach before its first fault


@dataclass(frozen=True, slots=True)
class HostUse:
    """One host in the steady state. Rates are bytes a second; `seconds` from first to last
    sample."""

    host: str
    part: str  # of PARTS
    seconds: float = 0.0
    cores: float | None = None
    memory_median_bytes: float | None = None
    memory_peak_bytes: float | None = None
    received_per_s: float | None = None
    sent_per_s: float | None = None
    read_per_s: float | None = None
    written_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """One run. `offered_per_s` None: at rate max; `doubt`: why rate and latency are None."""

    deployment: str = ""
    load: str = ""
    seconds: float = 0.0
    offered_per_s: float | None = None
    confirmed_per_s: float | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None
    hosts: tuple[HostUse, ...] = ()
    doubt: str = ""

    def sum_of(self, part: str, *names: str) -> float | None:
        """Measures of HostUse over all hosts of one part; None where one of them is not known."""
        own = [host for host in self.hosts if host.part == part]
        found = [getattr(host, name) for name in names for host in own]
        return None if not found or None in found else float(sum(found))

    @property
    def broker_hosts(self) -> int:
        return sum(host.part == BROKERS for host in self.hosts)

    def cpu_s_per_1000(self, part: str) -> float | None:
        """CPU seconds that this part took for a thousand confirmed messages."""
        cores = self.sum_of(part, "cores")
        if cores is None or not self.confirmed_per_s:
            return None
        return 1000 * cores / self.confirmed_per_s


def known_median(values: Iterable[float | None]) -> float | None:
    """Return the median of those that are known; None: none is."""
    known = [value for value in values if value is not None]
    return median(known) if known else None


def cost(manifest: Manifest, facts: Facts, found: Costs, doubts: tuple[Doubt, ...]) -> Cost:
    """One run's. `found` and `doubts`: rows of that run only."""
    steady = next(iter(found.steady_state), None)
    doubt = _doubt(facts, steady, doubts)
    known = steady if steady is not None and not doubt else None
    seconds = (steady.until_ns - steady.from_ns) / NS if steady is not None else 0.0
    return Cost(
        deployment=manifest.deployment,
        load=load_of(manifest.scenario_source),
        seconds=seconds,
        offered_per_s=steady.intended / seconds if steady is not None and facts.paced else None,
        confirmed_per_s=known.confirmed / seconds if known is not None else None,
        p50_ms=_ms(known.p50_ns) if known is not None else None,
        p99_ms=_ms(known.p99_ns) if known is not None else None,
        hosts=tuple(_host(use) for use in sorted(found.use)),
        doubt=doubt,
    )


def load_of(scenario: str) -> str:
    """`300/s, 2 publishers, 1 consumer, 256 bytes, persistent`: what a scenario's file asks for.

    Where clients connect is left out: it is part of the scenario's story, not of its load.
    """
    try:
        workload = document_of(scenario, "the scenario").get("workload", {})
    except PlanError:
        return ""
    return ", ".join(_words(workload))


def _words(workload: Mapping[str, Any]) -> Iterable[str]:
    if (rate := workload.get("rate")) is not None:
        yield "as fast as it goes" if rate == "max" else f"{rate:g}/s"
    groups = _number_of(workload.get("consumer_groups", 1))
    for name, of in (("publishers", 1), ("consumers", groups)):
        if (number := workload.get(name)) is not None:
            each = f" in each of {of} groups" if of > 1 else ""
            yield f"{number} {name[:-1] if number == 1 else name}{each}"
    if (queues := _number_of(workload.get("queues", ()))) > 1:
        yield f"{queues} queues"
    if "body_bytes" in workload:
        yield f"{workload['body_bytes']} bytes"
    if "persistent" in workload:
        yield "persistent" if workload["persistent"] else "not persistent"
    sections = (one for one in workload.values() if isinstance(one, Mapping))
    sizes = [size for one in sections if (size := one.get("transaction_size"))]
    if sizes:
        yield f"transactions of at most {sizes[0]}"
    elif "confirms" in workload:
        yield "confirms" if workload["confirms"] else "no confirms"


def _number_of(names: int | Sized) -> int:
    """How many a scenario's file has; it gives their number, or their names."""
    return names if isinstance(names, int) else len(names)


def _doubt(facts: Facts, steady: SteadyState | None, doubts: tuple[Doubt, ...]) -> str:
    if not facts.confirms:
        return "publishers ask for no confirms"
    for one in caveats_of(doubts, facts):
        if (one.scope == "run" and one.reason in _STOPPING) or (
            one.scope == "availability" and one.window == 0
        ):
            return one.sentence
    return "" if steady is not None else "there was no load before the first fault"


def _host(use: Use) -> HostUse:
    seconds = (use.until_ns - use.from_ns) / NS
    return HostUse(
        host=use.host,
        part={PROXY_NAME: PROXY, WORKERS: CLIENTS}.get(use.host, BROKERS),
        seconds=seconds,
        cores=_rate(use.cpu_ns, seconds * NS),
        memory_median_bytes=use.memory_median_bytes,
        memory_peak_bytes=use.memory_peak_bytes,
        received_per_s=_rate(use.network_received_bytes, seconds),
        sent_per_s=_rate(use.network_sent_bytes, seconds),
        read_per_s=_rate(use.disk_read_bytes, seconds),
        written_per_s=_rate(use.disk_written_bytes, seconds),
    )


def _rate(grown: int | None, time: float) -> float | None:
    return grown / time if grown is not None and time > 0 else None


def _ms(time_ns: int | None) -> float | None:
    return time_ns / 1e6 if time_ns is not None else None


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
    by_host = by_key(sorted(of_brokers, key=lambda one: one.at_ns), lambda one: one.host)
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
        number = one.at_ns // (slice_s * NS)
        memory[number] = max(memory.get(number, 0), one.memory_bytes)
    written = _written(samples, slice_s) if counts_disk else {}
    for number, peak in sorted(memory.items()):
        yield UseOfSlice(number * slice_s, peak if counts_memory else None, written.get(number))


def _written(samples: Sequence[Resource], slice_s: int) -> dict[int, float | None]:
    """By slice, the mean rate between the samples that end in it; None after a restart."""
    rates: dict[int, float | None] = {}
    pairs = by_key(pairwise(samples), lambda pair: pair[1].at_ns // (slice_s * NS))
    for number, own in pairs.items():
        grown = [after.disk_written_bytes - before.disk_written_bytes for before, after in own]
        took_ns = [after.at_ns - before.at_ns for before, after in own]
        restarted = min(grown) < 0 or min(took_ns) <= 0
        rates[number] = None if restarted else sum(grown) * NS / sum(took_ns)
    return rates
