"""Both native packages as their sources name things, over a library of Python functions.

1. Classes, methods, their order of parameters and what they lack are those of the wheel of
   `rocketmq` 0.4.4 and of the source archive of rocketmq-client-python 2.0.0.
2. The library keeps its settings, stores what is sent at once, and deflates as the real one:
   from 4096 bytes on, at the level that it was reported, and the record counts what was stored.
"""

import ctypes
import itertools
import os
import sys
import zlib
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest

from harness.workers.clients.rocketmq import native_found, native_package

OLD, NEW = "rocketmq 0.4.4", "rocketmq-client-python 2.0.0"
DEFLATES_FROM = 4096
RECORD = 91  # and the topic's length
_BOTH = {
    *("CreateMessage", "DestroyMessage", "SetByteMessageBody", "SetDelayTimeLevel"),
    *("GetMessageBody", "GetMessageStoreSize", "GetMessageQueueOffset"),
    *("GetMessageReconsumeTimes", "CreateProducer", "DestroyProducer", "StartProducer"),
    *("ShutdownProducer", "SetProducerNameServerAddress", "SetProducerInstanceName"),
    *("SetProducerSendMsgTimeout", "SetProducerCompressLevel", "SetProducerMaxMessageSize"),
    *("SendMessageSync", "SendMessageAsync", "SendMessageOneway", "SendMessageOrderly"),
    *("CreatePushConsumer", "StartPushConsumer", "ShutdownPushConsumer"),
    *("SetPushConsumerNameServerAddress", "SetPushConsumerInstanceName", "Subscribe"),
    *("SetPushConsumerThreadCount", "RegisterMessageCallback"),
    "RegisterMessageCallbackOrderly",
}
EXPORTED = {
    OLD: frozenset(_BOTH),
    NEW: frozenset(
        _BOTH
        | {"CreateOrderlyProducer", "SendMessageOrderlyByShardingKey"}
        | {"CreateTransactionProducer", "SendMessageTransaction"}
    ),
}


class CSendResult(ctypes.Structure):
    _fields_ = [
        ("sendStatus", ctypes.c_int),
        ("msgId", ctypes.c_char * 256),
        ("offset", ctypes.c_longlong),
    ]


class CMQException(ctypes.Structure):
    _fields_ = [
        ("error", ctypes.c_int),
        ("line", ctypes.c_int),
        ("file", ctypes.c_char * 512),
        ("msg", ctypes.c_char * 512),
        ("type", ctypes.c_char * 512),
    ]


class Out(NamedTuple):
    """An async send that waits for its answer."""

    body: bytes
    stored: Callable[[CSendResult], None]
    refused: Callable[[CMQException], None]


class Function:
    """As ctypes has it: its types can be told."""

    def __init__(self, does: Callable[..., Any]) -> None:
        self._does = does
        self.argtypes: Any = None
        self.restype: Any = None

    def __call__(self, *args: Any) -> Any:
        return self._does(*args)


class Library:
    """librocketmq, of the functions of `exported` alone."""

    _name = "/lib/librocketmq.so"

    def __init__(self, exported: frozenset[str]) -> None:
        self.exported = exported
        self.arguments: dict[str, tuple[Any, ...]] = {}  # each function's last arguments
        self.bodies: dict[int, bytes] = {}  # of messages that were made and not freed
        self.log: list[bytes] = []  # bodies as they were sent
        self.out: list[Out] = []
        self.at_once: Callable[[Out], int] = lambda _: 0  # what SendMessageAsync does and returns
        self._handles = itertools.count(1)

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_") or name not in self.exported:
            raise AttributeError(f"undefined symbol: {name}")

        def does(*args: Any) -> Any:
            self.arguments[name] = args
            return getattr(self, f"_{name}", lambda *_: 0)(*args)

        return Function(does)

    def __getitem__(self, name: str) -> Function:
        return getattr(self, name)  # type: ignore[no-any-return]

    def _CreateMessage(self, _topic: bytes) -> int:
        return next(self._handles)

    _CreateProducer = _CreateOrderlyProducer = _CreatePushConsumer = _CreateMessage

    def _SetByteMessageBody(self, message: int, body: bytes, length: int) -> int:
        self.bodies[message] = body[:length]
        return 0

    def _DestroyMessage(self, message: int) -> int:
        del self.bodies[message]
        return 0

    def _send(self, _producer: int, message: int, *rest: Any) -> int:
        self.log.append(self.bodies[message])
        if rest:
            rest[-1].contents.sendStatus = 0
        return 0

    _SendMessageSync = _SendMessageOneway = _SendMessageOrderly = _send
    _SendMessageOrderlyByShardingKey = _send

    def _SendMessageAsync(self, _producer: int, message: int, stored: Any, refused: Any) -> int:
        out = Out(self.bodies[message], stored, refused)
        self.log.append(out.body)
        self.out.append(out)
        return self.at_once(out)

    def _GetMessageBody(self, message: int) -> int:
        self._text = ctypes.create_string_buffer(self.log[message - 1])
        return ctypes.addressof(self._text)

    def _GetMessageStoreSize(self, message: int) -> int:
        body = self.log[message - 1]
        if len(body) >= DEFLATES_FROM:
            _, level = self.arguments.get("SetProducerCompressLevel", (0, 5))
            body = zlib.compress(body, level)
        return RECORD + len(self.arguments["Subscribe"][1]) + len(body)


class RocketMQException(Exception):
    """As the package's own; those of sends are derived from it."""


def installed(monkeypatch: pytest.MonkeyPatch, package: str) -> Library:
    """This Python has `package` now, over the library that is returned."""
    library = Library(EXPORTED[package])
    modules = {name: ModuleType(name) for name in _NAMES}
    modules["rocketmq.ffi"].__dict__.update(
        dll=library, _CSendResult=CSendResult, _CMQException=CMQException
    )
    modules["rocketmq.exceptions"].__dict__.update(
        RocketMQException=RocketMQException, ffi_check=_check
    )
    classes = _old(library) if package == OLD else _new(library)
    modules["rocketmq.client"].__dict__.update(vars(classes))
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
        if "." in name:
            setattr(modules["rocketmq"], name.partition(".")[2], module)
    name, version = package.split()
    monkeypatch.setattr(native_package, "keeping_the_lock", lambda library: library)
    monkeypatch.setattr(native_found, "installed", lambda: {name: version})
    monkeypatch.setenv("HOME", os.environ["HOME"])  # which the client moves: put back in the end
    return library


_NAMES = ("rocketmq", "rocketmq.ffi", "rocketmq.exceptions", "rocketmq.client")


def _check(status: int) -> None:
    if status:
        raise RocketMQException(f"status {status}")


def _shared(dll: Library) -> SimpleNamespace:
    """What both have under the same names."""

    class Producer:
        _handle: int

        def send_sync(self, msg: int) -> CSendResult:
            return self._sent(dll.SendMessageSync, msg)

        def send_oneway(self, msg: int) -> None:
            _check(dll.SendMessageOneway(self._handle, msg))

        def _sent(self, function: Function, msg: int, *rest: Any) -> Any:
            result = CSendResult()
            _check(function(self._handle, msg, *rest, ctypes.pointer(result)))
            return SimpleNamespace(status=result.sendStatus)

        def set_timeout(self, timeout: int) -> None:
            _check(dll.SetProducerSendMsgTimeout(self._handle, timeout))

        def set_compress_level(self, level: int) -> None:
            _check(dll.SetProducerCompressLevel(self._handle, level))

        def set_max_message_size(self, max_size: int) -> None:
            _check(dll.SetProducerMaxMessageSize(self._handle, max_size))

        def start(self) -> None:
            _check(dll.StartProducer(self._handle))

        def shutdown(self) -> None:
            _check(dll.ShutdownProducer(self._handle))

    class PushConsumer:
        def __init__(self, group_id: str, orderly: bool = False) -> None:
            self._handle = dll.CreatePushConsumer(group_id.encode())
            self._orderly = orderly

        def _register_callback(self, callback: Callable[[int, int], int]) -> None:
            kind = "Orderly" if self._orderly else ""
            _check(dll[f"RegisterMessageCallback{kind}"](self._handle, callback))

        def set_thread_count(self, thread_count: int) -> None:
            _check(dll.SetPushConsumerThreadCount(self._handle, thread_count))

        def set_instance_name(self, name: str) -> None:
            _check(dll.SetPushConsumerInstanceName(self._handle, name.encode()))

        def start(self) -> None:
            _check(dll.StartPushConsumer(self._handle))

        def shutdown(self) -> None:
            _check(dll.ShutdownPushConsumer(self._handle))

    return SimpleNamespace(Producer=Producer, PushConsumer=PushConsumer)


def _old(dll: Library) -> SimpleNamespace:
    shared: Any = _shared(dll)

    class Producer(shared.Producer):  # type: ignore[misc]
        def __init__(
            self,
            group_id: str,
            timeout: int | None = None,
            compress_level: int | None = None,
            max_message_size: int | None = None,
        ) -> None:
            self._handle = dll.CreateProducer(group_id.encode())
            self._callback_refs: list[Any] = []

        def set_namesrv_addr(self, addr: str) -> None:
            _check(dll.SetProducerNameServerAddress(self._handle, addr.encode()))

        def send_async(self, msg: Any, success_callback: Any, exception_callback: Any) -> None:
            raise AssertionError("it keeps callbacks for ever")

        def send_orderly(self, msg: Any, arg: int, retry_times: int = 3) -> Any:
            return self._sent(dll.SendMessageOrderly, msg, arg, retry_times)

    class PushConsumer(shared.PushConsumer):  # type: ignore[misc]
        def set_namesrv_addr(self, addr: str) -> None:
            _check(dll.SetPushConsumerNameServerAddress(self._handle, addr.encode()))

    return SimpleNamespace(
        Producer=Producer,
        PushConsumer=PushConsumer,
        PullConsumer=object,
        RecvMessage=object,
    )


def _new(dll: Library) -> SimpleNamespace:
    shared: Any = _shared(dll)

    class Producer(shared.Producer):  # type: ignore[misc]
        def __init__(
            self,
            group_id: str,
            orderly: bool = False,
            timeout: int | None = None,
            compress_level: int | None = None,
            max_message_size: int | None = None,
        ) -> None:
            create = dll.CreateOrderlyProducer if orderly else dll.CreateProducer
            self._handle = create(group_id.encode())

        def set_name_server_address(self, addr: str) -> None:
            _check(dll.SetProducerNameServerAddress(self._handle, addr.encode()))

        def send_orderly_with_sharding_key(self, msg: Any, sharding_key: str) -> Any:
            return self._sent(dll.SendMessageOrderlyByShardingKey, msg, sharding_key.encode())

    class PushConsumer(shared.PushConsumer):  # type: ignore[misc]
        def set_name_server_address(self, addr: str) -> None:
            _check(dll.SetPushConsumerNameServerAddress(self._handle, addr.encode()))

    return SimpleNamespace(
        Producer=Producer,
        PushConsumer=PushConsumer,
        TransactionMQProducer=object,
        ReceivedMessage=object,
    )
