"""The protocol of the harness and its workers: one JSON object a line, both ways.

1. The harness speaks first (`hello`); a worker never writes before it was spoken to.
2. Every line has `do` (harness to worker) or `say` (worker to harness).
3. A worker that has not heard a line for SILENCE_LIMIT_S, or whose input ends, stops by itself: it
   closes its log and exits with EXIT_ORPHANED.
4. All times are CLOCK_MONOTONIC nanoseconds of the worker's own clock; logs hold run time
   (clock - origin_ns), and only the harness knows how clocks of other machines relate.

Harness to worker
    {"do": "hello", "packages": ["pika"]}     the Python packages whose versions to report
    {"do": "configure", "config": {...}}      a WorkerConfig; the worker opens its log and connects
    {"do": "start", "at_ns": 123}             load begins at this instant of the worker's clock
    {"do": "stop_load"}                       no new publishes; retries and confirms go on
    {"do": "break_off"}                       interrupted: nothing is sent any more, not even again
    {"do": "close"}                           stop everything, close connections and the log
    {"do": "ping"}                            at least every second
Worker to harness
    {"say": "hello", "boot_id": "...", "monotonic_ns": 1, "suspended_ns": 0, "pid": 7,
     "versions": {"python": "3.11.2", "pika": "1.4.4"}}
    {"say": "ready", "scheduling": ""}        connected (publisher), subscribed (consumer); how the
                                              machine schedules it, if it asked for real time
    {"say": "pong", "monotonic_ns": 1, "suspended_ns": 0}       answers ping
    {"say": "status", "sent": 1, "confirmed": 1, "unknown": 0, "missed": 0, "delivered": 0,
     "outstanding": 0, "at_ns": 1, "late_ns": 0}        twice a second; counts since start, at
                                              this run time; `sent`: attempts; `outstanding`:
                                              publishes that are due, out or to be retried; once
                                              more just before `closed`
     "again": 0, "waiting": 0, "never_sent": 0          in it, of publishers: of `sent`, attempts
                                              after the first; of `outstanding`, publishes due
                                              for 0.1 s and not sent; of `missed`, those never sent
     "seconds": [[12, 100, 98]]               in it, of paced publishers: the seconds of run time
                                              that are final since the last status: how many were
                                              due in each, and confirmed by their deadline
     "next_offset": 7                         in it, of a consumer that keeps its own place in a
                                              log: the first offset that it has not recorded
    {"say": "drained", "queue": "orders", "complete": true, "doubt": ""}      drainer and auditor,
                                              once for each of its queues
     "subscribed": true                       in it, of a drainer: whether it was so at any time
     "next_offset": 7                         in it, of a drainer that keeps its own place in a log
     "next_offsets": [7, 7]                   in it, of who audits such logs: of each endpoint
     "doubts": ["", ""]                       in it, of who reads logs: of each of its endpoints
    {"say": "closed"}                         the log is closed; the process ends
    {"say": "failed", "doubt": "..."}         it cannot go on (a full disk); the process ends

`suspended_ns` = CLOCK_BOOTTIME - CLOCK_MONOTONIC: it grows when the machine is suspended.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from spark_analysis.schema.words import LEVELS

SILENCE_LIMIT_S = 5.0
EXIT_CLOSED = 0
EXIT_FAILED = 70  # it said `failed`
EXIT_ORPHANED = 71  # the harness was lost


class Role(StrEnum):
    PUBLISHER = "publisher"
    CONSUMER = "consumer"
    DRAINER = "drainer"  # the fresh consumer of the drain: reads until nothing is left
    AUDITOR = "auditor"  # reads one place empty
    PROBER = "prober"  # asks, and carries no load; its endpoints are the name servers


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A way into one broker process: what to dial, and which host it leads to."""

    host: str  # the broker host's name ("rmq1"), for the records
    address: str
    port: int


@dataclass(frozen=True, slots=True)
class Driver:
    """What only a worker imports, `module:object` each, and what it must know of the library."""

    client: str  # called with a WorkerConfig it makes a clients.port.Client
    auditor: str  # of one broker's log; "" where what a broker holds is consumed
    prober: str  # of name servers; "" where there are none
    own_threads: bool  # the library works in threads of its own
    packages: tuple[str, ...]  # of Python, that the library may be in
    how_to_get: str


VOTERS = "voters"  # in `own` of a prober: who is asked who leads, and where


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """Everything a worker must know, fixed before it connects. Names are the broker's names."""

    role: Role
    number: int  # producer or consumer number of every record
    run: str
    run_number: int  # 64 bits, into every header
    origin_ns: int  # the run's origin on this worker's clock
    log: str  # the folder of its log, as the worker sees it; must not exist yet
    client: str  # "pika", "rocketmq-java-5.3.3"
    driver: Driver
    queue: str  # the broker's name of it: mqproof.<run>.orders
    queue_word: str  # the scenario's name of it, which the records hold: orders
    endpoints: tuple[Endpoint, ...]  # in order of preference; the first is its entry
    connection_name: str  # mqproof.<run>.<worker>: how the broker lists it
    # Further queues that it serves: the name on the broker and in the scenario of each.
    more_queues: tuple[tuple[str, str], ...] = ()
    index: int = 0  # of those of its role: what is given to them in turn is dealt by it
    # The consumer group that it reads for, of its first queue; "": all consumers are one group.
    group: str = ""
    fans_out: bool = False  # what a publisher sends to are exchanges that each give to many queues
    # publishers
    rate: float | None = None  # publishes a second of a publisher; None is max
    phase: float = 0.0  # 0..1: shift of its intended times, so that publishers interleave
    keys: int = 1
    body_bytes: int = 256
    persistent: bool = True
    confirms: bool = True
    confirm_window: int = 1000  # most sends that may be out
    strength: int = 0  # the level that a confirm of this layout has; 0: it is not known
    levels: tuple[int, ...] = tuple(level.rank for level in LEVELS)  # that a confirm may have
    retry: str = "never"
    deadline_s: float = 5.0
    # consumers
    acknowledge: int = 0  # batch; 0: the broker forgets when it sends
    processing_s: float = 0.0  # that it takes for each message before it acknowledges it
    # How many consumers share the queue when the load begins. A client whose consumers share by
    # themselves is ready when it has its part of all; 0: as soon as it has any.
    members: int = 0
    # The first offset that a consumer or drainer wants, if clients keep their own place in a log
    # (guarantees.CLIENTS). None: brokers know how far consumers have come.
    resume_at: int | None = None
    ways: tuple[int, ...] = ()  # beside mqproof's own, that a delivery or a find may come by
    # drainers and auditors
    quiet_s: float = 2.0
    limit_s: float = 60.0
    # settings of its client's family, for its client only; missing ones have the client's
    # defaults
    own: dict[str, Any] = field(default_factory=dict)

    @property
    def queues(self) -> tuple[tuple[str, str], ...]:
        """Every queue that it serves: the broker's name and the scenario's of each."""
        return ((self.queue, self.queue_word), *self.more_queues)

    def alone(self, queue: tuple[str, str]) -> "WorkerConfig":
        """Return the same for one of its queues."""
        return replace(self, queue=queue[0], queue_word=queue[1], more_queues=())

    @property
    def paced(self) -> bool:
        """It works in small pieces, at the pace of a load that has one."""
        return self.rate is not None and self.role in (Role.PUBLISHER, Role.CONSUMER)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "WorkerConfig":
        parts = dict(document)
        parts["role"] = Role(parts["role"])
        packages = tuple(parts["driver"]["packages"])
        parts["driver"] = Driver(**{**parts["driver"], "packages": packages})
        parts["levels"] = tuple(parts["levels"])
        parts["ways"] = tuple(parts["ways"])
        parts["more_queues"] = tuple((name, word) for name, word in parts["more_queues"])
        parts["endpoints"] = tuple(Endpoint(**endpoint) for endpoint in parts["endpoints"])
        return cls(**parts)


def check(message: Mapping[str, Any]) -> None:
    """Raise ValueError if this is no message of a worker: a field that the harness reads is
    missing, or of another kind."""
    kind = message.get("say")
    if not isinstance(kind, str):
        raise ValueError(f"say is {kind!r}, and has to be a text")
    for name, of_kind in _NEEDED.get(kind, {}).items():
        if name not in message:
            raise ValueError(f"{kind} has no {name}")
        _check_field(kind, name, message[name], of_kind)
    optional = _OPTIONAL.get(kind, {})
    for name in optional.keys() & message.keys():
        _check_field(kind, name, message[name], optional[name])
    if kind == "status":
        for name in message.keys() - {"say", *optional}:
            _check_field(kind, name, message[name], _is_integer)


def _check_field(kind: str, name: str, value: Any, of_kind: Callable[[Any], bool]) -> None:
    if not of_kind(value):
        raise ValueError(f"{name} of {kind} is {value!r:.60}")


def _is_integer(value: Any) -> bool:
    return type(value) is int and abs(value) < 1 << 63


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _are_integers(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_integer, value))


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_seconds(value: Any) -> bool:
    rows: list[Any] = value if isinstance(value, list) else [None]
    return all(_are_integers(row) and len(row) == 3 for row in rows)


def _are_versions(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


_CLOCK = {"monotonic_ns": _is_integer, "suspended_ns": _is_integer}
_NEEDED: Mapping[str, Mapping[str, Callable[[Any], bool]]] = {
    "hello": {"boot_id": _is_text, **_CLOCK, "versions": _are_versions},
    "pong": _CLOCK,
    "drained": {"queue": _is_text, "complete": _is_truth, "doubt": _is_text},
    "failed": {"doubt": _is_text},
    "attached": {"server": _is_text},
}
_OPTIONAL: Mapping[str, Mapping[str, Callable[[Any], bool]]] = {
    "ready": {"scheduling": _is_text},
    "status": {"seconds": _are_seconds},
    "drained": {
        "subscribed": _is_truth,
        "next_offset": _is_integer,
        "next_offsets": _are_integers,
        "doubts": _are_texts,
    },
}


def encode(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """Raises ValueError on anything that is not one JSON object."""
    try:
        message = json.loads(line)
    except RecursionError as error:
        raise ValueError("its values are nested too deeply") from error
    if not isinstance(message, dict):
        raise ValueError(f"not an object: {line!r}")
    return message
