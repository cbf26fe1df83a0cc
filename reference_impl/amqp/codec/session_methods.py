"""Methods about connections and channels: classes connection, channel, access, confirm, tx."""

from typing import ClassVar

from reference_impl.amqp.codec.method import Method
from reference_impl.amqp.codec.wire import Bit, Long, LongStr, Octet, Short, ShortStr, Table


class ConnectionStart(Method, frozen=True):
    index: ClassVar = (10, 10)
    version_major: Octet
    version_minor: Octet
    server_properties: Table
    mechanisms: LongStr
    locales: LongStr


class ConnectionStartOk(Method, frozen=True):
    index: ClassVar = (10, 11)
    client_properties: Table
    mechanism: ShortStr
    response: LongStr
    locale: ShortStr


class ConnectionTune(Method, frozen=True):
    index: ClassVar = (10, 30)
    channel_max: Short
    frame_max: Long
    heartbeat_s: Short


class ConnectionTuneOk(Method, frozen=True):
    index: ClassVar = (10, 31)
    channel_max: Short
    frame_max: Long
    heartbeat_s: Short


class ConnectionOpen(Method, frozen=True):
    index: ClassVar = (10, 40)
    virtual_host: ShortStr
    reserved_1: ShortStr
    reserved_2: Bit


class ConnectionOpenOk(Method, frozen=True):
    index: ClassVar = (10, 41)
    reserved_1: ShortStr = ""


class ConnectionClose(Method, frozen=True):
    index: ClassVar = (10, 50)
    code: Short
    text: ShortStr
    class_id: Short
    method_id: Short


class ConnectionCloseOk(Method, frozen=True):
    index: ClassVar = (10, 51)


class ConnectionBlocked(Method, frozen=True):
    index: ClassVar = (10, 60)
    reason: ShortStr


class ConnectionUnblocked(Method, frozen=True):
    index: ClassVar = (10, 61)


class ConnectionUpdateSecret(Method, frozen=True):
    index: ClassVar = (10, 70)
    secret: LongStr
    reason: ShortStr


class ConnectionUpdateSecretOk(Method, frozen=True):
    index: ClassVar = (10, 71)


class ChannelOpen(Method, frozen=True):
    index: ClassVar = (20, 10)
    reserved_1: ShortStr


class ChannelOpenOk(Method, frozen=True):
    index: ClassVar = (20, 11)
    reserved_1: LongStr = b""


class ChannelFlow(Method, frozen=True):
    index: ClassVar = (20, 20)
    active: Bit


class ChannelFlowOk(Method, frozen=True):
    index: ClassVar = (20, 21)
    active: Bit


class ChannelClose(Method, frozen=True):
    index: ClassVar = (20, 40)
    code: Short
    text: ShortStr
    class_id: Short
    method_id: Short


class ChannelCloseOk(Method, frozen=True):
    index: ClassVar = (20, 41)


class AccessRequest(Method, frozen=True):
    index: ClassVar = (30, 10)
    realm: ShortStr
    exclusive: Bit
    passive: Bit
    active: Bit
    write: Bit
    read: Bit


class AccessRequestOk(Method, frozen=True):
    index: ClassVar = (30, 11)
    ticket: Short


class ConfirmSelect(Method, frozen=True):
    index: ClassVar = (85, 10)
    nowait: Bit


class ConfirmSelectOk(Method, frozen=True):
    index: ClassVar = (85, 11)


class TxSelect(Method, frozen=True):
    index: ClassVar = (90, 10)


class TxSelectOk(Method, frozen=True):
    index: ClassVar = (90, 11)


class TxCommit(Method, frozen=True):
    index: ClassVar = (90, 20)


class TxCommitOk(Method, frozen=True):
    index: ClassVar = (90, 21)


class TxRollback(Method, frozen=True):
    index: ClassVar = (90, 30)


class TxRollbackOk(Method, frozen=True):
    index: ClassVar = (90, 31)
