"""Costs of the steady state, by system and layout: medians and ranges over runs, and one chart.

1. Only runs of one load and one deployment stand in one table: only they compare.
2. A value that was not counted or not sampled says so; it is never 0.
3. A number is a median over runs, followed by the range and the number of runs without a value.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import median

from harness.judging.result import Report, RunReport
from harness.report.page import formats
from harness.view.costs import BROKERS, CLIENTS, PARTS, PROXY, Cost, HostUse

NOT_COUNTED = "not counted"
NOT_SAMPLED = "not sampled"
NOT_JUDGED = "not judged"
PART_NAMES = {BROKERS: "brokers", PROXY: "proxy", CLIENTS: "clients"}
Place = tuple[str, str, str]  # system, layout, client


@dataclass(frozen=True, slots=True)
class Figure:
    """`text` is the median; `spread` the range, or why there is none. `known` False: no number."""

    text: str
    spread: str
    known: bool


@dataclass(frozen=True, slots=True)
class Segment:
    """A part's share of a bar, in per cent of the widest bar."""

    part: str
    width: float
    title: str


@dataclass(frozen=True, slots=True)
class HostRow:
    host: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class CostRow:
    """One system in one layout."""

    system: str
    layout: str
    client: str
    runs: str
    figures: tuple[Figure, ...]  # as COLUMNS
    bar: tuple[Segment, ...]
    bar_text: str
    hosts: tuple[HostRow, ...]  # as HOST_COLUMNS
    doubts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CostTable:
    load: str
    deployment: str
    rows: tuple[CostRow, ...]


@dataclass(frozen=True, slots=True)
class CostsView:
    columns: tuple[tuple[str, str], ...]  # name, meaning
    host_columns: tuple[str, ...]
    parts: tuple[tuple[str, str], ...]
    tables: tuple[CostTable, ...]
    untold: int  # runs without any cost


Measure = Callable[[Cost], float | None]
Format = Callable[[float], str]


def costs(report: Report) -> CostsView:
    """All runs of a report that have a steady state, by load and deployment."""
    measured = [(run, run.cost) for run in report.runs if run.cost is not None]
    with_load = [(run, cost) for run, cost in measured if cost.seconds or cost.hosts]
    groups: dict[tuple[str, str], list[tuple[RunReport, Cost]]] = {}
    for run, cost in with_load:
        groups.setdefault((cost.load, cost.deployment), []).append((run, cost))
    return CostsView(
        columns=tuple((name, meaning) for name, meaning, _, _ in COLUMNS),
        host_columns=tuple(name for name, _, _ in _HOST_COLUMNS),
        parts=tuple(PART_NAMES.items()),
        tables=tuple(_table(*key, members) for key, members in groups.items()),
        untold=len(report.runs) - len(with_load),
    )


def _table(load: str, deployment: str, members: list[tuple[RunReport, Cost]]) -> CostTable:
    places: dict[Place, list[Cost]] = {}
    for run, cost in members:
        places.setdefault(run.cell[1:], []).append(cost)
    widest = max((sum(_cpu(own).values()) for own in places.values()), default=0.0)
    rows = (_row(place, own, widest) for place, own in sorted(places.items(), key=_by_layout))
    return CostTable(load or "load not recorded", deployment, tuple(rows))


def _by_layout(entry: tuple[Place, object]) -> tuple[str, str, str]:
    """Systems of one layout stand one below the other."""
    system, layout, client = entry[0]
    return layout, system, client


def _row(place: Place, own: Sequence[Cost], widest: float) -> CostRow:
    cpu = _cpu(own)
    doubts = dict.fromkeys(cost.doubt for cost in own if cost.doubt)
    return CostRow(
        *place,
        runs=f"{len(own)} run{'' if len(own) == 1 else 's'}",
        figures=tuple(figure(own, measure, form) for _, _, measure, form in COLUMNS),
        bar=tuple(
            Segment(part, round(100 * seconds / widest, 2), f"{PART_NAMES[part]}: {seconds:.2f} s")
            for part, seconds in cpu.items()
            if widest
        ),
        bar_text=f"{sum(cpu.values()):.2f} s" if cpu else "not known",
        hosts=tuple(_hosts(own)),
        doubts=tuple(doubts),
    )


def _cpu(own: Sequence[Cost]) -> dict[str, float]:
    """Median CPU seconds a thousand confirmed messages, by part; without those not known."""
    found = {part: _known(cost.cpu_s_per_1000(part) for cost in own) for part in PARTS}
    return {part: median(values) for part, values in found.items() if values}


def _known(values: Iterable[float | None]) -> list[float]:
    return sorted(value for value in values if value is not None)


def figure(own: Sequence[Cost], measure: Measure, form: Format) -> Figure:
    missing = (
        NOT_COUNTED if any(use.seconds for cost in own for use in cost.hosts) else NOT_SAMPLED
    )
    if measure in _OF_LOAD:
        missing = NOT_JUDGED
    return _of_values([measure(cost) for cost in own], form, missing)


def _of_values(values: Sequence[float | None], form: Format, missing: str) -> Figure:
    known = _known(values)
    if not known:
        return Figure(missing, "", False)
    least, most = form(known[0]), form(known[-1])
    spread = "" if least == most else f"{least} – {most}"
    if len(known) < len(values):
        spread = f"{spread}, " if spread else ""
        spread += f"{len(known)} of {formats.plural(len(values), 'run')}"
    return Figure(form(median(known)), spread, True)


def _hosts(own: Sequence[Cost]) -> Iterable[HostRow]:
    uses: dict[str, list[HostUse]] = {}
    for cost in own:
        for host in cost.hosts:
            uses.setdefault(host.host, []).append(host)
    for name in sorted(uses, key=lambda name: (PARTS.index(uses[name][0].part), name)):
        yield HostRow(name, tuple(_host_figures(uses[name])))


def _host_figures(uses: Sequence[HostUse]) -> Iterable[Figure]:
    missing = NOT_COUNTED if any(use.seconds for use in uses) else NOT_SAMPLED
    for _, field, form in _HOST_COLUMNS:
        yield _of_values([getattr(use, field) for use in uses], form, missing)


def _fine(value: float) -> str:
    return f"{value:,.1f}"


def _cores(value: float) -> str:
    return f"{value:.2f}"


def as_bytes(value: float) -> str:
    """`0.3 KB`, `45 KB`, `1.4 MB`, `151 MB`, in thousands."""
    kilo = value / 1000
    if kilo < 1000:
        return f"{kilo:,.0f} KB" if kilo >= 10 or not kilo else f"{kilo:,.1f} KB"
    mega = kilo / 1000
    return f"{mega:,.0f} MB" if mega >= 10 else f"{mega:,.1f} MB"


def _a_second(value: float) -> str:
    return f"{as_bytes(value)}/s"


def _memory(name: str) -> Measure:
    def most(cost: Cost) -> float | None:
        found = [getattr(host, name) for host in cost.hosts if host.part == BROKERS]
        return None if not found or None in found else float(max(found))

    return most


def _sum(part: str, *names: str) -> Measure:
    def total(cost: Cost) -> float | None:
        found = [cost.sum_of(part, name) for name in names]
        return None if None in found else sum(value for value in found if value is not None)

    return total


_rate, _half, _most = map(attrgetter, ("confirmed_per_s", "p50_ms", "p99_ms"))
_OF_LOAD = (_rate, _half, _most)
COLUMNS: tuple[tuple[str, str, Measure, Format], ...] = (
    (
        "confirmed a second",
        "confirmed publishes per second, at most the fixed rate",
        _rate,
        _fine,
    ),
    (
        "latency p50, ms",
        "half of the confirms came so soon after the intended time",
        _half,
        _fine,
    ),
    ("latency p99, ms", "99 % of the confirms came so soon after it", _most, _fine),
    ("cores, brokers", "used by all hosts of brokers", _sum(BROKERS, "cores"), _cores),
    ("cores, proxy", "used by the proxy", _sum(PROXY, "cores"), _cores),
    ("cores, clients", "used by publishers and consumers", _sum(CLIENTS, "cores"), _cores),
    ("memory, median", "of the host that used most", _memory("memory_median_bytes"), as_bytes),
    ("memory, peak", "of the host that used most", _memory("memory_peak_bytes"), as_bytes),
    (
        "network a second",
        "sent and received by all hosts of brokers",
        _sum(BROKERS, "sent_per_s", "received_per_s"),
        _a_second,
    ),
    (
        "disk a second",
        "written by all hosts of brokers",
        _sum(BROKERS, "written_per_s"),
        _a_second,
    ),
)
_HOST_COLUMNS: tuple[tuple[str, str, Format], ...] = (
    ("cores", "cores", _cores),
    ("memory, median", "memory_median_bytes", as_bytes),
    ("memory, peak", "memory_peak_bytes", as_bytes),
    ("received", "received_per_s", _a_second),
    ("sent", "sent_per_s", _a_second),
    ("read from disk", "read_per_s", _a_second),
    ("written to disk", "written_per_s", _a_second),
)
