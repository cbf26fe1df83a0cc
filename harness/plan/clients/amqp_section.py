"""`[workload.amqp]`: what only a client of AMQP 0-9-1 knows.

It says something even where a file leaves it out: whether what goes nowhere comes back is said by
no other word.
"""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from harness.outside.text import brief
from harness.plan import spans
from harness.plan.clients.section import Section
from harness.plan.servers import Servers
from harness.plan.tables import Table, fixed_length


@dataclass(frozen=True, slots=True)
class AmqpWorkload:
    """What the section says."""

    mandatory: bool = True
    prefetch: int = 200
    confirm_window: int = 1000  # most publishes without a confirm on one connection
    heartbeat_s: int = 60
    cancel_on_ha_failover: bool = False


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


def _value(table: AmqpTable, _confirms: bool) -> AmqpWorkload:
    return AmqpWorkload(
        mandatory=table.mandatory,
        prefetch=table.prefetch,
        confirm_window=table.confirm_window,
        heartbeat_s=table.heartbeat,
        cancel_on_ha_failover=table.cancel_on_ha_failover,
    )


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
    problems=lambda _document: (),
    says=lambda _own: True,
    facts={
        "mandatory": lambda own: own.mandatory,
        "cancel_on_ha_failover": lambda own: own.cancel_on_ha_failover,
    },
    not_applicable="its clients do not speak AMQP",
    requires=lambda own, workload: (
        ("unlimited prefetch",) if own.prefetch == 0 and workload.consumers else ()
    ),
    requires_of_all=lambda _own: (),
    obstacles=lambda _own, _servers: (),
    shows=lambda _own: (),
    worker_options=_worker_options,
    counts=lambda _own, _workload, _load_s: {},
)
