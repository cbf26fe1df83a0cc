"""A broker of a DLedger group: what it does when its member begins or ceases to lead
(docs/behaviour/rocketmq-elections.md 1).

1. It is a slave, with its member's number and 1, until its member leads and all of its log is
   committed and in its queues. Then it is the master, with 0, gives offsets from the ends of its
   queues, and goes on with delayed and transactional messages. The real one takes messages before
   that, and may give an offset twice.
2. With every change, of its role or of its leader, it registers at once. Name servers let any
   address take a number: a leader that stood still may take 0 back until it hears of the next one.
3. What is committed goes into the queues of every member; held pulls are woken at the master.
"""

from collections.abc import Callable

from reference_impl.rocketmq.broker.parts import Parts
from reference_impl.rocketmq.dledger.member import DledgerMember
from reference_impl.rocketmq.effects import Effect


class Leading:
    """`register`: at all name servers, now; `begin`: it is the master now."""

    def __init__(
        self,
        parts: Parts,
        member: DledgerMember,
        register: Callable[[], None],
        begin: Callable[[], None],
    ) -> None:
        self._parts = parts
        self._member = member
        self._register = register
        self._begin = begin
        self._known = (0, "")  # term and leader
        number = int(parts.config.d_leger_self_id[1:])
        self._slave_id = number + 1
        parts.role.follow(self._slave_id)

    def turn(self) -> list[Effect]:
        """Return the member's effects of this turn, after all that follows from it here."""
        effects = self._member.take()
        for record in self._parts.store.copied():
            if not self._parts.role.is_slave:
                self._parts.arrived(record, record.offset, record.stored_ms)
        self._change()
        return effects

    def _change(self) -> None:
        member, role = self._member, self._parts.role
        known = (member.term, member.leader)
        if known != self._known:
            self._known = known
            was_master = not role.is_slave
            role.follow(self._slave_id)
            if was_master or (member.leader and not member.is_leader):
                self._register()
        if role.is_slave and member.is_leader and member.is_caught_up:
            self._lead()

    def _lead(self) -> None:
        self._parts.role.lead()
        self._parts.store.forget_given()
        self._begin()
        self._register()
