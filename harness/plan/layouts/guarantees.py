"""PURE: what a system's brokers guarantee by a layout, in one declared value.

1. Nothing has a default. A system answers every question: with what its brokers do, with None if
   that is unknown, or with the reason why the question makes no sense for it.
2. Claims are judged by these alone, never by a system's or layout's name.
"""

from dataclasses import dataclass
from typing import NamedTuple

from spark_analysis.schema.words import Level, Strength

# Brokers remember what consumers acknowledged, and give it to none of them again.
BROKERS = "brokers"
# Each consumer asks for an offset of a log; its acknowledgements only let more deliveries come.
CLIENTS = "clients"


class NotApplicable(NamedTuple):
    """The reason why a question makes no sense for a system."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarantees:
    """A system's guarantees. None: not declared, so unknown to every claim."""

    masters: int | None  # of one queue, which lies on so many
    mirrored_on: str | NotApplicable | None  # where a queue has mirrors: all, exactly, nodes, none
    promote_on_shutdown: str | NotApplicable | None  # always, when-synced, never
    promote_on_failure: str | NotApplicable | None
    elects: bool | None  # somebody takes a dead master's place, by the brokers' own doing
    # A majority of all that ever held a queue decides who is its master, and none does without.
    elects_by_majority: bool | None
    route_poll_s: int | NotApplicable | None  # how often clients ask who is master
    confirm_waits_for_mirrors: bool | None  # for every one; of a persistent message
    # For a majority of all that ever held the queue: who is down counts, and is not waited for.
    confirm_waits_for_majority: bool | None
    confirm_waits_for_disk: bool | None
    checks_within_s: float | NotApplicable | None  # an open transaction, after it was stored
    progress_kept_by: str | None  # BROKERS, or CLIENTS: who knows how far a consumer has come
    # What a confirm of a lasting message promises: one of the system's levels; None: the least.
    strength: Level | Strength | None
    strength_of_transient: Level | Strength | None
