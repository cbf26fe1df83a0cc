"""A booting node's patience: what it has tried, whom it has asked, how long it still waits.

1. Every peer is tried first; one that neither answers nor refuses delays that by FIRST_ROUND_MS.
   Where there are tables, GRACE_MS more go by: of peers that boot at the same moment, one may
   refuse at first, and each may be entitled to begin alone.
2. Who waits for others' tables does so table_tries x table_wait_s and then gives the boot up
   (docs/behaviour/rabbitmq.md, item 49; RabbitMQ counts the retries that are left after the first
   wait).
3. One leader at a time is asked for admission; when it answers "not yet", or is lost, the next
   occasion is taken.
4. Who was forgotten gives the boot up, unless a peer that runs has not forgotten it.
"""

from reference_impl.metadata.ledger import NOTHING
from reference_impl.node.boot import Ask, Found, KeepWaiting, Outlook, decide
from reference_impl.node.config import PAUSE_MINORITY, Config
from reference_impl.node.gossip import RUNNING, Join, State
from reference_impl.node.happenings import Effect, Fail, Log, SendGossip
from reference_impl.node.known import disagreement
from reference_impl.node.membership import Peers
from reference_impl.process import Arm, Disarm

GRACE_MS = 300
FIRST_ROUND_MS = 2000
PATIENCE_MS = 5000  # blank nodes: for the smallest of the configured names
_GRACE, _ROUND, _PATIENCE, _TABLES = "grace", "round", "patience", "tables"


class Booting:
    """`consider` is called whenever something has changed."""

    def __init__(self, config: Config, peers: Peers) -> None:
        self._config = config
        self._peers = peers
        self._join_target: str | None = None
        self._grace_is_over = False
        self._round_is_over = False
        self._patience_is_over = False
        self._tries_left: int | None = None  # None: the waiting has not begun
        self._disowned_by: str | None = None

    def begin(self) -> list[Effect]:
        times = ((_GRACE, GRACE_MS), (_ROUND, FIRST_ROUND_MS), (_PATIENCE, PATIENCE_MS))
        return [Arm(name, after_ms) for name, after_ms in times]

    def end(self) -> list[Effect]:
        return [Disarm(name) for name in (_GRACE, _ROUND, _PATIENCE, _TABLES)]

    def time_is_over(self, name: str) -> list[Effect]:
        self._grace_is_over |= name == _GRACE
        self._round_is_over |= name == _ROUND
        self._patience_is_over |= name == _PATIENCE
        return self._try_again() if name == _TABLES else []

    def not_yet(self, node: str) -> None:
        """Note that it has refused to admit this node now, or is lost."""
        if self._join_target == node:
            self._join_target = None

    def disowned(self, by: str) -> None:
        """A peer says that it has forgotten this node."""
        self._disowned_by = by

    def begin_anew(self) -> None:
        self._join_target = None

    def consider(self, own: State) -> list[Effect] | Found:
        outlook = self._outlook(own)
        is_alone = not any(state.phase == RUNNING for state in outlook.states.values())
        if self._disowned_by is not None and is_alone and outlook.tried:
            return [Fail(disagreement(self._config.name, self._disowned_by))]
        match decide(outlook):
            case Found() as found:
                return found
            case Ask(leader):
                if self._join_target is None:
                    self._join_target = leader
                    return [SendGossip(leader, Join(tuple(sorted(self._peers.states))))]
            case KeepWaiting():
                is_due = self._patience_is_over if own.version == NOTHING else self._round_is_over
                if is_due and self._tries_left is None:
                    self._tries_left = self._config.table_tries
                    return self._try_again()
        return []

    def _outlook(self, own: State) -> Outlook:
        is_tried = self._round_is_over or self._peers.all_tried()
        if own.version != NOTHING:
            is_tried = is_tried and self._grace_is_over
        return Outlook(
            node=self._config.name,
            own=own,
            peers=self._peers.names,
            states=self._peers.states,
            tried=is_tried and self._peers.all_have_reported(),
            patience_is_over=self._patience_is_over,
            majority_will_do=self._config.partition_handling == PAUSE_MINORITY,
        )

    def _try_again(self) -> list[Effect]:
        assert self._tries_left is not None, "the timer was armed with it"
        wait_ms = round(self._config.table_wait_s * 1000)
        if self._tries_left == 0:
            tries = self._config.table_tries
            return [Fail(f"no peer that has the tables ran within {tries} x {wait_ms} ms")]
        self._tries_left -= 1
        left = self._tries_left
        text = f"Waiting for Mnesia tables for {wait_ms} ms, {left} retries left"
        return [Log(text), Arm(_TABLES, wait_ms)]
