"""Ports for servers that start later, or stop and start again."""

import socket
from random import Random

# Below 32768, where Linux takes none for a dialling socket while the server is down. Other rigs
# begin lower.
_PORTS = range(30_500, 32_700)


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port at which nothing listens; other test workers look at the same time."""
    for port in Random().sample(_PORTS, len(_PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return port
    raise AssertionError(f"no free port of {_PORTS}")
