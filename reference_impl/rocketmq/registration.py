"""The body of a broker's registration at a name server (docs/behaviour/rocketmq.md 3.1).

1. JSON, or the deflated form of `compressedRegister`; both become the same.
2. A body whose checksum is another is refused; a checksum of 0 is none.
3. What unpacks to more than INFLATED_MAX is refused before it is unpacked.
"""

import struct
import zlib

import msgspec

from reference_impl.rocketmq.remoting.fields import UNREADABLE, BadRequest

INFLATED_MAX = 64 * 1024 * 1024
_CHECKSUM_MASK = 0x7FFFFFFF
_LENGTH = struct.Struct(">i")
_TEXT_PARTS = 5


class DataVersion(msgspec.Struct, frozen=True):
    """Of a broker's topics. Two are the same or they are not; none is before another."""

    counter: int = 0
    timestamp: int = 0


class Topic(msgspec.Struct, frozen=True, rename="camel"):
    """As one broker has it configured. `perm`: 4 read, 2 write, 1 inherit."""

    topic_name: str
    read_queue_nums: int = 16
    write_queue_nums: int = 16
    perm: int = 6
    topic_filter_type: str = "SINGLE_TAG"
    topic_sys_flag: int = 0
    order: bool = False


class Topics(msgspec.Struct, frozen=True, rename="camel"):
    """Every topic of a broker, by name."""

    topic_config_table: dict[str, Topic] = {}
    data_version: DataVersion = DataVersion()


class Registration(msgspec.Struct, frozen=True, rename="camel"):
    topic_config_serialize_wrapper: Topics = Topics()
    filter_server_list: list[str] = []


_DECODER = msgspec.json.Decoder(Registration)


def read(body: bytes, compressed: bool, checksum: int) -> Registration:
    """Raises BadRequest."""
    if checksum and zlib.crc32(body) & _CHECKSUM_MASK != checksum:
        raise BadRequest("crc32 not match")
    if not body:
        return Registration()
    try:
        return _inflated(body) if compressed else _DECODER.decode(body)
    except (msgspec.DecodeError, struct.error, zlib.error, ValueError, RecursionError) as error:
        raise BadRequest(f"no registration: {error}") from error


def read_version(body: bytes) -> DataVersion:
    """Raises BadRequest."""
    try:
        return msgspec.json.decode(body, type=DataVersion)
    except UNREADABLE as error:
        raise BadRequest(f"no data version: {error}") from error


def _inflated(body: bytes) -> Registration:
    octets = _Octets(_inflate(body))
    version = msgspec.json.decode(octets.sized(), type=DataVersion)
    topics = [_topic(octets.sized().decode()) for _ in range(octets.number())]
    filters = msgspec.json.decode(octets.sized(), type=list[str])
    return Registration(Topics({one.topic_name: one for one in topics}, version), filters)


def _inflate(body: bytes) -> bytes:
    inflater = zlib.decompressobj()
    octets = inflater.decompress(body, INFLATED_MAX)
    if inflater.unconsumed_tail:
        raise ValueError(f"it unpacks to more than {INFLATED_MAX} octets")
    return octets


def _topic(text: str) -> Topic:
    """`name read write perm SINGLE_TAG`."""
    parts = text.split(" ")
    if len(parts) != _TEXT_PARTS:
        raise ValueError(f"no topic: {text[:80]!r}")
    return Topic(parts[0], int(parts[1]), int(parts[2]), int(parts[3]), parts[4])


class _Octets:
    def __init__(self, octets: bytes) -> None:
        self._octets = octets
        self._at = 0

    def number(self) -> int:
        (number,) = _LENGTH.unpack_from(self._octets, self._at)
        self._at += _LENGTH.size
        return int(number)

    def sized(self) -> bytes:
        size, start = self.number(), self._at
        if not 0 <= size <= len(self._octets) - start:
            raise ValueError(f"{size} octets are announced where others are left")
        self._at = start + size
        return self._octets[start : self._at]
