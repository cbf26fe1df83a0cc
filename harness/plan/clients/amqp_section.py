"""`[workload.amqp]`: what only a client of AMQP 0-9-1 knows.

It says something even where a file leaves it out: whether what goes nowhere comes back is said by
no other word.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from harness.outside.text import brief
from harness.plan.clients.section import Section
from harness.plan.files import spans
from harness.plan.files.shape import ScenarioTable
from harness.plan.files.tables import OneOf, Table, fixed_length
from harness.plan.files.toml_lines import Path
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.servers import Servers
from harness.plan.workload import Workload

PUSH, GET = "push", "get"
_PLACE: Path = ("workload", "amqp")
CONSUMER_TIMEOUT_S = 1_800.0  # of RabbitMQ, by default (docs/behaviour/rabbitmq.md 2.2)


@dataclass(frozen=True, slots=True)
class AmqpWorkload:
    """What the section says."""

    mandatory: bool = True
    prefetch: int = 200
    confirm_window: int = 1000  # most publishes without a confirm on one connection
    heartbeat_s: int = 60
    cancel_on_ha_failover: bool = False
    consume: str = PUSH
    get_pause_s: float = 0.1  # of a polling consumer whose queue was empty
    priorities: int = 0  # levels; 0: messages have none
    transaction_size: int = 0  # most messages of one; 0: publishers use confirms


def _get_pause(value: object) -> float:
    seconds = spans.parse_seconds(value)
    if not 0.001 <= seconds <= 1:
        raise ValueError(f"must be from 1 ms to 1 s, not {brief(value)}")
    return seconds


def _priorities(value: object) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value not in (0, *range(2, 256)):
        raise ValueError("must be a number of levels from 2 to 255, or 0 for none")
    assert isinstance(value, int)
    return value


def _heartbeat(value: object) -> int:
    seconds = spans.parse_seconds(value)
    if seconds != int(seconds):
        raise ValueError(f"must be whole seconds (0 s: none), not {brief(value)}")
    return int(seconds)


class AmqpTable(Table):
    mandatory: bool = Field(default=True, description="the broker returns unroutable messages")
    prefetch: int = Field(
        default=200,
        ge=0,
        le=65_535,
        description="unacknowledged messages per consumer; 0: unlimited",
    )
    confirm_window: int = Field(
        default=1000,
        ge=1,
        le=100_000,
        description="maximum of unconfirmed messages on one connection",
    )
    heartbeat: Annotated[int, BeforeValidator(fixed_length(_heartbeat))] = Field(
        default=60, title="whole seconds", examples=["60 s"], description="`0 s`: none"
    )
    cancel_on_ha_failover: bool = Field(
        default=False,
        description="a failover cancels the consumer, which then resubscribes "
        "(`x-cancel-on-ha-failover`)",
    )
    consume: Annotated[str, BeforeValidator(OneOf((PUSH, GET)))] = Field(
        default=PUSH,
        description="`push`: the broker sends messages to the consumer. `get`: the consumer asks "
        "for each message (`basic.get`)",
    )
    get_pause: Annotated[float, BeforeValidator(fixed_length(_get_pause))] = Field(
        default=0.1,
        title="1 ms to 1 s",
        examples=["100 ms"],
        description="with `get`: pause after the queue was empty",
    )
    priorities: Annotated[int, BeforeValidator(_priorities)] = Field(
        default=0,
        title="0, or 2 to 255",
        description="levels of priority: `x-max-priority` is one less. Each key has one priority, "
        "so there must be as many `keys`. 0: no priorities",
    )
    transaction_size: int = Field(
        default=0,
        ge=0,
        le=10_000,
        description="maximum of messages in a publisher's transaction (`tx.select`, `tx.commit`). "
        "`tx.commit-ok` confirms all of them. 0: publisher confirms",
    )

    def problems(self, scenario: ScenarioTable) -> Iterator[TomlProblem]:
        """Find keys that have no effect beside others, or contradict them."""
        workload, polls = scenario.workload, self.consume == GET
        if polls and "prefetch" in self.given:
            text = (
                "with consume = 'get' the broker sends only what is requested: leave prefetch out"
            )
            yield TomlProblem((*_PLACE, "prefetch"), text)
        if polls and self.cancel_on_ha_failover is True:
            text = "with consume = 'get' there is no subscription that a failover could cancel"
            yield TomlProblem((*_PLACE, "cancel_on_ha_failover"), text, ("false",))
        if spans.is_positive(workload.given.get("processing")):
            yield from self._processing_problems()
        levels, keys = self.priorities, workload.keys
        if levels and keys and levels > keys >= 1:
            text = (
                f"{levels} priorities for {keys} keys, and each key has one priority: set keys of "
                f"[workload] to {levels} at least"
            )
            yield TomlProblem((*_PLACE, "priorities"), text)
        if self.given.get("transaction_size") and workload.confirms is False:
            text = "publishers wait for commits, which confirm: set confirms of [workload] to true"
            yield TomlProblem((*_PLACE, "transaction_size"), text, ("0",))

    def _processing_problems(self) -> Iterator[TomlProblem]:
        """Find keys by which a consumer gets messages whether it has acknowledged others or
        not."""
        if self.consume == GET:
            text = "a consumer that polls waits for no acknowledgement: set processing to '0 s'"
            yield TomlProblem((*_PLACE, "consume"), text, (PUSH,))
        elif self.prefetch == 0:
            text = (
                "without a prefetch count no consumer gets slower by processing: set 1 or more, "
                "or set processing to '0 s'"
            )
            yield TomlProblem((*_PLACE, "prefetch"), text)


def _value(table: AmqpTable, _confirms: bool) -> AmqpWorkload:
    return AmqpWorkload(
        mandatory=table.mandatory,
        prefetch=table.prefetch,
        confirm_window=table.confirm_window,
        heartbeat_s=table.heartbeat,
        cancel_on_ha_failover=table.cancel_on_ha_failover,
        consume=table.consume,
        get_pause_s=table.get_pause,
        priorities=table.priorities,
        transaction_size=table.transaction_size,
    )


def _requires(own: AmqpWorkload, workload: Workload) -> Iterator[str]:
    if own.consume == GET and workload.consumers:
        yield "pull"
    elif own.prefetch == 0 and workload.consumers:
        yield "unlimited prefetch"
    # The last of so many messages waits until all of them are processed.
    if workload.consumers and own.prefetch * workload.processing_s >= CONSUMER_TIMEOUT_S:
        yield "long processing"
    if own.priorities:
        yield "priorities"
    if own.transaction_size and workload.publishers:
        yield "channel transaction"


def _shows(own: AmqpWorkload) -> Iterator[str]:
    if own.consume == GET:
        yield "consumers poll by basic.get"
    if own.transaction_size:
        yield f"publishers commit transactions of at most {own.transaction_size:,} messages"


def _worker_options(own: AmqpWorkload, _servers: Servers) -> dict[str, Any]:
    """Return a worker's AmqpOptions. Every client gets the window, so it is not among them."""
    options = asdict(own)
    del options["confirm_window"]
    return options


SECTION = Section(
    key="amqp",
    shape=AmqpTable,
    value=_value,
    by_client=(),
    fitted=lambda own, _can: own,
    problems=AmqpTable.problems,
    says=lambda _own: True,
    facts={
        "mandatory": lambda own: own.mandatory,
        "cancel_on_ha_failover": lambda own: own.cancel_on_ha_failover,
        "priorities": lambda own: own.priorities,
        "polls": lambda own: own.consume == GET,
    },
    own_facts={},
    not_applicable="its clients do not speak AMQP",
    requires=_requires,
    requires_of_all=lambda _own: (),
    obstacles=lambda _own, _servers: (),
    shows=_shows,
    worker_options=_worker_options,
    counts=lambda _own, _workload, _load_s: {},
    counted=(),
)
