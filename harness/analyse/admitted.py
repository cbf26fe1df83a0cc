"""What the nodes of a misbehaving cluster admit in their truth logs (`--misbehave`).

1. A line tells a message by the head of its body: run, producer, sequence and attempt are ours to
   read there. Canaries, and what belongs to another run of the same cluster, are left out.
2. What a kill cut in two was not done yet, so it is no admission.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.plan.misbehave import TRUTH
from spark_analysis.schema.body import Identity, decode

# Lines that tell what became of a message, beside the kinds of misbehaviour.
HELD, REDELIVERED = "held", "redelivered"


@dataclass(frozen=True, slots=True)
class Admission:
    """`kind` was done to that attempt of a message. `by`: what overtook it."""

    kind: str
    message: Identity
    by: Identity | None = None


def read(folder: Path, run_number: int) -> tuple[Admission, ...]:
    """Of a run's folder; nothing where its nodes were honest. Raises ValueError, OSError."""
    logs = sorted((folder / TRUTH).glob("*.jsonl"))
    found = (admission for log in logs for admission in _lines(log.read_bytes()))
    return tuple(it for it in found if it.message.run == run_number and it.message.producer >= 0)


def _lines(log: bytes) -> Iterator[Admission]:
    for line in log.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            continue
        told = json.loads(line)
        try:
            kind, message = told["kind"], _identity(told["head"])
            by = _identity(told["by"]) if told["by"] is not None else None
        except (KeyError, TypeError) as error:
            raise ValueError(f"no line of a truth log: {line[:80]!r}") from error
        if message is not None:
            yield Admission(kind, message, by)


def _identity(head: str) -> Identity | None:
    """None where a body is none of ours (a canary's)."""
    return decode(base64.b64decode(head)).identity
