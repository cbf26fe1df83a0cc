"""The decision of a booting node to found a group, join one, or wait (docs/behaviour/rabbitmq.md,
items 48 to 52).

1. A running peer is joined, whatever the own disk says: own tables are discarded. Of several
   groups (a partition) the largest is joined.
2. A node that saw others run when it stopped waits for one of them: they know more than it does.
   The last one to stop founds the group at once, as soon as every peer was tried.
3. When all for whom such nodes wait are there and wait, too, the one with the newest tables founds
   it, and the others join it. Under pause_minority a majority of the cluster's nodes will do: the
   last group that ran was one, so a member of it is there.
4. Blank nodes: the smallest name of those that are configured founds the group; where it does not
   come, the smallest that is there, after a while. A blank node founds none beside tables that
   wait, nor if an operator had it join another.
5. A node joins only when it has links to all members; one that hangs holds it up until the group
   has lost it.
"""

from dataclasses import dataclass

from reference_impl.metadata.ledger import NOTHING
from reference_impl.node.gossip import BOOTING, RUNNING, State


@dataclass(frozen=True, slots=True)
class Found:
    """This node begins a group."""


@dataclass(frozen=True, slots=True)
class Ask:
    """This leader is to be asked for admission."""

    leader: str


@dataclass(frozen=True, slots=True)
class KeepWaiting:
    pass


Decision = Found | Ask | KeepWaiting


@dataclass(frozen=True, slots=True)
class Outlook:
    """The knowledge of a booting node."""

    node: str
    own: State
    peers: tuple[str, ...]  # of its cluster, as far as it knows
    states: dict[str, State]  # of those peers to whom a link stands, on both sides
    tried: bool  # every peer has told its state, or could not be reached
    patience_is_over: bool  # the smallest configured name has had its time to come
    majority_will_do: bool


def decide(outlook: Outlook) -> Decision:
    running = {name: it for name, it in outlook.states.items() if it.phase == RUNNING}
    if running:
        return _join(outlook, running)
    if not outlook.tried:
        return KeepWaiting()
    if outlook.own.version == NOTHING:
        return _found_blank(outlook)
    return Found() if _first_of_waiting(outlook) == outlook.node else KeepWaiting()


def _join(outlook: Outlook, running: dict[str, State]) -> Decision:
    groups: dict[str, State] = {}  # by leader, in the leader's own words where it is there
    for name, state in running.items():
        if state.leader is not None and (name == state.leader or state.leader not in groups):
            groups[state.leader] = state
    if not groups:
        return KeepWaiting()
    leader = min(groups, key=lambda name: (-len(groups[name].members), name))
    is_reached = groups[leader].members.keys() <= outlook.states.keys()
    return Ask(leader) if is_reached else KeepWaiting()


def _found_blank(outlook: Outlook) -> Decision:
    if outlook.own.waits or any(it.version != NOTHING for it in outlook.states.values()):
        return KeepWaiting()
    if any(name < outlook.node for name in outlook.states):
        return KeepWaiting()
    is_smallest = all(outlook.node < name for name in outlook.peers)
    return Found() if is_smallest or outlook.patience_is_over else KeepWaiting()


def _first_of_waiting(outlook: Outlook) -> str | None:
    """The node whose tables are to be everybody's; None while it may still come."""
    waiting = {name: it for name, it in outlook.states.items() if it.phase == BOOTING}
    waiting[outlook.node] = outlook.own
    is_enough = outlook.majority_will_do and 2 * len(waiting) > 1 + len(outlook.peers)
    able = [
        name
        for name, state in waiting.items()
        if state.version != NOTHING and (is_enough or _all_there(name, waiting))
    ]
    return min(able, key=lambda name: _newest_first(name, waiting[name]), default=None)


def _all_there(name: str, waiting: dict[str, State]) -> bool:
    """Return whether all for whom this node waits, and for whom those wait, are there."""
    needed, found = [name], {name}
    while needed:
        state = waiting.get(needed.pop())
        if state is None:
            return False
        more = [other for other in state.waits if other not in found]
        needed += more
        found.update(more)
    return True


def _newest_first(name: str, state: State) -> tuple[int, int, str]:
    return (-state.term.number, -state.version, name)
