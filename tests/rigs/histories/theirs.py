"""Histories of tests/conformance as rows, as Jepsen's EDN, and as OpenChaos's file."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.histories.rows import FAULT, Row

MS = 1_000_000
_FOLDER = Path(__file__).parents[2] / "conformance"


def histories(name: str) -> dict[str, dict[str, Any]]:
    document: dict[str, dict[str, Any]] = json.loads((_FOLDER / f"{name}.json").read_text())
    return document


def row(
    at_ms: int,
    client: int,
    f: str,
    ev: str,
    value: Any = None,
    key: str | None = None,
    latency_ms: int | None = None,
) -> Row:
    values = tuple(value) if isinstance(value, list) else value
    latency_ns = None if latency_ms is None else latency_ms * MS
    return Row(at_ms * MS, FAULT if f == FAULT else str(client), f, ev, values, key, latency_ns)


def rows(operations: Iterable[Sequence[Any]]) -> tuple[Row, ...]:
    return tuple(row(*each) for each in operations)


def edn(rows: Iterable[Row]) -> str:
    """One operation a line, as Jepsen writes them."""
    return "".join(
        f"{{:process {one.client}, :type :{one.ev}, :f :{one.f}, :value {_edn(one.value)}, "
        f":time {one.at_ns}, :index {index}}}\n"
        for index, one in enumerate(rows)
    )


def _edn(value: object) -> str:
    if value is None:
        return "nil"
    if isinstance(value, tuple):
        return f"[{' '.join(map(_edn, value))}]"
    return json.dumps(value)
