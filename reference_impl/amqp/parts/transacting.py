"""Transactions of a channel: class tx (docs/behaviour/rabbitmq.md item 21, 2.3).

1. What is published and acknowledged waits in the channel until the commit. A delivery that is
   acknowledged so is out until then; a rollback has it out again, and requeues nothing.
2. A commit is answered when every replica holds every message, as publishers' confirms have it. It
   is not atomic: where one message was not taken others may have been, and the channel ends with
   406.
3. A channel has confirms or transactions, never both.
"""

from reference_impl.amqp.codec.session_methods import (
    TxCommit,
    TxRollback,
    TxRollbackOk,
    TxSelect,
    TxSelectOk,
)
from reference_impl.amqp.parts.acknowledging import Acknowledging
from reference_impl.amqp.parts.publishing import Publishing
from reference_impl.amqp.rules.errors import PRECONDITION_FAILED, AmqpError
from reference_impl.amqp.session import Outbox


class Transacting:
    def __init__(
        self, outbox: Outbox, publishing: Publishing, acknowledging: Acknowledging
    ) -> None:
        self._outbox = outbox
        self._publishing = publishing
        self._acknowledging = acknowledging
        self._selected = False

    def select(self, _: TxSelect) -> None:
        if not self._selected:
            self._publishing.transact()
            self._acknowledging.transact()
            self._selected = True
        self._outbox.say(TxSelectOk())

    def commit(self, _: TxCommit) -> None:
        """The answer comes when all of it is held."""
        self._check()
        self._publishing.commit()
        self._acknowledging.commit()
        self._publishing.settle()

    def rollback(self, _: TxRollback) -> None:
        self._check()
        self._publishing.roll_back()
        self._acknowledging.roll_back()
        self._outbox.say(TxRollbackOk())

    def _check(self) -> None:
        if not self._selected:
            raise AmqpError(PRECONDITION_FAILED, "channel is not transactional")
