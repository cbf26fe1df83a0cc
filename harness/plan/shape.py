"""The shape of a scenario file: its tables and keys, their types, limits and defaults.

1. Every key is checked by itself here; what hangs on several keys is checked in toml.py.
2. A key that is not known is an error: it may hold what the user's verdict hangs on.
3. Nothing is converted silently: `"3"` is no number.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from faults.kinds import KINDS, REGISTRY
from faults.options import OPTIONS
from harness.outside.text import brief
from harness.plan import spans
from harness.plan.clients.rocketmq_checks import CONSUMES, FATES, SENDS
from harness.plan.model import Entry, OperationOptions, Span
from harness.plan.operations import OPERATIONS
from harness.plan.operations import OPTIONS as OPERATION_OPTIONS
from harness.plan.words import parse_target
from spark_analysis.schema.body import HEADER_BYTES

QUEUES_MAX, FAULTS_MAX, OPERATIONS_MAX = 64, 200, 200
_TITLE_MAX, _STORY_MAX = 200, 20_000  # characters
_PATTERN_MAX = 1_000
_WORDS_MAX = 64
QUEUE_NAME = r"^[a-z][a-z0-9_-]{0,30}$"


def _rate(value: object) -> float | None:
    if value == "max":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1e6:
        raise ValueError("must be operations a second (a number over 0) or 'max'")
    return float(value)


def _batch(value: object) -> int:
    if value == "none":
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 65_535:
        raise ValueError("must be the size of a batch (a whole number from 1 on) or 'none'")
    return value


def _entry(value: object) -> Entry:
    if isinstance(value, str):
        target = parse_target(value)
        if target.of_clients or target.of_processes or target.role == "balancer":
            raise ValueError(f"{brief(value)} is no host of a queue: clients cannot enter there")
        return Entry(hosts=(target.host,)) if target.host else Entry(word=value)
    if isinstance(value, list) and len(value) > _WORDS_MAX:
        raise ValueError(f"must have {_WORDS_MAX} hosts at most, not {len(value):,}")
    if isinstance(value, list) and value and all(isinstance(host, str) for host in value):
        return Entry(hosts=tuple(value))
    raise ValueError("must be a target word or a list of hosts' names")


def _target(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a target word")
    return parse_target(value).word


def _word(choices: tuple[str, ...]) -> Callable[[object], str]:
    def word(value: object) -> str:
        if isinstance(value, str) and value in choices:
            return value
        raise PydanticCustomError("no_word", "is none of the words", {"choices": choices})

    return word


def _kind(value: object) -> str:
    spoilt = REGISTRY.spoilt.get(value, "") if isinstance(value, str) else ""
    if spoilt and value not in KINDS:
        raise ValueError(spoilt)
    return _word(tuple(KINDS))(value)


def _heartbeat(value: object) -> int:
    seconds = spans.parse_seconds(value)
    if seconds != int(seconds):
        raise ValueError(f"must be whole seconds (0 s: none), not {brief(value)}")
    return int(seconds)


def _milliseconds(value: object) -> int:
    milliseconds = spans.parse_seconds(value) * 1000
    if milliseconds != int(milliseconds) or not 100 <= milliseconds <= 60_000:
        raise ValueError(f"must be whole milliseconds, from 100 ms to 60 s, not {brief(value)}")
    return int(milliseconds)


def _pattern(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a regular expression in a text")
    if len(value) > _PATTERN_MAX:
        raise ValueError(f"must have {_PATTERN_MAX:,} characters at most, not {len(value):,}")
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{brief(value)} is no regular expression: {error}") from None
    return value


_OWN = OperationOptions()
Length = Annotated[Span, BeforeValidator(spans.parse)]
Seconds = Annotated[float, BeforeValidator(spans.parse_seconds)]
EntryWord = Annotated[Entry, BeforeValidator(_entry)]
Word = Annotated[str, Field(max_length=_PATTERN_MAX)]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # as brokers' JSON has it
QueueName = Annotated[str, Field(pattern=QUEUE_NAME)]


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class AmqpTable(Table):
    mandatory: bool = True
    prefetch: int = Field(default=200, ge=0, le=65_535)
    confirm_window: int = Field(default=1000, ge=1, le=100_000)
    heartbeat: Annotated[int, BeforeValidator(_heartbeat)] = 60
    cancel_on_ha_failover: bool = False


class RocketTable(Table):
    """What hangs on several keys is checked in rocketmq_checks.py."""

    send: Annotated[str, BeforeValidator(_word(SENDS))] = ""  # `confirms` decides
    consume: Annotated[str, BeforeValidator(_word(CONSUMES))] = "concurrent"
    send_timeout: Annotated[int, BeforeValidator(_milliseconds)] = 3000
    threads: int = Field(default=4, ge=1, le=64)
    batch: int = Field(default=32, ge=1, le=1024)
    delayed_percent: int = Field(default=0, ge=0, le=100)
    delay_level: int = Field(default=3, ge=1, le=18)
    transactional_percent: int = Field(default=0, ge=0, le=100)
    fates: list[Annotated[str, BeforeValidator(_word(FATES))]] = Field(
        default=["commit"], min_length=1, max_length=100
    )


class WorkloadTable(Table):
    queues: list[QueueName] = Field(min_length=1, max_length=QUEUES_MAX)
    publishers: int = Field(ge=1, le=64)
    consumers: int = Field(ge=0, le=64)
    keys: int = Field(default=1, ge=1, le=1_000_000)
    rate: Annotated[Any, BeforeValidator(_rate)]
    body_bytes: int = Field(default=256, ge=HEADER_BYTES, le=16_777_216)
    durable: bool = True
    persistent: bool = True
    confirms: bool = True
    retry: Literal["never", "until_confirmed"] = "until_confirmed"
    acknowledge: Annotated[int, BeforeValidator(_batch)] = 1
    deadline: Seconds = 2.0
    publishers_enter: EntryWord = Entry(word="uninvolved")
    consumers_enter: EntryWord = Entry(word="uninvolved")
    amqp: AmqpTable = AmqpTable()
    rocketmq: RocketTable = RocketTable()


class FaultTable(Table):
    """Which of the options a kind takes is checked in toml.py."""

    kind: Annotated[str, BeforeValidator(_kind)]
    target: Annotated[str, BeforeValidator(_target)]
    opens: Length = Span()
    lasts: Length
    returns: bool = True
    clients: Annotated[str, BeforeValidator(_word(OPTIONS["clients"].choices))] = "all"
    direction: Annotated[str, BeforeValidator(_word(OPTIONS["direction"].choices))] = "both"
    shape: Annotated[str, BeforeValidator(_word(OPTIONS["shape"].choices))] = "one"
    resource: Annotated[str, BeforeValidator(_word(OPTIONS["resource"].choices))] = "memory"
    latency: Seconds = 0.0
    rate: int = Field(default=0, ge=1, le=1_000_000)
    bytes: int = Field(default=0, ge=1, le=1_000_000_000)
    down: Seconds = 0.0
    up: Seconds = 0.0


class OperationTable(Table):
    """Which of the options and targets a kind takes is checked in operation_checks.py."""

    kind: Annotated[str, BeforeValidator(_word(tuple(OPERATIONS)))]
    target: Word = ""
    at: Length = Span()
    how: Annotated[str, BeforeValidator(_word(OPERATION_OPTIONS["how"].choices))] = _OWN.how
    waits: Annotated[str, BeforeValidator(_word(OPERATION_OPTIONS["waits"].choices))] = _OWN.waits
    order: Annotated[str, BeforeValidator(_word(OPERATION_OPTIONS["order"].choices))] = _OWN.order
    offline: bool = False
    through: Word = ""
    name: str = Field(default=_OWN.name, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")
    pattern: Annotated[str, BeforeValidator(_pattern)] = _OWN.pattern
    definition: dict[Word, Word | Whole | Annotated[list[Word], Field(max_length=_WORDS_MAX)]] = (
        Field(default={}, max_length=_WORDS_MAX)
    )
    priority: int = Field(default=0, ge=0, le=1_000_000)


class PhasesTable(Table):
    baseline: Length = Span(seconds=12)
    recovery: Length = Span(seconds=15)
    settle: Length = Span(seconds=5, timers=0.5)
    drain_limit: Length = Span(seconds=60)


class ScenarioTable(Table):
    title: str = Field(min_length=1, max_length=_TITLE_MAX)
    story: str = Field(default="", max_length=_STORY_MAX)
    workload: WorkloadTable
    fault: list[FaultTable] = Field(default=[], max_length=FAULTS_MAX)
    operation: list[OperationTable] = Field(default=[], max_length=OPERATIONS_MAX)
    phases: PhasesTable = PhasesTable()
