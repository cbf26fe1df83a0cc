"""Connections that TCP made with themselves, which look like those to a server.

1. Linux may give a dialling socket, as its own port, the port that it dials. If nothing listens
   there, the two ends of the connection are the same socket: it hears what it says.
2. While it lasts, no server can listen on that port. After a normal close the port stays in
   TIME_WAIT for 60 s, and still no server can; after a reset it is free.
"""

import asyncio
import socket
import struct
from asyncio.trsock import TransportSocket

_RESETS = struct.pack("ii", 1, 0)  # of SO_LINGER: a close sends RST at once


def is_self_connection(connected: socket.socket | TransportSocket) -> bool:
    """Return whether it is connected with itself. If so, its close will reset it."""
    try:
        itself: bool = connected.getsockname() == connected.getpeername()
    except OSError:  # the peer has closed it in the meantime, so there was another one
        return False
    if itself:
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESETS)
    return itself


def aborted_self_connection(transport: asyncio.BaseTransport) -> bool:
    """Return whether it is connected with itself. If so, reset it at once."""
    assert isinstance(transport, asyncio.Transport), "TCP gives one"
    itself = is_self_connection(transport.get_extra_info("socket"))
    if itself:
        transport.abort()
    return itself
