"""The shape of a scenario file: its tables and keys, their types, limits and defaults.

Every key is checked by itself here; toml.py checks several keys together.
"""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from faults.kinds import KINDS, REGISTRY
from faults.options import OPTIONS
from harness.outside.text import brief
from harness.plan import spans
from harness.plan.model import BootstrapAddress, Duration, OperationOptions
from harness.plan.operations import OPERATIONS
from harness.plan.operations import OPTIONS as OPERATION_OPTIONS
from harness.plan.tables import Table, word
from harness.plan.targets import parse_target
from spark_analysis.schema.body import HEADER_BYTES

QUEUES_MAX, FAULTS_MAX, OPERATIONS_MAX = 64, 200, 200
_TITLE_MAX, _STORY_MAX = 200, 20_000  # characters
_PATTERN_MAX = 1_000
_WORDS_MAX = 64
HOST_NAME = r"^([A-Za-z0-9][A-Za-z0-9.-]{0,62})?$"
QUEUE_NAME = r"^[a-z][a-z0-9_-]{0,30}$"


def _rate(value: object) -> float | None:
    if value == "max":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1e6:
        raise ValueError("must be publishes a second (a number over 0) or 'max'")
    return float(value)


def _batch(value: object) -> int:
    if value == "none":
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 65_535:
        raise ValueError("must be the size of a batch (a whole number from 1 on) or 'none'")
    return value


def _entry(value: object) -> BootstrapAddress:
    if isinstance(value, str):
        target = parse_target(value)
        if target.of_clients or target.of_processes or target.fault or target.role == "balancer":
            raise ValueError(f"{brief(value)} is no host of a queue: clients cannot enter there")
        return (
            BootstrapAddress(hosts=(target.host,)) if target.host else BootstrapAddress(word=value)
        )
    if isinstance(value, list) and len(value) > _WORDS_MAX:
        raise ValueError(f"must have {_WORDS_MAX} hosts at most, not {len(value):,}")
    if isinstance(value, list) and value and all(isinstance(host, str) for host in value):
        return BootstrapAddress(hosts=tuple(value))
    raise ValueError("must be a target word or a list of hosts' names")


def _target(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a target word")
    return parse_target(value).word


def _kind(value: object) -> str:
    spoilt = REGISTRY.spoilt.get(value, "") if isinstance(value, str) else ""
    if spoilt and value not in KINDS:
        raise ValueError(spoilt)
    return word(tuple(KINDS))(value)


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
Length = Annotated[Duration, BeforeValidator(spans.parse)]
Seconds = Annotated[float, BeforeValidator(spans.parse_seconds)]
EntryWord = Annotated[BootstrapAddress, BeforeValidator(_entry)]
Word = Annotated[str, Field(max_length=_PATTERN_MAX)]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # as brokers' JSON has it
QueueName = Annotated[str, Field(pattern=QUEUE_NAME)]


class WorkloadTable(Table):
    """Without the sections of clients' families, which declare them (clients/section.py)."""

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
    publisher_endpoint: EntryWord = BootstrapAddress(word="uninvolved")
    consumer_endpoint: EntryWord = BootstrapAddress(word="uninvolved")
    declared_at: str = Field(default="", pattern=HOST_NAME)


class FaultTable(Table):
    """Which of the options a kind takes is checked in toml.py."""

    kind: Annotated[str, BeforeValidator(_kind)]
    target: Annotated[str, BeforeValidator(_target)]
    opens: Length = Duration()
    lasts: Length
    returns: bool = True
    clients: Annotated[str, BeforeValidator(word(OPTIONS["clients"].choices))] = "all"
    direction: Annotated[str, BeforeValidator(word(OPTIONS["direction"].choices))] = "both"
    shape: Annotated[str, BeforeValidator(word(OPTIONS["shape"].choices))] = "one"
    resource: Annotated[str, BeforeValidator(word(OPTIONS["resource"].choices))] = "memory"
    latency: Seconds = 0.0
    rate: int = Field(default=0, ge=1, le=1_000_000)
    bytes: int = Field(default=0, ge=1, le=1_000_000_000)
    down: Seconds = 0.0
    up: Seconds = 0.0


class OperationTable(Table):
    """Which of the options and targets a kind takes is checked in operation_checks.py."""

    kind: Annotated[str, BeforeValidator(word(tuple(OPERATIONS)))]
    target: Word = ""
    at: Length = Duration()
    how: Annotated[str, BeforeValidator(word(OPERATION_OPTIONS["how"].choices))] = _OWN.how
    waits: Annotated[str, BeforeValidator(word(OPERATION_OPTIONS["waits"].choices))] = _OWN.waits
    order: Annotated[str, BeforeValidator(word(OPERATION_OPTIONS["order"].choices))] = _OWN.order
    offline: bool = False
    through: Word = ""
    name: str = Field(default=_OWN.name, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")
    pattern: Annotated[str, BeforeValidator(_pattern)] = _OWN.pattern
    definition: dict[Word, Word | Whole | Annotated[list[Word], Field(max_length=_WORDS_MAX)]] = (
        Field(default={}, max_length=_WORDS_MAX)
    )
    priority: int = Field(default=0, ge=0, le=1_000_000)


class PhasesTable(Table):
    baseline: Length = Duration(seconds=12)
    recovery: Length = Duration(seconds=15)
    settle: Length = Duration(seconds=5, timers=0.5)
    drain_limit: Length = Duration(seconds=60)


class ScenarioTable(Table):
    title: str = Field(min_length=1, max_length=_TITLE_MAX)
    story: str = Field(default="", max_length=_STORY_MAX)
    workload: WorkloadTable
    fault: list[FaultTable] = Field(default=[], max_length=FAULTS_MAX)
    operation: list[OperationTable] = Field(default=[], max_length=OPERATIONS_MAX)
    phases: PhasesTable = PhasesTable()
