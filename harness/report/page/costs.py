"""Costs of the steady state: medians and ranges over runs, by layout.

1. Only runs of one load and one deployment stand in one table: only they compare.
2. A value that was not counted or not sampled says so; it is never 0.
3. A number is a median over runs, followed by the range and the number of runs without a value.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from statistics import median
from typing import NamedTuple

from harness.judging.result import Report
from harness.report.page import formats
from harness.report.page.columns import Key, are_side_by_side, letters_of
from harness.report.page.places import DEPLOYMENTS, listed
from harness.view.costs import BROKERS, CLIENTS, PARTS, PROXY, Cost, HostUse, known_median
from harness.view.grouping import by_key

PART_NAMES = {BROKERS: "brokers", PROXY: "mqproof's proxy", CLIENTS: "clients"}
_OURS = ("toxiproxy", "workers")  # as samples name the proxy and all clients together
_NO_LOAD = "load not recorded"
Measure = Callable[[Cost], float | None]
Format = Callable[[float], str]


class Figure(NamedTuple):
    """`text` is the median; `spread` the range, or why there is none. `known` False: no number."""

    text: str
    spread: str
    known: bool


class Segment(NamedTuple):
    """A part's share of a bar, in per cent of the widest bar."""

    part: str
    width: float
    title: str


class HostRow(NamedTuple):
    host: str
    figures: tuple[Figure, ...]


class CostRow:
    """One system in one layout, by one client: figures as COLUMNS, hosts as _HOST_COLUMNS.
    `letter`: of its column; "" where no columns stand side by side."""

    def __init__(self, place: Key, letter: str, own: Sequence[Cost], widest: float) -> None:
        cpu, self.letter = _cpu(own), letter
        self.system, self.layout, self.client = place
        self.runs = formats.plural(len(own), "run")
        unknown = _missing(use for cost in own for use in cost.hosts)
        self.figures = tuple(
            _figure(map(measure, own), form, "not judged" if measure in _OF_LOAD else unknown)
            for _, _, measure, form in COLUMNS
        )
        self.bar = tuple(
            Segment(part, round(100 * spent / widest, 2), f"{PART_NAMES[part]}: {spent:.2f} s")
            for part, spent in cpu.items()
            if widest
        )
        self.bar_text = f"{sum(cpu.values()):.2f} s" if cpu else "not known"
        if cpu.keys() > {BROKERS}:
            parts = listed([PART_NAMES[part] for part in cpu])
            self.bar_text = f"brokers {cpu[BROKERS]:.2f} s ({parts}: {self.bar_text})"
        self.hosts = tuple(_hosts(own))
        self.doubts = tuple(dict.fromkeys(cost.doubt for cost in own if cost.doubt))


class CostTable:
    """Systems stand in the order of the columns. `letters`: of these."""

    def __init__(
        self,
        load: str,
        deployment: str,
        members: list[tuple[Key, Cost]],
        letters: Mapping[Key, str],
    ) -> None:
        self.load = load or _NO_LOAD
        self.deployment = DEPLOYMENTS.get(deployment, deployment)
        places = by_key(members, lambda one: one[0])
        costs_of = {place: [cost for _, cost in own] for place, own in places.items()}
        widest = max((sum(_cpu(own).values()) for own in costs_of.values()), default=0.0)
        ordered = sorted(places, key=list(letters).index)
        self.rows = tuple(
            CostRow(place, letters[place], costs_of[place], widest) for place in ordered
        )


class CostsView:
    """All runs of a report that have a steady state. `runs_without`: runs without any cost."""

    def __init__(self, report: Report) -> None:
        costed = [(run.cell[1:], run.cost) for run in report.runs if run.cost is not None]
        with_load = [(place, cost) for place, cost in costed if cost.seconds or cost.hosts]
        tables = by_key(with_load, lambda one: (one[1].load, one[1].deployment))
        self.columns = tuple((name, meaning) for name, meaning, _, _ in COLUMNS)
        self.host_columns = tuple(name for name, _, _ in _HOST_COLUMNS)
        self.parts = tuple(PART_NAMES.items())
        found = letters_of(report)
        own = found if are_side_by_side(report) else dict.fromkeys(found, "")
        self.tables = tuple(CostTable(*key, members, own) for key, members in tables.items())
        self.runs_without = len(report.runs) - len(with_load)


def _cpu(own: Sequence[Cost]) -> dict[str, float]:
    """Median CPU seconds a thousand confirmed messages, by part; without those not known."""
    found = {part: known_median(cost.cpu_s_per_1000(part) for cost in own) for part in PARTS}
    return {part: value for part, value in found.items() if value is not None}


def _missing(uses: Iterable[HostUse]) -> str:
    return "not counted" if any(use.seconds for use in uses) else "not sampled"


def _figure(values: Iterable[float | None], form: Format, missing: str) -> Figure:
    every = list(values)
    known = sorted(value for value in every if value is not None)
    if not known:
        return Figure(missing, "", False)
    least, most = form(known[0]), form(known[-1])
    spread = [] if least == most else [f"{least} – {most}"]
    if len(known) < len(every):
        spread.append(formats.of(len(known), len(every), "run"))
    return Figure(form(median(known)), ", ".join(spread), True)


def _hosts(own: Sequence[Cost]) -> Iterable[HostRow]:
    uses = by_key((use for cost in own for use in cost.hosts), lambda use: use.host)
    for name in sorted(uses, key=lambda name: (PARTS.index(uses[name][0].part), name)):
        part = uses[name][0].part
        yield HostRow(
            PART_NAMES[part] if name in _OURS else name,
            tuple(
                _figure((getattr(use, field) for use in uses[name]), form, _missing(uses[name]))
                for _, field, form in _HOST_COLUMNS
            ),
        )


def _a_second(value: float) -> str:
    return f"{formats.octets(value)}/s"


def _memory(name: str) -> Measure:
    def most(cost: Cost) -> float | None:
        found = [getattr(host, name) for host in cost.hosts if host.part == BROKERS]
        return None if not found or None in found else float(max(found))

    return most


def _sum(part: str, *names: str) -> Measure:
    return lambda cost: cost.sum_of(part, *names)


_fine, _cores = "{:,.1f}".format, "{:.2f}".format
_OF_LOAD = _rate, _half, _most = tuple(map(attrgetter, ("confirmed_per_s", "p50_ms", "p99_ms")))
_network, _disk = _sum(BROKERS, "sent_per_s", "received_per_s"), _sum(BROKERS, "written_per_s")
_all_memory = _sum(BROKERS, "memory_median_bytes")
_EVERY = "all hosts of brokers"
COLUMNS: tuple[tuple[str, str, Measure, Format], ...] = (
    (
        "confirmed a second",
        "confirmed publishes per second; with a fixed rate, at most about that rate",
        _rate,
        _fine,
    ),
    (
        "latency p50, ms",
        "half of the confirms came within this time after the due time",
        _half,
        _fine,
    ),
    ("latency p99, ms", "99 % of the confirms came within this time", _most, _fine),
    ("cores, brokers", "used by all hosts of brokers", _sum(BROKERS, "cores"), _cores),
    (
        "cores, mqproof's proxy",
        "used by the proxy between clients and brokers",
        _sum(PROXY, "cores"),
        _cores,
    ),
    ("cores, clients", "used by publishers and consumers", _sum(CLIENTS, "cores"), _cores),
    ("memory, all brokers", f"of {_EVERY}, median", _all_memory, formats.octets),
    (
        "memory, fullest host",
        "largest median of a single host of brokers",
        _memory("memory_median_bytes"),
        formats.octets,
    ),
    (
        "memory, peak",
        "largest sample of a single host of brokers",
        _memory("memory_peak_bytes"),
        formats.octets,
    ),
    ("network a second", f"sent and received by {_EVERY}", _network, _a_second),
    ("disk a second", f"written by {_EVERY}", _disk, _a_second),
)
_HOST_COLUMNS: tuple[tuple[str, str, Format], ...] = (
    ("cores", "cores", _cores),
    ("memory, median", "memory_median_bytes", formats.octets),
    ("memory, peak", "memory_peak_bytes", formats.octets),
    ("received", "received_per_s", _a_second),
    ("sent", "sent_per_s", _a_second),
    ("read from disk", "read_per_s", _a_second),
    ("written to disk", "written_per_s", _a_second),
)
