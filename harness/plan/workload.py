"""PURE: the load of a scenario: who sends what, where, and how its clients behave."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from harness.plan.files.targets import Target


class Retry(StrEnum):
    NEVER = "never"
    UNTIL_CONFIRMED = "until_confirmed"


@dataclass(frozen=True, slots=True)
class BootstrapAddress:
    """Where clients connect first: a late-bound word, or hosts by name in order of preference.

    `target`: `master of QUEUE`, `mirror of QUEUE`, `uninvolved` (a host that no fault of the
    schedule means). A client goes on to the other hosts, in their order, when its own is lost;
    with `hosts` only to those.
    """

    target: Target | None = None
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Workload:
    """Who sends what where; distribution.py says which queues a client serves.

    `sections`: what only one family of clients knows, by the family's key; read by the section
    alone that the family declares (clients/section.py).
    """

    queues: tuple[str, ...]
    publishers: int
    consumers: int  # of each group; 0: no consumer before the drain
    keys: int  # of each publisher, in each of its queues
    rate: float | None  # publishes a second over all publishers; None is `max`
    body_bytes: int
    durable: bool
    persistent: bool
    confirms: bool
    retry: Retry
    acknowledge: int  # a batch of so many deliveries; 0: none, the broker forgets when it sends
    deadline_s: float
    publisher_endpoint: BootstrapAddress
    consumer_endpoint: BootstrapAddress
    sections: Mapping[str, Any] = field(default_factory=dict)
    declared_at: str = ""  # the host where queues' masters are put; "": drawn for each queue
    # Groups that each get every message; each has so many `consumers`. (): all are one group.
    consumer_groups: tuple[str, ...] = ()
    # How long a consumer takes for each message of a queue, one after another, before it
    # acknowledges it. 0: it acknowledges at once.
    processing_s: float = 0.0
