"""The shape of a scenario file: its tables and keys, their types, limits and defaults.

Every key is checked by itself here; toml.py checks several keys together.
"""

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, create_model

from faults.kinds import KINDS, REGISTRY
from harness.outside.text import brief
from harness.plan import distribution
from harness.plan.files import fault_options, spans
from harness.plan.files.fault_options import Seconds
from harness.plan.files.spans import Duration
from harness.plan.files.tables import OneOf, Table, fixed_length
from harness.plan.files.targets import (
    ENDPOINTS,
    HOST_NAME,
    QUEUE_NAME,
    UNINVOLVED,
    Target,
    parse_target,
)
from harness.plan.operation_options import HOW, NAME, ORDER, PATTERN, WAITS
from harness.plan.operations import OPERATIONS
from harness.plan.workload import BootstrapAddress
from spark_analysis.schema.body import HEADER_BYTES

QUEUES_MAX, FAULTS_MAX, OPERATIONS_MAX = 256, 200, 200
GROUPS_MAX = 16
PROCESSING_MAX_S = 10.0
_TITLE_MAX, _STORY_MAX = 200, 20_000  # characters
_PATTERN_MAX = 1_000
_WORDS_MAX = 64


def _rate(value: object) -> float | None:
    if value == "max":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1e6:
        raise ValueError("must be publishes a second (a number over 0) or 'max'")
    return float(value)


def _queues(value: object) -> object:
    if isinstance(value, list):
        return value
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= QUEUES_MAX:
        raise ValueError(f"must be a list of names, or a number from 1 to {QUEUES_MAX}")
    return distribution.generated(value)


def _groups(value: object) -> object:
    if isinstance(value, list) and value:
        return value
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= GROUPS_MAX:
        raise ValueError(f"must be a list of names, or a number from 1 to {GROUPS_MAX}")
    return distribution.generated_groups(value)


def _batch(value: object) -> int:
    if value == "none":
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 65_535:
        raise ValueError("must be the size of a batch (a whole number from 1 on) or 'none'")
    return value


def _processing(value: object) -> float:
    seconds = spans.parse_seconds(value)
    if seconds and not 0.001 <= seconds <= PROCESSING_MAX_S:
        raise ValueError(
            f"must be from 1 ms to {PROCESSING_MAX_S:g} s, or 0 s for none, not {brief(value)}"
        )
    return seconds


def _entry(value: object) -> BootstrapAddress:
    if isinstance(value, str):
        target = parse_target(value)
        if target.form not in ENDPOINTS:
            raise ValueError(f"{brief(value)} is no host of a queue: clients cannot connect there")
        return BootstrapAddress(hosts=(target.host,)) if target.host else BootstrapAddress(target)
    if isinstance(value, list) and len(value) > _WORDS_MAX:
        raise ValueError(f"must have {_WORDS_MAX} hosts at most, not {len(value):,}")
    if isinstance(value, list) and value and all(isinstance(host, str) for host in value):
        return BootstrapAddress(hosts=tuple(value))
    raise ValueError("must be a target word or a list of hosts' names")


def _target(value: object) -> Target:
    if not isinstance(value, str):
        raise ValueError("must be a target word")
    return parse_target(value)


def _kind(value: object) -> str:
    spoilt = REGISTRY.spoilt.get(value, "") if isinstance(value, str) else ""
    if spoilt and value not in KINDS:
        raise ValueError(spoilt)
    return OneOf(tuple(KINDS))(value)


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


Length = Annotated[
    Duration, BeforeValidator(spans.parse), Field(title="length of time, also in T")
]
EntryWord = Annotated[
    BootstrapAddress, BeforeValidator(_entry), Field(title="target, or list of hosts")
]
Word = Annotated[str, Field(max_length=_PATTERN_MAX)]
Whole = Annotated[int, Field(ge=-(2**63), lt=2**63)]  # as brokers' JSON has it
QueueName = Annotated[str, Field(pattern=f"^{QUEUE_NAME}$")]


class WorkloadTable(Table):
    """Without the sections of clients' families, which declare them (clients/section.py)."""

    queues: Annotated[
        list[QueueName],
        Field(min_length=1, max_length=QUEUES_MAX),
        BeforeValidator(_queues),
    ] = Field(
        title=f"list of texts, or 1 to {QUEUES_MAX}",
        description="queue names: lower-case letters, digits, `_` and `-`; a letter first. A "
        "number N stands for `queue-1` to `queue-N`",
    )
    publishers: int = Field(
        ge=1,
        le=64,
        description="number of publishers; if there are fewer than queues, each sends to several",
    )
    consumers: int = Field(
        ge=0, le=64, description="number of consumers; the queues are shared out in the same way"
    )
    consumer_groups: Annotated[
        list[QueueName], Field(max_length=GROUPS_MAX), BeforeValidator(_groups)
    ] = Field(
        default=[],
        title=f"list of texts, or 1 to {GROUPS_MAX}",
        description="groups of consumers that each get every message; each has `consumers` "
        "consumers. Names are as those of queues; a number N stands for `group-1` to `group-N`, "
        "and 1 for no groups",
    )
    keys: int = Field(
        default=1,
        ge=1,
        le=1_000_000,
        description="ordering keys per publisher and queue: messages of one key must stay in "
        "order",
    )
    rate: Annotated[Any, BeforeValidator(_rate)] = Field(
        title="number, or `max`",
        description="publishes per second over all publishers; with `max` availability is not "
        "measured",
    )
    body_bytes: int = Field(
        default=256, ge=HEADER_BYTES, le=16_777_216, description="size of a message body, in bytes"
    )
    durable: bool = Field(default=True, description="queues survive a restart of their host")
    persistent: bool = Field(default=True, description="messages survive a restart of their host")
    confirms: bool = Field(default=True, description="the broker confirms each message")
    retry: Literal["never", "until_confirmed"] = Field(
        default="until_confirmed",
        description="what a publisher does after an unknown outcome; without `confirms` it must "
        "be `never`",
    )
    acknowledge: Annotated[int, BeforeValidator(_batch)] = Field(
        default=1,
        title="1 to 65,535, or `none`",
        description="one acknowledgement covers up to N messages; with `none` the consumer never "
        "acknowledges",
    )
    processing: Annotated[float, BeforeValidator(fixed_length(_processing))] = Field(
        default=0.0,
        title="1 ms to 10 s, or `0 s`",
        examples=["0 s"],
        description="the time that a consumer takes for each message of a queue, one after "
        "another, before it acknowledges it. `0 s`: none",
    )
    deadline: Seconds = Field(
        default=2.0,
        description="a publish is late if confirmed more than this after its intended time",
    )
    publisher_endpoint: EntryWord = Field(
        default=BootstrapAddress(UNINVOLVED),
        description="the host that publishers connect to first; if it fails, they go on to the "
        "others. No effect if clients find brokers through name servers",
    )
    consumer_endpoint: EntryWord = Field(
        default=BootstrapAddress(UNINVOLVED), description="the same for consumers"
    )
    declared_at: str = Field(
        default="",
        pattern=f"^({HOST_NAME})?$",
        title="host",
        description="the host that declares the queues; without it the seed draws one per queue. "
        "With name servers it chooses the topic's broker group",
    )


class GeneralFaultTable(Table):
    """The keys of every fault. FaultTable has those that some kind takes, too (faults/options.py);
    toml.py checks which of them a fault's own kind takes."""

    kind: Annotated[str, BeforeValidator(_kind)] = Field(
        title="kind",
        description="what breaks; [faults.md](faults.md) lists the kinds and the options of each",
    )
    target: Annotated[Target, BeforeValidator(_target)] = Field(
        title="target",
        description='what it breaks; see "Targets" in [scenarios.md](scenarios.md)',
    )
    opens: Length = Field(
        default=Duration(),
        description="time after the end of the baseline; mqproof waits longer if an earlier "
        "fault should have ended by then and has not",
    )
    lasts: Length = Field(description="length of the fault")
    returns: bool = Field(
        default=True, description="`false`: the target stays down; only kinds that allow it"
    )


# A type checker cannot know the keys of kinds that other packages bring.
if TYPE_CHECKING:
    FaultTable = GeneralFaultTable
else:
    FaultTable = create_model("FaultTable", __base__=GeneralFaultTable, **fault_options.keys())


class OperationTable(Table):
    """Which of the options and targets a kind takes is checked in operation_checks.py."""

    kind: Annotated[str, BeforeValidator(OneOf(tuple(OPERATIONS)))] = Field(
        title="kind",
        description="what the operator does; [operations.md](operations.md) lists the kinds, "
        "their targets and their options",
    )
    target: Word = Field(default="", title="target", description="required by most kinds")
    at: Length = Field(default=Duration(), description="time after the end of the baseline")
    how: Annotated[str, BeforeValidator(OneOf(HOW.choices))] = Field(
        default=HOW.default, description="of a stop: `stop` sends SIGTERM, `kill` sends SIGKILL"
    )
    waits: Annotated[str, BeforeValidator(OneOf(WAITS.choices))] = Field(
        default=WAITS.default,
        description="how long mqproof waits: not at all, until it is done, or until the "
        "cluster matches its layout again",
    )
    order: Annotated[str, BeforeValidator(OneOf(ORDER.choices))] = Field(
        default=ORDER.default, description="of target `all`: the order of the hosts"
    )
    offline: bool = Field(default=False, description="run the command on a node that is down")
    through: Word = Field(
        default="",
        title="target",
        description="the host that executes the command; without it the first possible one",
    )
    name: str = Field(
        default=NAME.default,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$",
        description="name of the policy",
    )
    pattern: Annotated[str, BeforeValidator(_pattern)] = Field(
        default=PATTERN.default,
        title="regular expression",
        description="the policy applies to queues whose names match it",
    )
    definition: dict[Word, Word | Whole | Annotated[list[Word], Field(max_length=_WORDS_MAX)]] = (
        Field(
            default={},
            max_length=_WORDS_MAX,
            title="table",
            description="the policy's definition, in the broker's format",
        )
    )
    priority: int = Field(default=0, ge=0, le=1_000_000, description="priority of the policy")


class PhasesTable(Table):
    baseline: Length = Field(
        default=Duration(seconds=12),
        description="load before the first fault; give it 10 s or more",
    )
    recovery: Length = Field(
        default=Duration(seconds=15),
        description="load after the last fault was verified ended; mqproof extends it until "
        "clients could reconnect",
    )
    settle: Length = Field(
        default=Duration(seconds=5, timers=0.5),
        description="no new publishes; retries and confirms may still arrive. At least one "
        "deadline",
    )
    drain_limit: Length = Field(
        default=Duration(seconds=60), description="longest time to read the queues empty"
    )


class ScenarioTable(Table):
    title: str = Field(min_length=1, max_length=_TITLE_MAX, description="the name in reports")
    story: str = Field(
        default="", max_length=_STORY_MAX, description="why somebody would want to know"
    )
    workload: WorkloadTable = Field(description="the load")
    fault: list[FaultTable] = Field(default=[], max_length=FAULTS_MAX, description="the faults")
    operation: list[OperationTable] = Field(
        default=[], max_length=OPERATIONS_MAX, description="what operators do meanwhile"
    )
    phases: PhasesTable = Field(default=PhasesTable(), description="the length of each phase")
