"""Changes of a history that change no verdict: other clocks, names and orders of rows."""

from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any

from spark_analysis.schema.facts import Facts
from tests.rigs.defects.runs import Row, Run, changed

_LENGTHS = ("deadline_ns", "reconnect_ns", "checks_within_ns", "after_ns", "bound_ns", "late_ns")
_WORKERS = ("producer", "consumer", "worker")
_NOT_RUN = 0  # the connection of what was never sent


def shift(run: Run, random: Random) -> Run:
    """Let the run begin later by up to 1,000 s."""
    by_ns = random.randint(1, 10**12)

    def later(row: Row) -> Row:
        return {
            name: value + by_ns if is_time(name, value) else value for name, value in row.items()
        }

    rows = {name: changed(listed, later) for name, listed in run.rows.items()}
    return replace(run, facts=_shifted(run.facts, by_ns), rows=rows)


def is_time(name: str, value: object) -> bool:
    is_point = name.endswith("_ns") and name not in _LENGTHS
    return is_point and isinstance(value, int) and value >= 0


def _shifted(part: Any, by_ns: int) -> Any:
    """Shift every time within the facts, however deep it lies."""
    changes: dict[str, Any] = {}
    for field in fields(part):
        value = getattr(part, field.name)
        if is_time(field.name, value):
            changes[field.name] = value + by_ns
        elif isinstance(value, tuple):
            changes[field.name] = tuple(
                _shifted(it, by_ns) if is_dataclass(it) else it for it in value
            )
    return replace(part, **changes)


def rename(run: Run, random: Random) -> Run:
    """Give queues, brokers, clients and connections other names and numbers."""
    workers = _others((it.number for it in run.facts.workers), random)
    connections = _others(range(1, 9), random)
    queues = {it.queue: f"q{random.randint(0, 999)}-{it.queue[::-1]}" for it in run.facts.queues}
    hosts = {
        name: f"host-{number}"
        for number, name in enumerate(_shuffled({r["broker"] for r in run.of_load()}, random))
        if name is not None
    }
    maps: dict[str, dict[Any, Any]] = {
        "queue": queues,
        "broker": hosts,
        "connection": connections,
        **dict.fromkeys(_WORKERS, workers),
    }

    def renamed(row: Row) -> Row:
        return {
            name: maps[name].get(value, value) if name in maps else value
            for name, value in row.items()
        }

    rows = {name: changed(listed, renamed) for name, listed in run.rows.items()}
    return replace(run, facts=_renamed(run.facts, workers, queues), rows=rows)


def _renamed(facts: Facts, workers: dict[int, int], queues: dict[str, str]) -> Facts:
    return replace(
        facts,
        workers=tuple(replace(it, number=workers[it.number]) for it in facts.workers),
        queues=tuple(replace(it, queue=queues[it.queue]) for it in facts.queues),
        competing_leaders=tuple(
            replace(it, queue=queues.get(it.queue, it.queue)) for it in facts.competing_leaders
        ),
        absences=tuple(
            replace(it, worker=workers.get(it.worker, it.worker)) for it in facts.absences
        ),
        clocks=tuple(replace(it, worker=workers.get(it.worker, it.worker)) for it in facts.clocks),
    )


def _others(numbers: Iterable[int], random: Random) -> dict[int, int]:
    """Map each number to another one, in any order, far from those of drain and audit."""
    listed = [number for number in numbers if number != _NOT_RUN]
    return dict(zip(listed, random.sample(range(1_000, 2_000), len(listed)), strict=True))


def _shuffled(values: set[Any], random: Random) -> list[Any]:
    listed = sorted(values, key=str)
    random.shuffle(listed)
    return listed


def shuffle(run: Run, random: Random) -> Run:
    """Put the rows of every table into another order."""
    return replace(
        run, rows={name: random.sample(rows, len(rows)) for name, rows in run.rows.items()}
    )


def renumber(run: Run, random: Random) -> Run:
    """Number the messages from another sequence on."""
    by = random.randint(1, 10**6)

    def renumbered(row: Row) -> Row:
        named = row.get("producer", 0) > 0
        return {**row, "sequence": row["sequence"] + by} if named else row

    return replace(
        run, rows={name: changed(listed, renumbered) for name, listed in run.rows.items()}
    )


HARMLESS: tuple[Callable[[Run, Random], Run], ...] = (shift, rename, shuffle, renumber)
