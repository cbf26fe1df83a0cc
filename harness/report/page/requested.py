"""When a fault was to begin: at its own time, but not before what it waits for was over.

An earlier fault or operation that is planned to be over by then delays it; the planned pause
between the two is kept. Of two faults that overlap on purpose neither waits for the other.
"""

from collections.abc import Iterator
from typing import NamedTuple

from harness.report.page import formats
from harness.view.timeline import FaultSpan, OperationSpan

NS = 1e9


class Wait(NamedTuple):
    """What a fault waits for, and until when, with the planned pause; None: not recorded."""

    text: str
    until_ns: int | None


class Beginning(NamedTuple):
    """`text`: when it was to begin. `at_ns`: the earliest time; None: not known."""

    text: str
    at_ns: int | None


def beginning(
    span: FaultSpan, faults: tuple[FaultSpan, ...], operations: tuple[OperationSpan, ...]
) -> Beginning:
    """`faults`, `operations`: all of the run. The plan must contain the fault."""
    from_ns = span.requested_from_ns
    assert from_ns is not None, span
    at = formats.after(from_ns)
    waits = [*_faults_before(span, from_ns, faults), *_operations_before(from_ns, operations)]
    if not waits:
        return Beginning(f"from {at}", from_ns)
    unknown = [one for one in waits if one.until_ns is None]
    if unknown:
        return Beginning(f"from the later of {at} and the time when {unknown[-1].text}", None)
    last = max(waits, key=lambda one: one.until_ns or 0)
    if last.until_ns is None or last.until_ns <= from_ns:
        return Beginning(f"from {at}", from_ns)
    text = f"from the later of {at} and {formats.after(last.until_ns)} ({last.text})"
    return Beginning(text, last.until_ns)


def _faults_before(span: FaultSpan, from_ns: int, faults: tuple[FaultSpan, ...]) -> Iterator[Wait]:
    for one in faults:
        until_ns = one.requested_until_ns
        if one.number >= span.number or until_ns is None or until_ns > from_ns or not one.opened:
            continue
        if one.gone is None:
            yield Wait(f"fault {one.number} was over", None)
            continue
        over = "was verified ended" if one.gone.ok else "was checked for its end"
        yield _wait(f"fault {one.number} {over}", one.gone.at_ns, from_ns - until_ns)


def _operations_before(from_ns: int, operations: tuple[OperationSpan, ...]) -> Iterator[Wait]:
    for one in operations:
        if one.requested_ns is None or one.requested_ns >= from_ns:
            continue
        over = f"operation {one.number} had returned"
        if one.returned_ns is None:
            yield Wait(over, None)
        else:
            yield _wait(over, one.returned_ns, from_ns - one.requested_ns)


def _wait(over: str, at_ns: int, pause_ns: int) -> Wait:
    pause = f"{formats.seconds(pause_ns / NS)} after " if pause_ns else ""
    return Wait(f"{pause}{over}", at_ns + pause_ns)
