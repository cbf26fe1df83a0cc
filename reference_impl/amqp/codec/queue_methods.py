"""Methods about exchanges, queues and messages: classes exchange, queue, basic."""

from typing import ClassVar

from reference_impl.amqp.codec.method import Method
from reference_impl.amqp.codec.wire import Bit, Long, LongLong, Short, ShortStr, Table


class ExchangeDeclare(Method, frozen=True):
    index: ClassVar = (40, 10)
    ticket: Short
    exchange: ShortStr
    kind: ShortStr
    passive: Bit
    durable: Bit
    auto_delete: Bit
    internal: Bit
    nowait: Bit
    arguments: Table


class ExchangeDeclareOk(Method, frozen=True):
    index: ClassVar = (40, 11)


class ExchangeDelete(Method, frozen=True):
    index: ClassVar = (40, 20)
    ticket: Short
    exchange: ShortStr
    if_unused: Bit
    nowait: Bit


class ExchangeDeleteOk(Method, frozen=True):
    index: ClassVar = (40, 21)


class ExchangeBind(Method, frozen=True):
    index: ClassVar = (40, 30)
    ticket: Short
    destination: ShortStr
    source: ShortStr
    key: ShortStr
    nowait: Bit
    arguments: Table


class ExchangeBindOk(Method, frozen=True):
    index: ClassVar = (40, 31)


class ExchangeUnbind(Method, frozen=True):
    index: ClassVar = (40, 40)
    ticket: Short
    destination: ShortStr
    source: ShortStr
    key: ShortStr
    nowait: Bit
    arguments: Table


class ExchangeUnbindOk(Method, frozen=True):
    index: ClassVar = (40, 51)


class QueueDeclare(Method, frozen=True):
    index: ClassVar = (50, 10)
    ticket: Short
    queue: ShortStr
    passive: Bit
    durable: Bit
    exclusive: Bit
    auto_delete: Bit
    nowait: Bit
    arguments: Table


class QueueDeclareOk(Method, frozen=True):
    index: ClassVar = (50, 11)
    queue: ShortStr
    messages: Long
    consumers: Long


class QueueBind(Method, frozen=True):
    index: ClassVar = (50, 20)
    ticket: Short
    queue: ShortStr
    exchange: ShortStr
    key: ShortStr
    nowait: Bit
    arguments: Table


class QueueBindOk(Method, frozen=True):
    index: ClassVar = (50, 21)


class QueuePurge(Method, frozen=True):
    index: ClassVar = (50, 30)
    ticket: Short
    queue: ShortStr
    nowait: Bit


class QueuePurgeOk(Method, frozen=True):
    index: ClassVar = (50, 31)
    messages: Long


class QueueDelete(Method, frozen=True):
    index: ClassVar = (50, 40)
    ticket: Short
    queue: ShortStr
    if_unused: Bit
    if_empty: Bit
    nowait: Bit


class QueueDeleteOk(Method, frozen=True):
    index: ClassVar = (50, 41)
    messages: Long


class QueueUnbind(Method, frozen=True):
    index: ClassVar = (50, 50)
    ticket: Short
    queue: ShortStr
    exchange: ShortStr
    key: ShortStr
    arguments: Table


class QueueUnbindOk(Method, frozen=True):
    index: ClassVar = (50, 51)


class BasicQos(Method, frozen=True):
    index: ClassVar = (60, 10)
    prefetch_octets: Long
    prefetch_count: Short
    shared: Bit  # "global"


class BasicQosOk(Method, frozen=True):
    index: ClassVar = (60, 11)


class BasicConsume(Method, frozen=True):
    index: ClassVar = (60, 20)
    ticket: Short
    queue: ShortStr
    tag: ShortStr
    no_local: Bit
    no_ack: Bit
    exclusive: Bit
    nowait: Bit
    arguments: Table


class BasicConsumeOk(Method, frozen=True):
    index: ClassVar = (60, 21)
    tag: ShortStr


class BasicCancel(Method, frozen=True):
    index: ClassVar = (60, 30)
    tag: ShortStr
    nowait: Bit


class BasicCancelOk(Method, frozen=True):
    index: ClassVar = (60, 31)
    tag: ShortStr


class BasicPublish(Method, frozen=True):
    index: ClassVar = (60, 40)
    ticket: Short
    exchange: ShortStr
    key: ShortStr
    mandatory: Bit
    immediate: Bit


class BasicReturn(Method, frozen=True):
    index: ClassVar = (60, 50)
    code: Short
    text: ShortStr
    exchange: ShortStr
    key: ShortStr


class BasicDeliver(Method, frozen=True):
    index: ClassVar = (60, 60)
    tag: ShortStr
    delivery_tag: LongLong
    redelivered: Bit
    exchange: ShortStr
    key: ShortStr


class BasicGet(Method, frozen=True):
    index: ClassVar = (60, 70)
    ticket: Short
    queue: ShortStr
    no_ack: Bit


class BasicGetOk(Method, frozen=True):
    index: ClassVar = (60, 71)
    delivery_tag: LongLong
    redelivered: Bit
    exchange: ShortStr
    key: ShortStr
    messages: Long


class BasicGetEmpty(Method, frozen=True):
    index: ClassVar = (60, 72)
    reserved_1: ShortStr = ""


class BasicAck(Method, frozen=True):
    index: ClassVar = (60, 80)
    delivery_tag: LongLong
    multiple: Bit


class BasicReject(Method, frozen=True):
    index: ClassVar = (60, 90)
    delivery_tag: LongLong
    requeue: Bit


class BasicRecoverAsync(Method, frozen=True):
    index: ClassVar = (60, 100)
    requeue: Bit


class BasicRecover(Method, frozen=True):
    index: ClassVar = (60, 110)
    requeue: Bit


class BasicRecoverOk(Method, frozen=True):
    index: ClassVar = (60, 111)


class BasicNack(Method, frozen=True):
    index: ClassVar = (60, 120)
    delivery_tag: LongLong
    multiple: Bit
    requeue: Bit
