"""Methods of a channel and the parts that carry them out, and the methods that need no part."""

from collections.abc import Callable
from typing import Any

from reference_impl.amqp.codec import queue_methods as q
from reference_impl.amqp.codec import session_methods as s
from reference_impl.amqp.codec.method import Method
from reference_impl.amqp.parts.acknowledging import Acknowledging
from reference_impl.amqp.parts.calls import Steps
from reference_impl.amqp.parts.consuming import Consuming
from reference_impl.amqp.parts.declaring import Declaring
from reference_impl.amqp.parts.exchanging import Exchanging
from reference_impl.amqp.parts.publishing import Publishing
from reference_impl.amqp.parts.transacting import Transacting
from reference_impl.amqp.rules.errors import CHANNEL_ERROR, AmqpError, not_implemented
from reference_impl.amqp.session import Outbox

Handler = Callable[[Any], Steps | None]
_TICKET = 1


def handlers(
    outbox: Outbox,
    publishing: Publishing,
    acknowledging: Acknowledging,
    consuming: Consuming,
    declaring: Declaring,
    exchanging: Exchanging,
    transacting: Transacting,
) -> dict[type[Method], Handler]:
    """All but basic.publish, basic.ack and channel.close, which the channel takes itself."""

    def flow(method: s.ChannelFlow) -> None:
        if not method.active:
            raise not_implemented("flow with active=false")
        outbox.say(s.ChannelFlowOk(True))

    def access(_: s.AccessRequest) -> None:
        outbox.say(s.AccessRequestOk(_TICKET))

    return {
        q.BasicReject: acknowledging.reject,
        q.BasicNack: acknowledging.nack,
        q.BasicRecover: acknowledging.recover,
        q.BasicRecoverAsync: acknowledging.recover,
        q.BasicConsume: consuming.consume,
        q.BasicCancel: consuming.cancel,
        q.BasicCancelOk: _pass,
        q.BasicGet: consuming.get,
        q.BasicQos: consuming.qos,
        q.QueueDeclare: declaring.declare,
        q.QueueDelete: declaring.delete,
        q.QueuePurge: declaring.purge,
        q.QueueBind: declaring.bind,
        q.QueueUnbind: declaring.unbind,
        q.ExchangeDeclare: exchanging.declare,
        q.ExchangeDelete: exchanging.delete,
        q.ExchangeBind: exchanging.bind,
        q.ExchangeUnbind: exchanging.unbind,
        s.ConfirmSelect: publishing.select,
        s.ChannelOpen: _opens_again,
        s.ChannelFlow: flow,
        s.ChannelFlowOk: _pass,
        s.AccessRequest: access,
        s.TxSelect: transacting.select,
        s.TxCommit: transacting.commit,
        s.TxRollback: transacting.rollback,
    }


def _pass(_: Method) -> None:
    """Ignore an answer that no call waits for."""


def _opens_again(_: Method) -> None:
    raise AmqpError(CHANNEL_ERROR, "second 'channel.open' seen")
