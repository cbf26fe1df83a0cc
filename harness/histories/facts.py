"""The facts of a neutral history, held against the declaration of the record format.

1. The declaration is `Facts`: its fields, their types, and nothing else.
2. A field may be left out where it has a calm default: one that proves nothing. A log that nobody
   calls closed is open, a fault that nobody calls verified is not, a queue is not drained.
3. Windows are numbered from 1 in their order, and time does not run backwards in any of them.
"""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

from harness.histories.complaints import Complaints
from harness.outside.text import brief
from spark_analysis.schema.facts import (
    Absence,
    Cause,
    Facts,
    ProcessEnd,
    QueueEnd,
    Upheaval,
    Window,
    Worker,
)

TIME_MAX_NS = 10**18  # 31 years
_CALM: Mapping[type, Mapping[str, Any]] = {
    Facts: {
        "scenario": "",
        "system": "",
        "layout": "",
        "client": "",
        "repeat": 0,
        "load_started_ns": 0,
        "clock_doubt": "",
        "workers": (),
        "windows": (),
        "queues": (),
        "rivals": (),
    },
    Worker: {"log_closed": False},
    Window: {"ended_ns": None, "verified": False, "gone": False, "doubt": ""},
    QueueEnd: {"ordered": False, "drained": False, "doubt": "", "unreadable": ()},
    Absence: {"until_ns": None},
    Upheaval: {"over_ns": None},
    ProcessEnd: {"cause": Cause.UNKNOWN.value, "detail": "", "until_ns": None},
}
_WRONG = object()
_INT32_MAX = 2**31 - 1


def read_facts(told: object, name: str, complaints: Complaints) -> Facts | None:
    """The facts of the run of that name; None where they cannot be known."""
    if isinstance(told, Mapping):
        told = {"run": name, **told}
    facts = _read(Facts, told, "facts", complaints)
    if facts is _WRONG:
        return None
    _check(cast(Facts, facts), complaints)
    return cast(Facts, facts)


def _read(hint: Any, told: object, place: str, complaints: Complaints) -> Any:
    if is_dataclass(hint):
        return _record(cast(type, hint), told, place, complaints)
    if get_origin(hint) is tuple:
        return _listing(get_args(hint)[0], told, place, complaints)
    choices = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    if type(told) not in choices:
        words = " or ".join("null" if one is NoneType else one.__name__ for one in choices)
        complaints.add(place, f"{brief(told)} is not {words}")
        return _WRONG
    if type(told) is int:
        most = TIME_MAX_NS if place.endswith("_ns") else _INT32_MAX
        if abs(told) > most:
            complaints.add(place, f"{brief(told)} is out of range")
            return _WRONG
    return told


def _listing(hint: Any, told: object, place: str, complaints: Complaints) -> Any:
    if not isinstance(told, list | tuple):
        complaints.add(place, f"{brief(told)} is not a list")
        return _WRONG
    items = [
        _read(hint, item, f"{place}[{number}]", complaints) for number, item in enumerate(told)
    ]
    return _WRONG if any(item is _WRONG for item in items) else tuple(items)


def _record(kind: type, told: object, place: str, complaints: Complaints) -> Any:
    if not isinstance(told, Mapping):
        complaints.add(place, f"{brief(told)} is not an object")
        return _WRONG
    names = [field.name for field in fields(kind)]
    for key in told:
        if key not in names:
            complaints.unknown(place, "key", key, names)
    hints, calm = get_type_hints(kind), _CALM.get(kind, {})
    values: dict[str, Any] = {}
    for field in fields(kind):
        if field.name in told:
            own = f"{place}.{field.name}"
            values[field.name] = _read(hints[field.name], told[field.name], own, complaints)
        elif field.name in calm:
            values[field.name] = calm[field.name]
        elif field.default is MISSING:
            complaints.add(place, f"{field.name} is missing")
            values[field.name] = _WRONG
    if any(value is _WRONG for value in values.values()):
        return _WRONG
    return kind(**values)


def _check(facts: Facts, complaints: Complaints) -> None:
    if facts.format != Facts.__dataclass_fields__["format"].default:
        complaints.add("facts.format", f"{facts.format} is not the format of these records")
    if facts.load_ended_ns < facts.load_started_ns:
        complaints.add("facts.load_ended_ns", "the load ends before it starts")
    if facts.deadline_ns < 0:
        complaints.add("facts.deadline_ns", f"{facts.deadline_ns} is below 0")
    _check_workers(facts, complaints)
    _check_windows(facts, complaints)
    queues: set[str] = set()
    for number, queue in enumerate(queue.queue for queue in facts.queues):
        if queue in queues:
            complaints.add(f"facts.queues[{number}].queue", f"{brief(queue)} stands there twice")
        queues.add(queue)
    spans: list[tuple[str, int, int | None]] = []
    spans += [("rivals", one.from_ns, one.until_ns) for one in facts.rivals]
    spans += [("absences", one.from_ns, one.until_ns) for one in facts.absences]
    spans += [("upheavals", one.origin_ns, one.over_ns) for one in facts.upheavals]
    spans += [("process_ends", one.at_ns, one.until_ns) for one in facts.process_ends]
    for number, end in enumerate(facts.process_ends):
        if end.cause not in tuple(Cause):
            complaints.unknown(
                f"facts.process_ends[{number}].cause", "cause", end.cause, tuple(Cause)
            )
    for name, from_ns, until_ns in spans:
        if until_ns is not None and until_ns < from_ns:
            complaints.add(f"facts.{name}", f"one ends at {until_ns}, before it begins")
    clocks = [clock.worker for clock in facts.clocks]
    for number, clock in enumerate(facts.clocks):
        if clock.worker in clocks[:number]:
            text = f"{clock.worker} stands there twice"
            complaints.add(f"facts.clocks[{number}].worker", text)
        if clock.bound_ns < 0:
            complaints.add(f"facts.clocks[{number}].bound_ns", f"{clock.bound_ns} is below 0")


def _check_workers(facts: Facts, complaints: Complaints) -> None:
    numbers: set[int] = set()
    for place, number in enumerate(worker.number for worker in facts.workers):
        if number in numbers:
            complaints.add(f"facts.workers[{place}].number", f"{number} stands there twice")
        if number < 0:
            complaints.add(f"facts.workers[{place}].number", f"{number} is below 0: a canary's")
        numbers.add(number)


def _check_windows(facts: Facts, complaints: Complaints) -> None:
    before_ns = None
    for place, window in enumerate(facts.windows):
        own = f"facts.windows[{place}]"
        if window.number != place + 1:
            text = f"{window.number} is not {place + 1}: windows are numbered from 1, in order"
            complaints.add(f"{own}.number", text)
        if before_ns is not None and window.origin_ns < before_ns:
            complaints.add(f"{own}.origin_ns", "it begins before the window before it")
        before_ns = window.origin_ns
        if window.returned_ns < window.origin_ns:
            complaints.add(f"{own}.returned_ns", "it is before origin_ns")
        if window.ended_ns is not None and window.ended_ns < window.origin_ns:
            complaints.add(f"{own}.ended_ns", "it is before origin_ns")
        if window.over_ns is not None and window.over_ns < window.origin_ns:
            complaints.add(f"{own}.over_ns", "it is before origin_ns")
