"""Packets on a link between two nodes, each with its length before it.

1. A packet is MessagePack with four octets of length (big endian) in front.
2. Packets come only when both ends have proven who they are (handshake), and until the link stands
   none is longer than GREETING_OCTETS_MAX.
3. What a node cannot read ends the link; it never ends the node. Packets that are nested deeper
   than the interpreter's stack allows are among that.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Union

import msgspec

from reference_impl.mirrored.messages import Activity
from reference_impl.node.gossip import Gossip, Greeting
from reference_impl.pid import Pid
from reference_impl.protocol.connections import CloseConnection, Connections, ListConnections
from reference_impl.protocol.queues import Tagged

LENGTH_OCTETS = 4
GREETING_OCTETS_MAX = 64 << 10


class Hello(msgspec.Struct, frozen=True, array_like=True, tag="h"):
    """The identity of an end: first of the one that accepted, then of the one that dialled."""

    node: str
    boot: int
    greeting: Greeting


class Welcome(msgspec.Struct, frozen=True, array_like=True, tag="k"):
    """The one that accepted takes the link: only now it stands, on both sides."""


class Tick(msgspec.Struct, frozen=True, array_like=True, tag="t"):
    """Nothing but a sign of life."""


class GossipPacket(msgspec.Struct, frozen=True, array_like=True, tag="g"):
    """A message of one cluster core to the other."""

    gossip: Gossip


class Short(msgspec.Struct, frozen=True, array_like=True, tag="a"):
    """The resources that the sender runs short of, from now on."""

    resources: tuple[str, ...]


class Watching(msgspec.Struct, frozen=True, array_like=True, tag="w"):
    watcher: Pid
    pid: Pid


class Unwatching(msgspec.Struct, frozen=True, array_like=True, tag="u"):
    watcher: Pid
    pid: Pid


class Downed(msgspec.Struct, frozen=True, array_like=True, tag="d"):
    watcher: Pid
    pid: Pid
    reason: str


def _kinds(base: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)


# Every message that processes may send; the two modules imported above define all of them.
assert issubclass(Activity, Tagged), "queues' own messages are among them"
if TYPE_CHECKING:
    Body = Any
else:
    Body = Union[(*_kinds(Tagged), ListConnections, Connections, CloseConnection)]


class Mail(msgspec.Struct, frozen=True, array_like=True, tag="m"):
    """A message from process to process."""

    to: Pid
    body: Body


Packet = Hello | Welcome | Tick | GossipPacket | Short | Watching | Unwatching | Downed | Mail

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(Packet)


class WireError(Exception):
    """Octets that are no packet of ours."""


def encode(packet: Packet) -> bytes:
    octets = _encoder.encode(packet)
    return len(octets).to_bytes(LENGTH_OCTETS, "big") + octets


class PacketReader:
    """Octets as they come, packets as they are whole. `octets_max`: of the next packet."""

    def __init__(self, octets_max: int) -> None:
        self.octets_max = octets_max
        self._held = bytearray()

    def read(self, octets: bytes) -> Iterator[Packet]:
        """Raises WireError."""
        self._held += octets
        held, at = memoryview(self._held), 0
        try:
            while len(held) - at >= LENGTH_OCTETS:
                begins = at + LENGTH_OCTETS
                ends = begins + int.from_bytes(held[at:begins], "big")
                if ends - begins > self.octets_max:
                    raise WireError(f"a packet of {ends - begins} octets")
                if ends > len(held):
                    break
                yield _decoder.decode(held[begins:ends])
                at = ends
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise WireError(str(error)) from error
        finally:
            held.release()
            del self._held[:at]
