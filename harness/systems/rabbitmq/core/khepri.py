"""PURE: Khepri, in which RabbitMQ keeps its metadata (users, queues, policies) if not in Mnesia.

1. RabbitMQ has it from 4.0 on, by the feature flag `khepri_db`. New clusters of 4.2 and later have
   it enabled. It cannot be disabled again.
2. Which of the two nodes use is what they report, never what the layout says.
3. Partition handlings belong to Mnesia. In Khepri none has any effect: a minority can change no
   metadata, and does not pause. From 4.3 on there is no Mnesia, and the key is ignored
   (docs/behaviour/quorum-queues.md 5).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.plan.layouts.versions import numbers
from harness.plan.model import Layout

FLAG = "khepri_db"
STORE = "rabbitmq metadata store"  # its name among the versions that a run records
KHEPRI, MNESIA = "khepri", "mnesia"
NEEDS = ("4.0", "Khepri is supported from RabbitMQ 4.0 on")
IGNORE = "ignore"  # the partition handling of nodes that handle none
_DEFAULT_FROM = "4.2"  # new clusters are in Khepri from this version on
_ALONE_FROM = "4.3"  # no node has Mnesia from this version on
_SOURCE = "https://www.rabbitmq.com/docs/metadata-store/failure-recovery"


@dataclass(frozen=True, slots=True)
class InKhepri:
    """A layout whose nodes keep their metadata in Khepri."""

    def describe(self) -> Iterator[tuple[str, str]]:
        yield "metadata", "in Khepri"


def wanted(layout: Layout) -> bool:
    return isinstance(layout.own, InKhepri)


def without_effect(handling: str) -> str:
    """Return why a partition handling has no effect in Khepri; "" if it needs none there.
    `handling`: "" is unknown."""
    if handling in ("", IGNORE):
        return ""
    return (
        f"partition_handling = {handling!r} has no effect on nodes that keep their metadata in "
        f"Khepri ({_SOURCE})"
    )


def needs_mnesia(handling: str) -> tuple[str, str] | None:
    """Return the first version whose new clusters do without a partition handling, and why."""
    why = without_effect(handling)
    return (_DEFAULT_FROM, f"{why}, as new clusters do from {_DEFAULT_FROM} on") if why else None


def store(flags: list[dict[str, Any]]) -> str:
    """Return where a node keeps its metadata, by the feature flags that it reports."""
    enabled = any(flag.get("name") == FLAG and flag.get("state") == "enabled" for flag in flags)
    return KHEPRI if enabled else MNESIA


def stores(flags: Mapping[str, Any]) -> dict[str, str]:
    """Return where each host keeps its metadata, of those that report feature flags."""
    return {host: store(said) for host, said in flags.items() if isinstance(said, list)}


def has_no_mnesia(version: str) -> bool:
    """Return whether nodes of a version can only be in Khepri. "": unknown."""
    return numbers(version) >= numbers(_ALONE_FROM)


def not_in_khepri(flags: Mapping[str, list[dict[str, Any]] | None]) -> tuple[str, ...]:
    """Return the hosts that do not report Khepri."""
    return tuple(host for host, said in flags.items() if said is None or store(said) != KHEPRI)
