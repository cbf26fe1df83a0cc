"""The options of a RocketMQ client beyond those of every worker.

1. Words are checked where they are made; a worker that gets one it does not know dies.
2. `settings` are the library's own setters by name (`pollNameServerInterval`), `producer_settings`
   those of producers alone (`sendLatencyFaultEnable`); `jvm` are flags and properties
   (`-Dcom.rocketmq.remoting.client.closeSocketIfTimeout=false`). All reach the unmodified library
   as they are. What counts inner attempts cannot be set.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from harness.workers.protocol import Role, WorkerConfig

LANES_MAX = 128  # threads of a producer whose sends block: at 20 ms each, 6,400 a second
_NOT_IN_NAMES = re.compile(r"[^%a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True)
class RocketOptions:
    """Of producers and consumers alike; each reads its own."""

    producer: str = "async"  # sync, async, oneway or ordered
    consumer: str = "concurrent"  # concurrent, orderly or pull
    send_timeout_ms: int = 3000
    delayed_percent: int = 0  # of the sequences
    delay_level: int = 1  # of those: 1 to 18
    transactional_percent: int = 0  # of the sequences, others than those that are delayed
    fates: tuple[str, ...] = ("commit",)  # of transactions, in turn: rocketmq_terms.FATES
    threads: int = 4  # that consume
    batch: int = 32  # messages a pull and a call of the listener, at most
    settings: tuple[tuple[str, str], ...] = ()
    producer_settings: tuple[tuple[str, str], ...] = ()
    jvm: tuple[str, ...] = ()
    # Hosts whose name server they must ask when they begin, in turn; none: whichever they choose.
    publishers_attach: tuple[str, ...] = ()
    consumers_attach: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "RocketOptions":
        """What WorkerConfig.own says."""
        lists = {key: tuple(document[key]) for key in _LISTS if key in document}
        pairs = {key: tuple(map(tuple, document[key])) for key in _PAIRS if key in document}
        return cls(**{**document, **lists, **pairs})


_LISTS = ("fates", "jvm", "publishers_attach", "consumers_attach")
_PAIRS = ("settings", "producer_settings")


def window(options: RocketOptions, wanted: int) -> int:
    """How many sends may be out: where one may block a thread, no more than there are threads, so
    that what is on record as sent does not wait in a queue of ours."""
    blocks = options.producer != "async" or options.transactional_percent > 0
    return min(wanted, LANES_MAX) if blocks else wanted


def attach_to(options: RocketOptions, role: Role, index: int) -> str:
    """The host whose name server the worker of this role and number must ask, from 0; "" for any.

    Drainers, auditors and probers connect to any that accepts them."""
    wanted = {Role.PUBLISHER: options.publishers_attach, Role.CONSUMER: options.consumers_attach}
    hosts = wanted.get(role, ())
    return hosts[index % len(hosts)] if hosts else ""


def group(topic: str, whose: str) -> str:
    """The group of a topic's `writers` or `readers`."""
    return f"{_NOT_IN_NAMES.sub('_', topic)}_{whose}"


def reading(consumer_group: str) -> str:
    """Whose a reader's group is: of several consumer groups each has one of its own."""
    return f"readers_{consumer_group}" if consumer_group else "readers"


def readers(config: WorkerConfig) -> str:
    """The group of a worker that reads its topic: a consumer, a drainer or an auditor."""
    return group(config.queue, reading(config.group))


class Address(Protocol):
    @property
    def address(self) -> str: ...

    @property
    def port(self) -> int: ...


def name_servers(endpoints: Iterable[Address]) -> str:
    """As both libraries want them."""
    return ";".join(f"{each.address}:{each.port}" for each in endpoints)
