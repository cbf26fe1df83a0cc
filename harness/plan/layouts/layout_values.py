"""The parts of a layout, as frozen values: hosts, policies, and endpoints of clients."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

HOSTS = "hosts"  # a client goes on to another host when its own is lost
ONE = "one"  # a client knows one host, and comes back to it
BALANCERS = {  # a client knows one address, and who answers there passes it on to some host
    "haproxy": ("balancer1",),
    "haproxy-pair": ("balancer1", "balancer2"),  # the address floats between them
    "balancer": (),  # somebody else's, which no fault strikes
}
BALANCER = "balancer"  # the clients' endpoint then, and what such a host is to queues
BY_NAME_SERVERS = "name-server"  # the endpoint on record of clients that name servers direct
STANDBY = "standby balancer"  # what one of a pair is that has not the address


@dataclass(frozen=True, slots=True)
class Host:
    """A machine that can freeze, reboot or be cut off, and the processes that it carries."""

    name: str
    address: str
    processes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """A broker policy set once the cluster stands: name, pattern, definition as JSON values."""

    name: str
    pattern: str
    definition: tuple[tuple[str, str | int], ...]


MIB = 1 << 20  # octets
PolicyValue = str | int | tuple[str, ...]
NO_HANDLING = "none"
OF_IMAGE = "image"  # in a label, instead of the version of a user's own image
OF_DISTRIBUTION = "distribution"  # the same, of a vendor's own build
# Names among the versions that a run records: of the image that a user's own is, or ours.
USERS_IMAGE, BROKER_IMAGE = "user's image", "broker image"


@dataclass(frozen=True, slots=True)
class PauseIfAllDown:
    """A partition handling of RabbitMQ: who sees none of these hosts pauses."""

    hosts: tuple[str, ...]
    recover: str  # of the others: ignore or autoheal


class OwnLayout(Protocol):
    """The properties of a layout that only its family knows: a frozen, opaque value."""

    def describe(self) -> Iterable[tuple[str, str]]:
        """Describe it to people, before a run: pairs of a name and a value."""
        ...


@runtime_checkable
class VersionedLayout(OwnLayout, Protocol):
    """One that says which version the brokers have."""

    def in_version(self, version: str) -> "VersionedLayout":
        """Return the same for brokers of another version."""
        ...
