"""The shape of a scenario file: its tables and keys, their types, limits and defaults.

Each key is checked by itself; `problems` of a table checks several of its keys together, and
toml.py those of several tables.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from harness.outside.text import brief
from harness.plan import distribution
from harness.plan.files import spans
from harness.plan.files.fault_table import FaultTable
from harness.plan.files.operation_table import OperationTable
from harness.plan.files.spans import Duration
from harness.plan.files.tables import Length, Seconds, Table, fixed_length
from harness.plan.files.targets import (
    ENDPOINTS,
    HOST_NAME,
    QUEUE_NAME,
    UNINVOLVED,
    Target,
    TargetForm,
    misspelt,
    parse_target,
)
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.problems import nearest
from harness.plan.workload import BootstrapAddress
from spark_analysis.schema.body import HEADER_BYTES

QUEUES_MAX, FAULTS_MAX, OPERATIONS_MAX = 256, 200, 200
GROUPS_MAX = 16
PROCESSING_MAX_S = 10.0
_TITLE_MAX, _STORY_MAX = 200, 20_000  # characters
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


EntryWord = Annotated[
    BootstrapAddress, BeforeValidator(_entry), Field(title="target, or list of hosts")
]
QueueName = Annotated[str, Field(pattern=f"^{QUEUE_NAME}$")]


def host_problems(path: Path, host: str) -> Iterator[TomlProblem]:
    """Check that a host's name is no misspelt word."""
    if guess := misspelt(host):
        yield TomlProblem(path, f"{brief(host)} would be a host's name", guess=guess)


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
        description="a publish is late if confirmed more than this after its intended time. If an "
        "attempt waits longer for its confirm, the publisher closes the connection, except with "
        "clients that have a send timeout of their own",
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

    @property
    def sent_to(self) -> list[str]:
        """Return the queues that publishers send to, as far as they can be read."""
        return self._names("queues", QUEUES_MAX)

    @property
    def groups(self) -> list[str]:
        """The same of consumer groups."""
        return self._names("consumer_groups", GROUPS_MAX)

    def _names(self, key: str, most: int) -> list[str]:
        """Return the names that are texts; none of too many, which the shape reports."""
        found = self.given.get(key) if getattr(self, key) is None else getattr(self, key)
        few = found if isinstance(found, list) and len(found) <= most else []
        return [one for one in few if isinstance(one, str)]

    @property
    def read_queues(self) -> list[str]:
        """Return the queues that consumers read: those of groups may lie on several hosts."""
        own = (f"{queue}-{group}" for queue in self.sent_to for group in self.groups)
        return [*dict.fromkeys(own)] or self.sent_to

    def problems(self) -> Iterator[TomlProblem]:
        """Check several keys together."""
        place: Path = ("workload",)
        if len(set(self.sent_to)) < len(self.sent_to):
            yield TomlProblem((*place, "queues"), "a queue is named twice")
        for key in ("publisher_endpoint", "consumer_endpoint"):
            endpoint: BootstrapAddress | None = getattr(self, key)
            target = endpoint.target if endpoint is not None else None
            yield from self.queue_problems((*place, key), target)
            for host in endpoint.hosts if endpoint is not None else ():
                yield from host_problems((*place, key), host)
        if self.confirms is False and self.retry != "never":
            text = "without confirms there is nothing to retry until"
            yield TomlProblem((*place, "retry"), text, ("never",))
        if spans.is_positive(self.given.get("processing")):
            yield from self._processing_problems((*place, "processing"))
        yield from self._group_problems((*place, "consumer_groups"))

    def queue_problems(self, path: Path, target: Target | None) -> Iterator[TomlProblem]:
        """Check that there is the queue that a target names."""
        queues = self.read_queues
        if target is None or not target.queue or not queues or target.queue in queues:
            return
        right = tuple(target.form.replace(TargetForm.QUEUE, queue) for queue in queues)
        text = f"the workload has no queue {brief(target.queue)}"
        guess = nearest(target.word, right)
        if len(queues) > distribution.NAMED_MAX:
            text += f", but {distribution.named(queues)}"
            yield TomlProblem(path, text, guess=guess)
        else:
            yield TomlProblem(path, text, right, guess)

    def _processing_problems(self, path: Path) -> Iterator[TomlProblem]:
        """Check that there is an acknowledgement that can wait for the processing."""
        if self.acknowledge == 0:
            text = "with acknowledge = 'none' no acknowledgement waits, so consumers get no slower"
            yield TomlProblem(path, text, ("0 s",))
        if self.consumers == 0:
            yield TomlProblem(path, "the workload has no consumers", ("0 s",))

    def _group_problems(self, path: Path) -> Iterator[TomlProblem]:
        if len(set(self.groups)) < len(self.groups):
            yield TomlProblem(path, "a group is named twice")
            return
        queues = dict.fromkeys(self.sent_to)
        own = [f"{queue}-{group}" for queue in queues for group in self.groups]
        for name in sorted({name for name in own if own.count(name) > 1 or name in queues}):
            text = f"the queue of a group, {brief(name)}, would have the name of another queue"
            yield TomlProblem(path, text)


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
