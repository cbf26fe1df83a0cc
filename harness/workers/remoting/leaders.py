"""Who leads a group of brokers, where they are elected: by a DLedger group's own members, or by
controllers (docs/behaviour/rocketmq-elections.md).

1. A member of a DLedger group tells whom it follows, and its term; one that was frozen tells what
   was.
2. Of controllers the leader alone tells who is master; which of them leads each one tells.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.workers.remoting import json_text
from harness.workers.remoting.errors import WireError
from spark_analysis.schema.views import detail_of

BY_MEMBERS, BY_CONTROLLERS = "members", "controllers"  # who is asked


@dataclass(frozen=True, slots=True, order=True)
class Replica:
    """A broker as controllers know it. `id`: given once, kept over changes of role."""

    address: str
    id: int


@dataclass(frozen=True, slots=True)
class SyncState:
    """`master`: its address; empty: there is none. Epochs count the group's masters, and sets."""

    master: str
    epoch: int
    set_epoch: int
    in_sync: tuple[Replica, ...]  # the SyncStateSet, by address; the master is in it
    others: tuple[Replica, ...]


@dataclass(frozen=True, slots=True)
class Controllers:
    """As one of them sees them. `leader`: its id; empty: it knows none."""

    leader: str
    leads: bool  # the one that was asked


@dataclass(frozen=True, slots=True)
class Says:
    """What one voter says of elections, in sentences: of whom, a colon, and what."""

    sentences: tuple[str, ...] = ()

    def __str__(self) -> str:
        return detail_of(self.sentences)

    def since(self, before: "Says | None") -> tuple[str, ...]:
        """The sentences that are new, and those that it no longer says."""
        was = () if before is None else before.sentences
        return (
            *(f"says {one}" for one in self.sentences if one not in was),
            *(f"no longer says {one}" for one in was if one not in self.sentences),
        )


def member_says(group: str, leader: str, term: int) -> Says:
    return Says((f"{group}: {leader or 'no broker'} leads, term {term}",))


def controller_says(state: Controllers, states: Mapping[str, SyncState]) -> Says:
    """`states`: where it leads; of one that does not, whom it follows is all."""
    leads = f"controllers: {state.leader or 'none'} leads"
    return Says(
        (leads, *(one for group in sorted(states) for one in _sentences(group, states[group])))
    )


def _sentences(group: str, state: SyncState) -> tuple[str, str]:
    inside = ", ".join(one.address for one in state.in_sync) or "no broker"
    return (
        f"{group}: {state.master or 'no broker'} is master, epoch {state.epoch}",
        f"{group} in sync: {inside}, epoch {state.set_epoch}",
    )


def read_controllers(fields: Mapping[str, str]) -> Controllers:
    return Controllers(fields.get("controllerLeaderId", ""), fields.get("isLeader") == "true")


def read_sync_states(body: bytes) -> dict[str, SyncState]:
    """By group. Raises WireError."""
    try:
        table = json_text.read_object(body)["replicasInfoTable"]
        return {group: _sync_state(state) for group, state in table.items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise WireError(f"no SyncStateSets: {error!r} in {body[:200]!r}") from error


def read_dledger_leader(body: bytes) -> str:
    """Raises WireError for a member that tells nothing."""
    table = json_text.read_object(body)
    if table.get("code", 200) != 200:
        raise WireError(f"a member of another group, or of none: {body[:200]!r}")
    return table.get("leaderId") or ""


def read_dledger_term(body: bytes) -> int:
    """Raises WireError."""
    term = json_text.read_object(body).get("term")
    if not isinstance(term, int) or term < 0:
        raise WireError(f"no term: {body[:200]!r}")
    return term


def _sync_state(table: Mapping[str, Any]) -> SyncState:
    return SyncState(
        master=table.get("masterAddress") or "",
        epoch=int(table["masterEpoch"]),
        set_epoch=int(table["syncStateSetEpoch"]),
        in_sync=_replicas(table.get("inSyncReplicas")),
        others=_replicas(table.get("notInSyncReplicas")),
    )


def _replicas(rows: list[Mapping[str, Any]] | None) -> tuple[Replica, ...]:
    return tuple(sorted(Replica(one["brokerAddress"], int(one["brokerId"])) for one in rows or ()))
