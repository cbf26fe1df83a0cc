"""A broker whose role a control node decides (docs/behaviour/rocketmq-ctgmq.md 1).

1. It is a slave, with its own number, until it is the master, has a lease, and every member of the
   set has all that was in its log then. Then it has the number 0, and goes on with delayed and
   transactional messages.
2. With every change it registers at once, with the epoch of its master.
3. What every member has goes into the queues; held pulls are woken at the master.
"""

from collections.abc import Callable
from functools import partial

import msgspec

from reference_impl.rocketmq.broker.parts import Parts
from reference_impl.rocketmq.broker.registering import Registering
from reference_impl.rocketmq.ctgmq.replica import BrokerReplica
from reference_impl.rocketmq.ctgmq.requests import ControlAnswer, ControlRequest
from reference_impl.rocketmq.effects import Effect

_ANSWER = msgspec.msgpack.Decoder(ControlAnswer)


class Switching:
    """`begin`: it is the master now."""

    def __init__(
        self,
        parts: Parts,
        replica: BrokerReplica,
        registering: Registering,
        begin: Callable[[], None],
    ) -> None:
        self._parts = parts
        self._replica = replica
        self._registering = registering
        self._begin = begin
        self._known = (0, "")  # epoch and master
        self._number = parts.config.broker_id
        parts.role.follow(self._number)
        parts.ask_control = self._ask

    def turn(self) -> list[Effect]:
        """Return the replica's effects of this turn, after all that follows from it here."""
        effects = self._replica.take()
        for record in self._parts.store.copied():
            if not self._parts.role.is_slave:
                self._parts.arrived(record, record.offset, record.stored_ms)
        self._change()
        return effects

    def _change(self) -> None:
        replica, role = self._replica, self._parts.role
        master = replica.master
        known = (replica.epoch, replica.state.master)
        if known != self._known or (master is None and not role.is_slave):
            self._known = known
            role.follow(self._number)
            role.epoch = replica.epoch
            self._registering.now()
        if role.is_slave and replica.has_lease and master is not None and master.is_caught_up:
            self._lead()

    def _lead(self) -> None:
        self._parts.role.lead()
        self._parts.store.forget_given()
        self._begin()
        self._registering.now()

    def _ask(self, request: ControlRequest) -> None:
        sent_ms = self._parts.clock.now_ms()
        heard = partial(self._heard, sent_ms)
        self._registering.ask(msgspec.msgpack.encode(request), heard)

    def _heard(self, sent_ms: int, body: bytes) -> None:
        try:
            answer = _ANSWER.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return  # no answer of a control node
        self._replica.answered(sent_ms, answer)
