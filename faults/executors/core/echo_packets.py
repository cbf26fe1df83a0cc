"""PURE: the packets of echo requests (ICMP, RFC 792), and how a report of them is read."""

import json
import struct

from faults.core.model import FaultError, PacketSamples

REQUEST, REPLY = 8, 0  # types
_HEAD = struct.Struct("!BBHHH")  # type, code, checksum, identifier, sequence number
_WORD = 4  # bytes, by which a header of IPv4 counts its length


def request(identifier: int, number: int) -> bytes:
    """Return the request of this sequence number. Both: 16 bits."""
    bare = _HEAD.pack(REQUEST, 0, 0, identifier, number)
    return _HEAD.pack(REQUEST, 0, checksum(bare), identifier, number)


def answered(packet: bytes, identifier: int) -> int | None:
    """Return the sequence number of the request that a packet with its header of IPv4 answers;
    None if it answers none of this identifier."""
    start = (packet[0] & 0x0F) * _WORD if packet else 0
    if len(packet) < start + _HEAD.size:
        return None
    kind, code, _, own, number = _HEAD.unpack_from(packet, start)
    return int(number) if (kind, code, own) == (REPLY, 0, identifier) else None


def checksum(content: bytes) -> int:
    """Return the Internet checksum (RFC 1071) of an even number of bytes."""
    total: int = sum(word for (word,) in struct.iter_unpack("!H", content))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def report(samples: PacketSamples) -> str:
    """Return one line, which `samples_of` reads."""
    return json.dumps({"sent": samples.sent, "seconds": samples.seconds})


def samples_of(text: str, way: str) -> PacketSamples:
    """Return what `report` wrote. Raise FaultError if it is none."""
    try:
        found = json.loads(text)
        return PacketSamples(int(found["sent"]), tuple(map(float, found["seconds"])))
    except (ValueError, KeyError, TypeError) as error:
        raise FaultError(f"{way}: echo requests said {text.strip()[:200]!r}") from error
