"""Connections that TCP made with themselves: they echo what is said, as if a server answered.

Linux may give a dialling socket, as its own port, the port that it dials: after some thousand
tries if the port is an ephemeral one (32768 to 60999) of the same address. Then no broker can
listen there. After a normal close the port stays in TIME_WAIT for 60 s; after a reset it is free.
"""

import errno
import socket
import struct
from asyncio.trsock import TransportSocket

_RESETS = struct.pack("ii", 1, 0)  # of SO_LINGER: a close sends RST at once


def refuse_self_connection(connected: socket.socket | TransportSocket) -> None:
    """Raise ConnectionRefusedError if it is connected with itself; then its close will reset it.

    Call it before anything is sent: a broker that is down would seem to answer.
    """
    try:
        itself = connected.getsockname() == connected.getpeername()
    except OSError:  # the peer has closed it in the meantime, so there was another one
        return
    if itself:
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESETS)
        raise ConnectionRefusedError(
            errno.ECONNREFUSED, "nothing listens there: the connection was made with itself"
        )
