"""One boot of a node as a member of its cluster: boot, group, partitions, pauses.

The members that it knows: known.py.

1. A node that is lost (its link closed, or silent for too long) is out of the group at once, and
   comes back on a new boot only (group.py). What the group shares: metadata/replication.py.
2. Two running nodes with a link that are not in one group are partitioned: each went on without
   the other. That is reported; nothing is merged. It is forgotten when no such peer runs any more.
3. Under pause_minority a node in a minority (minority.py) stops its broker application, and begins
   a new boot when it reaches a majority again. It is judged in a turn of its own: by then its
   processes have heard of the loss, under the tables of before. Until it is judged it keeps the
   lost one among those that it would wait for at a boot.
4. Under autoheal one side gives way when all can hear each other again (autoheal.py): its nodes
   stop as if they were in a minority, and begin a new boot.
5. Tables are on disk before a change is announced. Every peer with a link gets a message when this
   node's state changes.

phase:  booting --Snapshot--> joining --known to all--> running --minority--> paused --> (restart)
        booting --founds a group--> running;  joining --not its leader's member--> booting;
        any --leave--> stopped, or left
"""

from collections.abc import Callable

from reference_impl.metadata.exchanges import forget_transient, predeclared
from reference_impl.metadata.ledger import NOTHING
from reference_impl.metadata.messages import Message, Term
from reference_impl.metadata.records import leave_to_homes
from reference_impl.metadata.tables import Tables
from reference_impl.node.boot import Found
from reference_impl.node.booting import Booting
from reference_impl.node.config import Config
from reference_impl.node.gossip import (
    BOOTING,
    JOINING,
    LEFT,
    PAUSED,
    RUNNING,
    STOPPED,
    Alive,
    ClientCount,
    Clients,
    Dismissed,
    Doubt,
    GiveWay,
    Gossip,
    Greeting,
    Join,
    NotYet,
    Probe,
    State,
    StillSeen,
)
from reference_impl.node.group import Group
from reference_impl.node.handling import JUDGE, PartitionHandling
from reference_impl.node.happenings import (
    Dial,
    Effect,
    Event,
    Heard,
    Linked,
    Log,
    Pause,
    Pinged,
    Ready,
    Restart,
    Save,
    Saved,
    SendGossip,
    Submitted,
    TablesChanged,
    Ticked,
    Unlinked,
)
from reference_impl.node.known import Known
from reference_impl.node.membership import Peers
from reference_impl.node.partial import PartialPartitions
from reference_impl.process import Arm, Timeout

LOOK_MS, LOOK_AT_BOOT_MS = 1000, 250  # how often peers without a link are dialled
_LOOK = "look"


class Cluster:
    """The core. `begin` once, then events; each answers with effects, in order."""

    def __init__(
        self,
        config: Config,
        boot: int,
        saved: Saved | None,
        clients: Callable[[], int] = lambda: 0,
    ) -> None:
        """`clients`: how many this node has, when it is asked."""
        self._me, self._boot = config.name, boot
        self._clients = clients
        self._phase = BOOTING
        self._saved = saved
        self._is_unsaved = False
        self._peers = Peers(())
        self._group = Group(self._me, boot, self._peers)
        self._group.leave(self._saved_term())
        self._known = Known(config, self._group, None if saved is None else saved.tables)
        self._booting = Booting(config, self._peers)
        self._handling = PartitionHandling(config, self._group, self._peers)
        self._partial = PartialPartitions(self._group, self._handling.pauses_until_all)
        self._seen_changes = 0
        self._announced: State | None = None

    # --- what others may read

    @property
    def tables(self) -> Tables:
        return self._group.replication.ledger.tables

    def running(self) -> tuple[str, ...]:
        """Members by name, this node included; none while it is not running itself."""
        return tuple(sorted([self._me, *self._group.up])) if self._phase == RUNNING else ()

    def boot_of(self, node: str) -> int | None:
        """Of a member whose processes can be reached; of this node itself."""
        return self._boot if node == self._me else self._group.up.get(node)

    def guarded(self) -> bool:
        """Return whether confirms are to be withheld: this node may be in a minority."""
        return self._handling.guards()

    def linked(self) -> frozenset[str]:
        """The peers that it has a link to, whatever they are in its eyes."""
        return frozenset(self._peers.linked)

    def partitions(self) -> tuple[str, ...]:
        return self._handling.partitions

    def has_settled(self) -> bool:
        """Return whether no command of this node's processes is on its way."""
        return self._group.replication.has_settled

    def greeting(self) -> Greeting:
        return self._known.greeting()

    # --- what happens

    def begin(self) -> list[Effect]:
        self._does(self._booting.begin())
        self._look()
        return self._done()

    def leave(self, for_good: bool = False) -> list[Effect]:
        """The node goes, gracefully: its processes have ended. `for_good`: to be forgotten."""
        self._phase = LEFT if for_good else STOPPED
        return self._done()

    def has_left(self) -> bool:
        """Return whether every member has closed its link, as they do when they have forgotten a
        node."""
        return not self._peers.linked.keys() & self._group.members.keys()

    def handle(self, event: Event) -> list[Effect]:
        if self._phase not in (STOPPED, LEFT):
            self._handle(event)
        elif isinstance(event, Unlinked) and event.node in self._peers.linked:
            self._peers.unlink(event.node)
        return self._done()

    def _handle(self, event: Event) -> None:
        match event:
            case Heard(node, gossip):
                if node in self._peers.linked:
                    self._hear(node, gossip)
            case Submitted(pid, request, command):
                if self._phase == RUNNING:
                    self._group.submit(pid, request, command)
            case Linked(node, boot, greeting):
                self._link(node, boot, greeting)
            case Unlinked(node):
                if node in self._peers.linked:
                    self._group.lose(node)
                else:
                    self._peers.failed(node)
            case Ticked(heard):
                for node in self._peers.ticked(heard):
                    if node in self._peers.linked:
                        self._handling.silent(node)
                        self._group.drop(node, "it is silent", doubted=True)
            case Pinged(node, answered):
                self._handling.pinged(node, answered)
                self._judge()
            case Timeout(name):
                if name == _LOOK:
                    self._look()
                elif name == JUDGE:
                    self._judge()
                elif self._phase == BOOTING:
                    self._does(self._booting.time_is_over(name))

    def _done(self) -> list[Effect]:
        """Return all effects of the event, the saving first."""
        self._follow_up()
        self._announce_state_if_new()
        effects, self._group.effects = self._group.effects, []
        ledger = self._group.replication.ledger
        has_changed = ledger.changes != self._seen_changes
        self._seen_changes = ledger.changes
        if ledger.members and (has_changed or self._is_unsaved):
            self._is_unsaved = False
            self._saved = self._to_save()
            self._known.on_disk = self._saved.tables
            effects.insert(0, Save(self._saved))
        if has_changed and self._phase == RUNNING:
            effects.append(TablesChanged())
        return effects

    def _follow_up(self) -> None:
        self._known.follow(runs=self._phase == RUNNING)
        lost, self._group.lost_links = self._group.lost_links, []
        for node in lost:
            self._handling.forget()
            self._booting.not_yet(node)
            if self._phase == RUNNING:
                self._handling.lost(node)
        if self._phase == BOOTING:
            self._consider()
        if self._phase in (BOOTING, JOINING) and self._group.is_welcome:
            self._run()
        if self._phase == RUNNING:
            self._pause(self._handling.heal(self._clients))
        if self._phase == PAUSED:
            self._resume(self._handling.recovered())

    def _to_save(self) -> Saved:
        members = self._group.members.keys() - {self._me}
        running = tuple(sorted(members | self._handling.suspects))
        return Saved(self.tables, self._group.replication.term, running)

    # --- links and gossip

    def _look(self) -> None:
        is_hasty = self._phase in (BOOTING, JOINING)
        self._does([Dial(node) for node in self._peers.to_dial()])
        self._does([Arm(_LOOK, LOOK_AT_BOOT_MS if is_hasty else LOOK_MS)])

    def _link(self, node: str, boot: int, greeting: Greeting) -> None:
        if self._known.refuses(node, boot, greeting):
            if self._me in greeting.forgotten:
                self._booting.disowned(node)
            return
        if node in self._peers.linked:
            self._group.lose(node)
        self._peers.link(node, boot)
        self._handling.linked(node)
        self._does([SendGossip(node, self._state())])

    def _hear(self, node: str, gossip: Gossip) -> None:
        match gossip:
            case State():
                self._hear_state(node, gossip)
            case Join(linked):
                if not self._group.admit(node, linked):
                    self._does([SendGossip(node, NotYet())])
            case NotYet():
                self._booting.not_yet(node)
            case Doubt() | Probe() | Alive():
                if self._phase == RUNNING:
                    self._partial.hear(node, gossip)
            case StillSeen(other):
                if self._phase == RUNNING:
                    self._pause(self._handling.still_seen(node, other))
            case Dismissed():
                self._group.drop(node, "it has dropped this node", doubted=False)
            case Clients():
                self._does([SendGossip(node, ClientCount(self._clients()))])
            case ClientCount(count):
                self._handling.hear_clients(node, count)
            case GiveWay(losers):
                if self._phase == RUNNING:
                    self._pause(self._handling.give_way(losers))
            case _:
                self._hear_member(node, gossip)

    def _hear_state(self, node: str, state: State) -> None:
        self._peers.heard_state(node, state)
        if state.phase != RUNNING:
            self._handling.forget()
            if state.phase in (PAUSED, STOPPED, LEFT) and node in self._group.members:
                self._group.lose_member(node)
            if state.phase == LEFT:
                self._known.leaves(node)
        elif self._phase == RUNNING and node not in self._group.members:
            self._handling.note(node)
        elif self._is_left_out_by(node, state):
            self._join_anew()

    def _is_left_out_by(self, node: str, state: State) -> bool:
        """Return whether a member that leads does not know of this newcomer's admission."""
        is_its_leader = node in self._group.members and state.leader == node
        return self._phase == JOINING and is_its_leader and self._me not in state.members

    def _hear_member(self, node: str, message: Message) -> None:
        if self._phase == PAUSED:
            return
        self._group.hear(node, message)
        if self._phase == BOOTING and self._group.members:
            self._phase = JOINING

    # --- boot

    def _consider(self) -> None:
        decision = self._booting.consider(self._state())
        if not isinstance(decision, Found):
            self._does(decision)
            return
        tables = predeclared() if self._saved is None else self._saved.tables
        tables.nodes = tables.nodes or self._known.founders
        forget_transient(tables)
        leave_to_homes(tables)
        self._does([Log("founds the group")])
        self._group.found(tables)

    def _join_anew(self) -> None:
        """Its admission was lost with the leader that had given it."""
        self._phase = BOOTING
        self._booting.begin_anew()
        self._leave_group()

    def _run(self) -> None:
        self._phase = RUNNING
        self._does(self._booting.end())
        self._group.run()
        for node, state in sorted(self._peers.states.items()):
            if state.phase == RUNNING and node not in self._group.members:
                self._handling.note(node)
        self._does([Ready()])

    # --- partitions

    def _pause(self, why: str) -> None:
        """Not where there is no reason to: `why` is "" then."""
        if not why:
            return
        self._phase = PAUSED
        self._handling.paused()
        self._leave_group()
        self._does([Log(f"pauses and awaits recovery: {why}"), Pause()])

    def _resume(self, why: str) -> None:
        if why:
            self._phase = STOPPED
            self._does([Log(why), Restart()])

    def _judge(self) -> None:
        if self._phase != RUNNING or not self._handling.can_judge:
            return
        self._pause(self._handling.judge())
        if self._phase == RUNNING:
            self._is_unsaved = True

    # --- small

    def _does(self, effects: list[Effect]) -> None:
        self._group.effects += effects

    def _saved_term(self) -> Term:
        return Term(0, "") if self._saved is None else self._saved.term

    def _leave_group(self) -> None:
        self._group.leave(self._saved_term())
        self._seen_changes = 0

    def _state(self) -> State:
        replication = self._group.replication
        term, members = replication.term, dict(self._group.members)
        if self._phase == RUNNING:
            return State(RUNNING, term, NOTHING, replication.leader, members, ())
        if self._phase == BOOTING and self._saved is not None:
            saved = self._saved
            return State(BOOTING, saved.term, saved.tables.version, None, {}, saved.running)
        return State(self._phase, term, NOTHING, None, {}, ())

    def _announce_state_if_new(self) -> None:
        state = self._state()
        if state != self._announced:
            self._announced = state
            self._does([SendGossip(node, state) for node in sorted(self._peers.linked)])
