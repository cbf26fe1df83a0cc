"""The Python package of a native client, called by the names that it has (native_found.WAYS).

1. Bodies hold zero bytes, at which the package's own accessors stop: they are set and read by
   length. The library tells no length of a body that it hands out. Ours begin with a header that
   does, and that has a checksum; of any other message no more is read than its first zero byte
   bounds. Nor is more read than the record holds: it is at least as long as its body, for no
   producer of ours deflates (level 0 stores, in a zlib envelope; from 4096 bytes on, which cannot
   be switched off by either package).
2. Messages are made, filled and freed here, not by the packages' class: 2.0.0 never frees one that
   was sent. These calls keep Python's lock: they are short, and giving it up and winning it back
   from a hundred threads that send costs more than they do.
3. A C callback of an async send tells neither message nor tag, so each send has callbacks of its
   own. 0.4.4's send_async keeps half of them for ever, in a list that it searches at each answer.
4. C hands results to callbacks by value. 0.4.4 declares a pointer there, which is right by the
   luck of what that build leaves in a register: ours are declared as C has them.
"""

import ctypes
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from harness.workers.clients.rocketmq.native_attached import first
from harness.workers.clients.rocketmq.native_found import NEEDED, WAYS, Way, having
from harness.workers.clients.rocketmq.options import RocketOptions, group, name_servers, readers
from harness.workers.protocol import WorkerConfig
from spark_analysis.schema.body import HEADER_BYTES, MAGIC, length_of

INNER_RETRIES = 1  # of an ordered send: the least with which the library sends at all
STORED_AS_IT_IS = 0  # a level of zlib's
# The fixed parts of a record of the log, counted with body, topic and properties.
RECORD_BYTES = 91
_SHARDED = "send_orderly_with_sharding_key"
# Callbacks that were called and may be returning still, in some thread of the library's.
_SPENT = 1024


class NativeDelivery(NamedTuple):
    """What the library tells of a message that it hands out."""

    body: bytes
    offset: int
    again: bool  # the broker counted a former try


def keeping_the_lock(library: Any) -> Any:
    """The same library, loaded already; its functions are called with Python's lock held."""
    return ctypes.PyDLL(library._name, handle=library._handle)


class Messages:
    """What is sent: each message is its C handle, to be freed whatever becomes of it."""

    def __init__(self, library: Any, check: Callable[[int], None]) -> None:
        self._check, handle = check, ctypes.c_void_p
        self._create = library["CreateMessage"]
        self._create.argtypes, self._create.restype = [ctypes.c_char_p], handle
        self._fill = library["SetByteMessageBody"]
        self._fill.argtypes = [handle, ctypes.c_char_p, ctypes.c_int]
        self._delay = library["SetDelayTimeLevel"]
        self._delay.argtypes = [handle, ctypes.c_int]
        self._destroy = library["DestroyMessage"]
        self._destroy.argtypes = [handle]

    def create(self, topic: bytes) -> int:
        return self._create(topic)  # type: ignore[no-any-return]

    def fill(self, message: int, body: bytes, delay_level: int) -> None:
        """Raises RocketMQException."""
        self._check(self._fill(message, body, len(body)))
        if delay_level:
            self._check(self._delay(message, delay_level))

    def free(self, message: int) -> None:
        self._destroy(message)


class Package:
    """`rocketmq`, imported. Made only where native_found.look refuses nothing."""

    def __init__(self) -> None:
        from rocketmq import client, exceptions, ffi

        self.client, self.ffi = client, ffi
        self.library = ffi.dll
        self.check: Callable[[int], None] = exceptions.ffi_check
        self.messages = Messages(keeping_the_lock(ffi.dll), self.check)
        self._has = having(client, ffi.dll)
        self._body_of = ffi.dll["GetMessageBody"]  # a function of our own, with types of its own
        # The address that it returns, not the text up to its first zero byte.
        self._body_of.argtypes, self._body_of.restype = [ctypes.c_void_p], ctypes.c_void_p

    def producer(self, config: WorkerConfig) -> Any:
        """Set up, and not started. Raises RocketMQException."""
        options = RocketOptions.from_json(config.own)
        sharded = options.producer == "ordered" and self._ordered == _SHARDED
        named = group(config.queue, "writers")
        made = self.client.Producer(named, **({"orderly": True} if sharded else {}))
        self._call(made, "producers' name servers", name_servers(first(config)))
        instance = config.connection_name.encode()
        self.check(self.library.SetProducerInstanceName(made._handle, instance))
        made.set_timeout(options.send_timeout_ms)
        made.set_max_message_size(config.body_bytes)
        made.set_compress_level(STORED_AS_IT_IS)
        return made

    def consumer(self, config: WorkerConfig, hear: Callable[[int, int], int]) -> Any:
        """Subscribed, and not started; `hear` gets each message's handle second, in a thread of
        the library's. Raises RocketMQException."""
        options = RocketOptions.from_json(config.own)
        made = self.client.PushConsumer(readers(config), options.consumer == "orderly")
        self._call(made, "consumers' name servers", name_servers(first(config)))
        made.set_instance_name(config.connection_name)
        made.set_thread_count(options.threads)
        self.check(self.library.Subscribe(made._handle, config.queue.encode(), b"*"))
        # Not the package's `subscribe`: it would hand out a body that ends at its first zero byte.
        made._register_callback(hear)
        return made

    def send_ordered(self, producer: Any, message: int, key: int) -> Any:
        """The package's SendResult. Raises RocketMQException."""
        if self._ordered == _SHARDED:
            return producer.send_orderly_with_sharding_key(message, str(key))
        return producer.send_orderly(message, key, INNER_RETRIES)

    def read(self, handle: int) -> NativeDelivery:
        """Of a message that the library hands out, while its callback lasts."""
        most = max(0, int(self.library.GetMessageStoreSize(handle)) - RECORD_BYTES)
        body = whole_body(self._body_of(handle), most)
        again = int(self.library.GetMessageReconsumeTimes(handle)) > 0
        return NativeDelivery(body, int(self.library.GetMessageQueueOffset(handle)), again)

    @property
    def _ordered(self) -> str:
        return self._way(WAYS["ordered"]).method

    def _way(self, ways: tuple[Way, ...]) -> Way:
        return next(filter(self._has, ways))

    def _call(self, thing: Any, what: str, *words: Any) -> None:
        getattr(thing, self._way(NEEDED[what]).method)(*words)


def whole_body(address: int | None, most: int) -> bytes:
    """The body at a C string's address that has `most` bytes at most, whatever bytes it holds."""
    if not address:
        return b""
    text = ctypes.string_at(address)
    if not text.startswith(MAGIC):
        return text[:most]
    head = ctypes.string_at(address, min(HEADER_BYTES, most))
    length = length_of(head)
    return head if length is None else ctypes.string_at(address, min(length, most))


class AsyncSends:
    """The async sends of one producer.

    Exactly one of `answered` and `failed` is called for each tag, in a thread of the library,
    unless `send` raises.
    """

    def __init__(
        self,
        package: Package,
        producer: Any,
        answered: Callable[[int, int], None],
        failed: Callable[[int, bytes], None],
    ) -> None:
        self._package, self._producer = package, producer
        self._answered, self._failed = answered, failed
        self._stored = ctypes.CFUNCTYPE(None, package.ffi._CSendResult)
        self._refused = ctypes.CFUNCTYPE(None, package.ffi._CMQException)
        self._function = package.library["SendMessageAsync"]
        handle = ctypes.c_void_p
        self._function.argtypes = [handle, handle, self._stored, self._refused]
        self._function.restype = ctypes.c_int
        self._out: dict[int, tuple[Any, Any]] = {}  # tag -> what C may call
        self._spent: deque[tuple[Any, Any]] = deque(maxlen=_SPENT)

    def send(self, tag: int, message: int) -> None:
        """Raises RocketMQException where the library took nothing."""

        def stored(result: Any) -> None:
            if self._settle(tag):
                self._answered(tag, int(result.sendStatus))

        def refused(exception: Any) -> None:
            if self._settle(tag):
                self._failed(tag, exception.msg)

        callbacks = self._stored(stored), self._refused(refused)
        self._out[tag] = callbacks
        status = self._function(self._producer._handle, message, *callbacks)
        # It calls back and returns a failure, both, of some.
        if status and self._settle(tag):
            self._package.check(status)

    def _settle(self, tag: int) -> bool:
        """Whether this is the first that is heard of it."""
        callbacks = self._out.pop(tag, None)
        if callbacks is None:
            return False
        self._spent.append(callbacks)
        return True
