"""Failures in Jepsen's files, in words of many clients: some may have happened, others not.
What must be said follows from harness/histories/README.md."""

import pytest

from tests.rigs.histories.claim_names import DELIVERED, REFUSED
from tests.rigs.histories.foreign_files import DRAINED, ForeignCase, ops, sent

CLOSE = "#method<connection.close>(reply-code=320, reply-text=CONNECTION_FORCED - stopped)"
# Each request may have arrived. Java's client of RabbitMQ, Linux, Node, gRPC, Python.
MAY_HAVE_HAPPENED = (
    f'"connection error; protocol method: {CLOSE}"',
    '"clean channel shutdown; protocol method: #method<channel.close>(reply-code=541)"',
    '"Software caused connection abort: socket write error"',
    '[:io "write EPIPE"]',
    '"socket hang up"',
    '"DEADLINE_EXCEEDED: context deadline exceeded"',
    '"UNAVAILABLE: io exception"',
    '"No response from broker-a"',
    '"Connection lost"',
    "{:type :cancelled}",
    '"No route to host"',
)
# Nothing was sent, or the broker said no.
DID_NOT_HAPPEN = (
    '"connect ECONNREFUSED 10.0.0.1:5672"',
    '"Connection refused (Connection refused)"',
    ":not-leader",
    "\"NOT_FOUND - no queue 'jepsen.queue' in vhost '/'\"",
    '"ACCESS_REFUSED"',
    '[:rejected "queue is full"]',
    "nil",
)


def failed(error: str, f: str = "enqueue", key: str = ":error") -> str:
    """Value 1 is enqueued, or something dequeued, and that fails with this error."""
    value = "1" if f == "enqueue" else "nil"
    text = ops(f"5 invoke {f} {value}\n5 fail {f} {value}", sent(2), DRAINED)
    return text.replace(":type :fail", f":type :fail, {key} {error}")


def came(text: str, value: int = 1) -> str:
    """The drain brings that value, and 2."""
    return text.replace(":f :drain, :value []", f":f :drain, :value [{value} 2]")


def judged(text: str) -> list[str]:
    """Return what differs from a history in which nothing is wrong."""
    return [*ForeignCase(lambda: text, "jepsen", "", "", "", {}).differences()]


@pytest.mark.parametrize("error", MAY_HAVE_HAPPENED)
@pytest.mark.parametrize("key", [":error", ":exception"])
def test_what_failed_with_its_connection_may_have_happened(error: str, key: str) -> None:
    assert judged(came(failed(error, key=key))) == ["it counts {'revived': 1}"]


@pytest.mark.parametrize("error", MAY_HAVE_HAPPENED)
def test_a_dequeue_that_failed_with_its_connection_may_have_taken_one(error: str) -> None:
    assert judged(failed(error, "dequeue")) == ["it counts {'loss_unknown consumer_log': 1}"]


@pytest.mark.parametrize("error", DID_NOT_HAPPEN)
def test_what_was_refused_did_not_happen(error: str) -> None:
    found = judged(came(failed(error)))
    assert found == [
        "it counts {'refused_but_delivered refused': 1}",
        f"FAIL of ['{REFUSED}']",
    ]


@pytest.mark.parametrize("error", DID_NOT_HAPPEN)
def test_a_dequeue_that_was_refused_took_nothing(error: str) -> None:
    assert judged(failed(error, "dequeue")) == [
        "it counts {'lost none': 1}",
        f"FAIL of ['{DELIVERED}']",
    ]
