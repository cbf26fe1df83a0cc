"""A small neutral history that is judged without a doubt, to be damaged in one place a test."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from harness.histories.history import Words

S = 1_000_000_000
WORDS = Words(
    declared={"copies": float, "confirms": bool, "retry": str},
    recorded={"fault_target_role": str, "mirrors_at_fault": float},
)
_DOCUMENT: dict[str, Any] = {
    "format": "mqproof-history/2",
    "name": "small",
    "story": "two messages, one fault",
    "explanation": "nothing is lost",
    "facts": {
        "load_started_ns": 0,
        "load_ended_ns": 10 * S,
        "deadline_ns": S,
        "paced": True,
        "confirms": True,
        "workers": [
            {"number": 1, "role": "publisher", "log_closed": True},
            {"number": 2, "role": "consumer", "log_closed": True},
        ],
        "windows": [
            {
                "number": 1,
                "kind": "kill",
                "origin_ns": 2 * S,
                "returned_ns": 2 * S,
                "ended_ns": 5 * S,
                "verified": True,
                "gone": True,
            }
        ],
        "queues": [{"queue": "orders", "ordered": True, "drained": True}],
    },
    "declared": {"copies": 3, "confirms": True, "retry": None},
    "recorded": {"1": {"fault_target_role": "master", "mirrors_at_fault": 2}},
    "tables": {
        "attempts": {
            "rows": 2,
            "columns": {
                "producer": 1,
                "sequence": [0, 1],
                "attempt": 1,
                "queue": "orders",
                "key": 0,
                "intended_ns": [S, None],
                "sent_ns": [S, 3 * S],
                "connection": 1,
            },
        },
        "settlements": {
            "rows": 2,
            "columns": {
                "producer": 1,
                "sequence": [0, 1],
                "attempt": 1,
                "settled_ns": [S + 5, 3 * S + 5],
                "outcome": ["confirmed", "refused"],
                "strength": ["replicated", None],
            },
        },
        "deliveries": {
            "rows": 1,
            "columns": {
                "consumer": 2,
                "producer": 1,
                "sequence": [0],
                "attempt": 1,
                "received_ns": [S + 9],
                "queue": "orders",
                "redelivered": "no",
                "header_ok": 1,
                "payload_ok": 1,
                "run_ok": 1,
                "via": "load",
                "connection": 1,
                "tag": [1],
            },
        },
        "faults": {
            "rows": 1,
            "columns": {"window": 1, "event": "undo_issued", "at_ns": 4 * S},
        },
    },
    "must": {"counts": {"lost": 0}},
}


def document(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The document, with other values at some places (`facts.windows.0.kind`); `...` takes the
    place out."""
    found = deepcopy(_DOCUMENT)
    for place, value in (changes or {}).items():
        *path, last = place.split(".")
        inside: Any = found
        for step in path:
            inside = inside[int(step) if isinstance(inside, list) else step]
        key = int(last) if isinstance(inside, list) else last
        if value is ...:
            del inside[key]
        else:
            inside[key] = value
    return found
