"""The facts of a neutral history, validated against the declaration of the record format.

1. The declaration is `Facts`: its fields, their types, and nothing else.
2. A field may be omitted if it has a neutral default: one that proves nothing. By default a log is
   open, a fault is not verified, and a queue is not drained.
3. Windows are numbered from 1 in their order, and time does not run backwards in any of them.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, cast

from harness.histories.complaints import Complaints
from harness.plan.fault_properties import with_fault_properties
from spark_analysis.schema import sound
from spark_analysis.schema.declared import WRONG, Reader
from spark_analysis.schema.facts import (
    Absence,
    Cause,
    Facts,
    LeadershipChange,
    ProcessEnd,
    QueueEnd,
    Window,
    Worker,
)
from spark_analysis.schema.operation_times import OperationTime

_DEFAULTS: Mapping[type, Mapping[str, Any]] = {
    Facts: {
        "scenario": "",
        "system": "",
        "layout": "",
        "client": "",
        "repeat": 0,
        "load_started_ns": 0,
        "clock_problem": "",
        "workers": (),
        "windows": (),
        "queues": (),
        "competing_leaders": (),
    },
    Worker: {"log_closed": False},
    Window: {"ended_ns": None, "verified": False, "gone": False, "unverified_reason": ""},
    QueueEnd: {"ordered": False, "drained": False, "undrained_reason": "", "unreadable": ()},
    Absence: {"until_ns": None},
    LeadershipChange: {"over_ns": None},
    OperationTime: {"over_ns": None},
    ProcessEnd: {"cause": Cause.UNKNOWN.value, "detail": "", "until_ns": None},
}


def read_facts(document: object, name: str, complaints: Complaints) -> Facts | None:
    """The facts of the run of that name; None where they cannot be known."""
    if isinstance(document, Mapping):
        document = {"run": name, **document}
    facts = Reader(complaints, _DEFAULTS).read(Facts, document, "facts")
    if facts is WRONG:
        return None
    sound.check(cast(Facts, facts), complaints)
    _check_windows(cast(Facts, facts), complaints)
    return with_fault_properties(cast(Facts, facts))


def _check_windows(facts: Facts, complaints: Complaints) -> None:
    apart = {window.number for window in facts.not_begun}
    numbers = (one for one in range(1, len(facts.planned_windows) + 1) if one not in apart)
    for place, (window, number) in enumerate(zip(facts.windows, numbers, strict=False)):
        if window.number != number:
            text = f"{window.number} is not {number}: windows are numbered from 1, in order"
            complaints.add(f"facts.windows[{place}].number", text)
        if window.over_ns is not None and window.over_ns < window.origin_ns:
            complaints.add(f"facts.windows[{place}].over_ns", "it is before origin_ns")
    for place, (before, window) in enumerate(pairwise(facts.windows), 1):
        if window.origin_ns < before.origin_ns:
            own = f"facts.windows[{place}].origin_ns"
            complaints.add(own, "it begins before the window before it")
