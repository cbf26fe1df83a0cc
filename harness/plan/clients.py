"""What each client can do, and why not the rest: what is missing is NOT APPLICABLE.

1. A capability is a thing that a workload may ask for, or that a claim may need to be judged.
2. Pure, and about libraries as they are; what is installed here is doctor's to say.
3. A native client of another build finds out at its start, by what its library exports.
4. How pika sends and consumes is no choice of a workload; only what would be another workload
   without it is asked of pika.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from harness.plan.model import Layout, Workload
from harness.plan.rocketmq_layout import POLL_DEFAULT_S

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
    "transient": "queues and messages that need not outlive their broker",
}
_RECORD_MAX = 4_194_304  # maxMessageSize, of brokers and of Java's clients
DRAINS_FOR_OTHERS = "rocketmq-java-4.9.8"  # where a client cannot tell what its group has left

_NO_AUTO_ACK = "a log keeps what it has; a group's offset moves only by what was consumed"
_LOGS: Mapping[str, str] = {
    "acknowledge nothing": _NO_AUTO_ACK,
    "transient": "every message goes into the broker's log",
}
_AMQP: Mapping[str, str] = {
    "delayed": "AMQP 0-9-1 knows no delay",
    "transaction": "transactions of AMQP 0-9-1 are of a channel, and nobody asks for a fate later",
}
_NATIVE: Mapping[str, str] = {
    **_LOGS,
    "one attempt": "its C interface sets no number of attempts for sync sends, and tells none",
    "proof": "a failure is a text without a code, and an inner attempt may have been stored",
    "attached": "it tells nobody; the first of its list until that fails it",
    "settings": "it reads no system properties, and its C interface sets time-outs and sizes only",
    "pull": "its pull consumer mixes up two brokers' queues of the same number",
    "remaining": "its C interface asks no broker for offsets",
    "place": "its library does not export GetMessageBrokerName",
    "transaction": "we drive none: the library of 0.4.4 exports no CreateTransactionProducer",
}


@dataclass(frozen=True, slots=True)
class RocketClient:
    """One client library, `name` as an experiment names it."""

    name: str
    title: str
    cannot: Mapping[str, str] = field(default_factory=dict)  # capability -> why
    body_max: int = _RECORD_MAX  # bytes
    body_why: str = "maxMessageSize, of the library and of brokers"


def _java(version: str) -> RocketClient:
    title = f"Apache RocketMQ's Java client {version}, unmodified, through JPype"
    return RocketClient(f"rocketmq-java-{version}", title, _LOGS)


CLIENTS: Mapping[str, RocketClient] = {
    client.name: client
    for client in (
        *(_java(version) for version in ("4.9.0", "4.9.8", "5.2.0", "5.3.3")),
        RocketClient(
            "rocketmq-native",
            "the C++ client that the Python package `rocketmq` 0.4.4 brings, through ctypes",
            _NATIVE,
            _RECORD_MAX - 65_536,
            "a broker counts topic and properties, too, and bodies are sent undeflated",
        ),
    )
}


def asks_name_servers(client: str) -> bool:
    """It knows name servers, who tell it where brokers are; of hosts to enter it knows nothing."""
    return client in CLIENTS


def drains_by(client: str) -> str:
    """The client that reads empty what this one's consumers left."""
    known = CLIENTS.get(client)
    return DRAINS_FOR_OTHERS if known and "remaining" in known.cannot else client


def wanted(workload: Workload) -> list[str]:
    """The capabilities that a workload asks for, whoever carries it."""
    own = workload.rocketmq
    asked = {
        own.send: workload.publishers > 0,
        own.consume: workload.consumers > 0,
        "delayed": own.delayed_percent > 0,
        "transaction": own.transactional_percent > 0,
        "acknowledge nothing": workload.consumers > 0 and workload.acknowledge == 0,
        "transient": not (workload.durable and workload.persistent),
    }
    return [capability for capability, is_asked in asked.items() if is_asked]


def wanted_by(layout: Layout) -> list[str]:
    """The capabilities that a layout's own timers and flags ask for."""
    told = layout.rocketmq
    set_up = told and (told.timers.poll_s != POLL_DEFAULT_S or told.client_jvm)
    return ["settings"] if set_up else []


def size_obstacles(client: str, workload: Workload) -> list[str]:
    """Why this client cannot send the workload's bodies. AMQP splits a body into frames."""
    known = CLIENTS.get(client)
    if known is None or workload.body_bytes <= known.body_max:
        return []
    return [
        f"{client} takes bodies of at most {known.body_max} bytes, not {workload.body_bytes}: "
        f"{known.body_why}"
    ]


def obstacles(client: str, asked: Iterable[str]) -> list[str]:
    """Every reason why this client cannot do what is asked; each of `asked` is a capability."""
    known = CLIENTS.get(client)
    cannot = known.cannot if known else _AMQP
    reasons = []
    for capability in asked:
        assert capability in CAPABILITIES, capability
        if capability in cannot:
            reasons.append(f"{client} cannot do {capability}: {cannot[capability]}")
    return reasons
