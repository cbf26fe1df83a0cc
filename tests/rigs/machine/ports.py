"""Ports for servers that start later, or stop and start again."""

import socket
from random import Random

# Below 32768: while a server is down, a connection to which Linux gave its port would keep it from
# coming back. Rigs that look for several ports look below these.
PORTS = range(30_500, 32_700)


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port at which nothing listens; other test workers look at the same time."""
    for port in Random().sample(PORTS, len(PORTS)):
        if is_free(port, host):
            return port
    raise AssertionError(f"no free port of {PORTS}")


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
