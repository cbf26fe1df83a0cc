"""A TLS listener before a port that speaks none, as brokers have one of their own."""

import select
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.rigs.clusters.certificates import Certified

_CHUNK = 65536


@dataclass(frozen=True)
class Front:
    """`upstream`: a port on loopback; None: it answers one byte, and nothing else."""

    shows: Certified
    upstream: int | None = None
    wants: Path | None = None  # the authority that must have signed clients' certificates
    tls12: bool = False

    def context(self) -> ssl.SSLContext:
        found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        found.load_cert_chain(self.shows.certificate, self.shows.key)
        if self.tls12:
            found.maximum_version = ssl.TLSVersion.TLSv1_2
        if self.wants is not None:
            found.load_verify_locations(self.wants)
            found.verify_mode = ssl.CERT_REQUIRED
        return found


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, front: Front) -> None:
        self.front = front
        self.context = front.context()
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        with suppress(OSError):  # clients that it refuses, and that refuse it, are the point
            self._serve()

    def _serve(self) -> None:
        upstream = self.server.front.upstream
        with self.server.context.wrap_socket(self.request, server_side=True) as near:
            if upstream is None:
                near.recv(8)
                near.sendall(b"\x01")
                return
            with socket.create_connection(("127.0.0.1", upstream)) as far:
                pass_on(near, far)


def pass_on(near: socket.socket, far: socket.socket) -> None:
    """Both ways, until one side ends."""
    while True:
        waits = isinstance(near, ssl.SSLSocket) and near.pending()
        ready = [near] if waits else select.select([near, far], [], [])[0]
        for one in ready:
            octets = one.recv(_CHUNK)
            if not octets:
                return
            (far if one is near else near).sendall(octets)


@contextmanager
def standing(*fronts: Front) -> Iterator[list[int]]:
    """Their ports on loopback, in order."""
    with ExitStack() as stack:
        ports = []
        for front in fronts:
            server = stack.enter_context(_Server(front))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
            ports.append(int(server.server_address[1]))
        yield ports
