"""A block of loopback addresses, 127.A.B.0/24: of one local cluster, or of clusters by hand.

1. Every host has its own address in it, so that all use the standard ports. If another program has
   one of these ports on every address (a broker, a published port), all are shifted alike.
2. A block is free if every address and port that will be used can be bound now. If another program
   binds one a moment later, the process that needs it ends, and `LocalNodes.failure` names both.
3. Nothing of a local cluster listens anywhere else.
"""

import errno
import secrets
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.cluster.port import DeployError, WrongInput
from harness.plan.layouts.worker_addresses import ADDRESSES

PROXY_PORT = 8474
_FIRST_HOST, _PROXY = 11, 100
_FIRST_WORKER = 130
_TRIES = 8
_SHIFTS = (0, 1_000, 3_000)
assert _FIRST_WORKER + ADDRESSES <= 255, "they have one part of an address"

Place = tuple[str, int]
Draw = Callable[[int], int]  # one of 0 .. n-1


@dataclass(frozen=True, slots=True)
class Block:
    """The first three parts of its addresses, and what is added to every standard port."""

    network: str
    shift: int = 0

    def host(self, number: int) -> str:
        """The address of the host of that number, from 0."""
        assert number < _PROXY - _FIRST_HOST, "a layout has at most 20 hosts"
        return f"{self.network}.{_FIRST_HOST + number}"

    @property
    def proxy(self) -> str:
        return f"{self.network}.{_PROXY}"

    @property
    def for_workers(self) -> tuple[str, ...]:
        """Other addresses of the proxy's, one for each worker of a run that takes one."""
        return tuple(f"{self.network}.{_FIRST_WORKER + number}" for number in range(ADDRESSES))

    def port(self, standard: int) -> int:
        return standard + self.shift

    def places(self, ports: Sequence[Sequence[int]]) -> Iterator[Place]:
        """Everything that a cluster will bind. `ports`: standard ones, of each host."""
        yield self.proxy, self.port(PROXY_PORT)
        for number, own in enumerate(ports):
            for standard in own:
                yield self.host(number), self.port(standard)


def free_block(
    ports: Sequence[Sequence[int]], moves: bool, draw: Draw = secrets.randbelow
) -> Block:
    """On standard ports if there is one; on others only where it `moves` there. `ports`: of
    each host. Raises WrongInput, with what is in the way."""
    taken: list[Place] = []
    for shift in _SHIFTS if moves else _SHIFTS[:1]:
        for _ in range(_TRIES):
            block = Block(f"127.{64 + draw(64)}.{1 + draw(254)}", shift)
            found = first_taken(block.places(ports))
            if found is None:
                return block
            taken.append(found)
    in_use = ", ".join(map(str, sorted({port for _, port in taken})))
    raise WrongInput(
        f"no free block of loopback addresses: tried {len(taken)}, and found ports {in_use} in "
        "use",
        remedy="something listens on all addresses of this machine (brokers? published ports?): "
        "stop it while the cluster runs",
    )


def first_taken(places: Iterable[Place]) -> Place | None:
    """Return the first at which a process listens; None if all are free. Raise DeployError."""
    for place in places:
        with socket.socket() as probe:
            # As servers do: what a connection left behind a moment ago does not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(place)
                probe.listen(1)
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise DeployError(
                        f"{place[0]}:{place[1]} cannot be bound: {error.strerror}",
                        remedy="local clusters need Linux, where all of 127.0.0.0/8 is this "
                        "machine",
                    ) from error
                return place
    return None
