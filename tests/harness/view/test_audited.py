"""What the audit of logs came to, in a sentence or two."""

from pathlib import Path

import pytest

from harness.run_folder.manifest import AuditStart
from harness.run_folder.rows import Probe
from harness.view.observations import SHOWN_MAX, audit, describe, starts


def probe(kind: str, target: str, detail: str, ok: bool = True) -> Probe:
    return Probe(6, kind, target, 0, 1, int(ok), detail)


def lines(*probes: Probe) -> list[tuple[bool, str]]:
    return [(one.judged, one.text) for one in describe(probes)]


def test_read_logs_and_final_offsets_are_two_short_sentences() -> None:
    assert lines(
        probe("queue read", "rkt1 orders/0", "offsets 0 to 9: 9 messages"),
        probe("log read", "rkt3", "positions 0 to 900: 9 messages"),
        probe("consumer offset", "rkt1 orders/0 readers", "committed 9 of 9, 0 behind"),
    ) == [
        (True, "audit: the logs of rkt1, rkt3 were read from their start"),
        (True, "consumers' offsets after the drain: 1 of 1 at the end of their queue"),
    ]


def test_unreadable_queue_is_named_with_its_reason() -> None:
    (line,) = lines(
        probe("queue read", "rkt1 orders/0", "offsets 0 to 9: 9 messages"),
        probe("queue read", "rkt1 orders/1", "no answer within 20 s", ok=False),
    )
    assert line == (
        False,
        "audit: the logs of rkt1 were read from their start, 1 of 2 not read whole; "
        "rkt1 orders/1: no answer within 20 s",
    )


def test_offsets_before_the_end_are_reported_and_counted() -> None:
    away = [
        probe("consumer offset", f"rkt4 orders/{n} g", "committed 9 of 4, 5 beyond its end", False)
        for n in range(SHOWN_MAX + 2)
    ]
    (_, (judged, text)) = lines(probe("queue read", "rkt4 orders/0", "offsets 0 to 4"), *away)
    assert judged
    assert text.startswith(
        "consumers' offsets after the drain: 0 of 6 at the end of their queue; "
    )
    assert "rkt4 orders/0 g: committed 9 of 4, 5 beyond its end" in text
    assert text.endswith("; and 2 more")


def test_a_queue_without_any_commit_counts_and_is_named() -> None:
    (_, (_, text)) = lines(
        probe("queue read", "rkt1 orders/0", "offsets 0 to 9: 9 messages"),
        probe("consumer offset", "rkt1 orders/0 readers", "committed 9 of 9, 0 behind"),
        probe("consumer offset", "rkt1 orders/1 readers", "never committed of 5, 5 behind", False),
    )
    assert text == (
        "consumers' offsets after the drain: 1 of 2 at the end of their queue; "
        "rkt1 orders/1 readers: never committed of 5, 5 behind"
    )


def test_run_without_broker_logs_says_nothing_about_them(tmp_path: Path) -> None:
    assert audit(tmp_path) == ()
    assert lines(probe("verified", "rmq1", "the process ended")) == []


def start(**changes: object) -> AuditStart:
    parts: dict[str, object] = {
        "place": "rmq2",
        "found": "its process has ended with exit code 1",
        "issued_ns": 93_100_000_000,
        "answered_ns": 101_300_000_000,
        "detail": "synchronised mirror of orders",
    }
    return AuditStart(**(parts | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            start(),
            (
                True,
                "auditor: rmq2 had not come back by itself: its process has ended with exit code "
                "1. It was started for the audit at +93.1 s, answered after 8.2 s, and was then: "
                "synchronised mirror of orders",
            ),
        ),
        (
            start(answered_ns=None, detail="its process ended again, with exit code 1"),
            (
                False,
                "auditor: rmq2 had not come back by itself: its process has ended with exit code "
                "1. It was started for the audit at +93.1 s and did not answer: its process ended "
                "again, with exit code 1",
            ),
        ),
        (
            AuditStart("rmq2", left="operation 1 (stop_node) left it down"),
            (
                False,
                "auditor: rmq2 had not come back by itself and was left so: operation 1 "
                "(stop_node) left it down",
            ),
        ),
    ],
)
def test_nodes_that_the_auditor_started_are_reported(
    record: AuditStart, expected: tuple[bool, str]
) -> None:
    assert [(one.judged, one.text) for one in starts([record])] == [expected]
