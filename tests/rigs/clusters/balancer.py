"""One address before several ports: each connection goes to the next that takes it."""

import itertools
import socket
import socketserver
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from tests.rigs.clusters.tls_front import pass_on

CONNECT_LIMIT_S = 0.5


class _Balancer(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, upstreams: Sequence[int]) -> None:
        self.turns = itertools.cycle(upstreams)
        self.count = len(upstreams)
        super().__init__(("127.0.0.1", 0), _Passing)


class _Passing(socketserver.BaseRequestHandler):
    server: _Balancer

    def handle(self) -> None:
        for _ in range(self.server.count):
            where = ("127.0.0.1", next(self.server.turns))
            with suppress(OSError), socket.create_connection(where, CONNECT_LIMIT_S) as far:
                far.settimeout(None)
                pass_on(self.request, far)
                return


@contextmanager
def standing(upstreams: Sequence[int]) -> Iterator[int]:
    """Its port on loopback."""
    with _Balancer(upstreams) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield int(server.server_address[1])
        server.shutdown()
