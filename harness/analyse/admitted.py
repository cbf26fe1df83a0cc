"""The violations that the nodes of a misbehaving cluster admit in their truth logs
(`--misbehave`).

1. A line identifies a message by the head of its body, which holds our run, producer, sequence and
   attempt. Canaries, and messages of another run of the same cluster, are left out.
2. A line that a kill cut in two is no admission, because the act was not done yet.
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.plan.misbehave import TRUTH
from spark_analysis.files.regular import content_of
from spark_analysis.schema.body import Identity, decode
from spark_analysis.schema.declared import parsed

# Lines that tell what became of a message, beside the kinds of misbehaviour.
HELD, REDELIVERED = "held", "redelivered"


@dataclass(frozen=True, slots=True)
class Admission:
    """`kind` was done to that attempt of a message. `by`: what overtook it."""

    kind: str
    message: Identity
    by: Identity | None = None


def read(folder: Path, run_number: int) -> tuple[Admission, ...]:
    """Read the admissions of a run's folder; none if its nodes were honest. Raise ValueError,
    OSError."""
    logs = sorted((folder / TRUTH).glob("*.jsonl"))
    found = (admission for log in logs for admission in _lines(content_of(log)))
    return tuple(it for it in found if it.message.run == run_number and it.message.producer >= 0)


def _lines(log: bytes) -> Iterator[Admission]:
    for line in log.splitlines(keepends=True):
        if not line.endswith(b"\n"):
            continue
        admission = parsed(line)
        try:
            kind, message = admission["kind"], _identity(admission["head"])
            by = _identity(admission["by"]) if admission["by"] is not None else None
        except (KeyError, TypeError) as error:
            raise ValueError(f"no line of a truth log: {line[:80]!r}") from error
        if message is not None:
            yield Admission(kind, message, by)


def _identity(head: str) -> Identity | None:
    """Return the identity in a body; None if it is not ours (a canary's)."""
    return decode(base64.b64decode(head)).identity
