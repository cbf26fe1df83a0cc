"""What each RocketMQ client can do, and why not the rest: what is missing is NOT APPLICABLE.

1. A capability is a thing that a workload may ask for, or that a claim may need to be judged.
2. Pure, and about libraries as they are; what is installed here is doctor's to say.
3. A native client of another build finds out at its start, by what its library exports.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

CAPABILITIES: Mapping[str, str] = {
    "sync": "a call waits for its answer",
    "async": "a callback tells the answer",
    "oneway": "fire and forget",
    "ordered": "a key keeps to one queue, one send after the other",
    "transaction": "half message, commit or rollback, and the broker's check",
    "delayed": "delivered when a level's time has passed",
    "concurrent": "push consumer, messages side by side",
    "orderly": "push consumer, a queue's messages one after the other",
    "pull": "lite pull: the client assigns queues, the application polls",
    "acknowledge": "nothing counts as consumed before it is on record",
    "remaining": "what its group has not consumed yet, for the drain",
    "place": "which broker a delivery came from",
    "one attempt": "the library's own retries are off: one send is one attempt",
    "proof": "a failed send says by code whether it may have happened",
    "attached": "which name server the client asks now",
    "settings": "timers and flags of the library, by system property or setter",
    "acknowledge nothing": "the broker forgets when it sends",
}

_NO_AUTO_ACK = "a log keeps what it has; a group's offset moves only by what was consumed"
_JAVA: Mapping[str, str] = {"acknowledge nothing": _NO_AUTO_ACK}
_NATIVE: Mapping[str, str] = {
    "acknowledge nothing": _NO_AUTO_ACK,
    "one attempt": "its C interface sets no number of attempts for sync sends, and tells none",
    "proof": "a failure is a text without a code, and an inner attempt may have been stored",
    "attached": "it tells nobody; the first of its list until that fails it",
    "settings": "it reads no system properties, and its C interface sets time-outs only",
    "pull": "its pull consumer mixes up two brokers' queues of the same number",
    "remaining": "its C interface asks no broker for offsets",
    "place": "its library does not export GetMessageBrokerName",
}


@dataclass(frozen=True, slots=True)
class RocketClient:
    """One client library, `name` as an experiment names it."""

    name: str
    title: str
    cannot: Mapping[str, str] = field(default_factory=dict)  # capability -> why


def _java(version: str) -> RocketClient:
    title = f"Apache RocketMQ's Java client {version}, unmodified, through JPype"
    return RocketClient(f"rocketmq-java-{version}", title, _JAVA)


CLIENTS: Mapping[str, RocketClient] = {
    client.name: client
    for client in (
        *(_java(version) for version in ("4.9.0", "4.9.8", "5.2.0", "5.3.3")),
        RocketClient(
            "rocketmq-native",
            "the C++ client that the Python package `rocketmq` 0.4.4 brings, through ctypes",
            {**_NATIVE, "transaction": "its library does not export CreateTransactionProducer"},
        ),
    )
}


def obstacles(client: str, wanted: Iterable[str]) -> list[str]:
    """Every reason why this client cannot do what is wanted; each `wanted` is a capability."""
    known = CLIENTS[client]
    reasons = []
    for capability in wanted:
        assert capability in CAPABILITIES, capability
        if capability in known.cannot:
            reasons.append(f"{client} cannot do {capability}: {known.cannot[capability]}")
    return reasons
