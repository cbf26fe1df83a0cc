"""PURE: Khepri, in which RabbitMQ keeps its metadata (users, queues, policies) if not in Mnesia.

1. RabbitMQ has it from 4.0 on, by the feature flag `khepri_db`. New clusters of 4.2 and later have
   it enabled. It cannot be disabled again.
2. Which of the two nodes use is what they report, never what the layout says.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.plan.model import Layout

FLAG = "khepri_db"
STORE = "rabbitmq metadata store"  # its name among the versions that a run records
KHEPRI, MNESIA = "khepri", "mnesia"
NEEDS = ("4.0", "Khepri is supported from RabbitMQ 4.0 on")


@dataclass(frozen=True, slots=True)
class InKhepri:
    """A layout whose nodes keep their metadata in Khepri."""

    def describe(self) -> Iterator[tuple[str, str]]:
        yield "metadata", "in Khepri"


def wanted(layout: Layout) -> bool:
    return isinstance(layout.own, InKhepri)


def store(flags: list[dict[str, Any]]) -> str:
    """Return where a node keeps its metadata, by the feature flags that it reports."""
    enabled = any(flag.get("name") == FLAG and flag.get("state") == "enabled" for flag in flags)
    return KHEPRI if enabled else MNESIA


def not_in_khepri(flags: Mapping[str, list[dict[str, Any]] | None]) -> tuple[str, ...]:
    """Return the hosts that do not report Khepri."""
    return tuple(host for host, said in flags.items() if said is None or store(said) != KHEPRI)
