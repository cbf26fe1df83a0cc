"""A cluster that somebody else runs: where its brokers are, and what may be done to them.

1. Values only; they are read from a file of the user's (topology_toml.py).
2. Credentials are names of environment variables: a topology holds no secret, and may be stored.
3. What only a family of brokers understands is a value of its own (`Own`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from faults.core.commands import HostCommand, HostCommands
from faults.core.kind import Kind, Sight
from faults.core.targets import CLIENT_LINK

EMBEDDED = "embedded"
ROOT = "/"  # the virtual host that brokers begin with
SYSTEM_CA = "system"  # the certificates that this machine trusts
EVERYWHERE = ("0.0.0.0", "::")  # addresses to listen at, never to dial


@dataclass(frozen=True, slots=True)
class BrokerNode:
    """One node of the cluster, and the machine that it runs on."""

    host: str  # what scenarios and reports call the machine
    node: str  # what the cluster calls the node
    address: str
    port: int  # where clients speak to it
    commands: dict[str, HostCommand] = field(default_factory=dict)  # by kind
    server_name: str = ""  # the name that its certificate must hold; "": its address
    reached: bool = True  # by an address of its own; or else by the balancer's alone
    process: str = (
        ""  # its word, where clients choose links by it (harness/plan/layouts/servers.py)
    )
    votes_at: int = 0  # the port at which probers ask it who leads; 0: none does

    @property
    def name_checked(self) -> str:
        """Return the name that TLS requests and checks, whichever way a connection takes."""
        return self.server_name or self.address

    @property
    def upstream(self) -> str:
        """Return it in a proxy's form: `address:port`."""
        return f"{bracketed(self.address)}:{self.port}"


@dataclass(frozen=True, slots=True)
class Proxy:
    """A Toxiproxy between clients and brokers: ours to start, or one that is there."""

    start: str = ""  # EMBEDDED, or the program to be run
    at: str = ""  # host:port of the API of one that is there
    listen: str = ""  # there: the address that its listeners are made at


@dataclass(frozen=True, slots=True)
class Tls:
    """Who is trusted to be a broker, and who mqproof is to brokers. Paths are the file's."""

    ca: str  # SYSTEM_CA, or a file with certificates of authorities
    certificate: str = ""  # of the client; "": it shows none
    key: str = ""  # "": in the same file


class Own(Protocol):
    """The family's own part of a topology file: a frozen value, which only the family reads.

    What is not declared is None, or an empty word: unknown, never assumed.
    """

    @property
    def sets(self) -> bool:
        """Return whether mqproof changes broker settings, and restores them afterwards."""

    @property
    def summary(self) -> str:
        """Describe to people what happens to those settings."""

    @property
    def without_api(self) -> tuple[str, ...]:
        """Return the hosts that cannot be asked for their own view of the cluster."""


@dataclass(frozen=True, slots=True)
class Topology:
    """Everything that a topology file says."""

    name: str  # of the file
    title: str
    system: str
    detection_timeout_s: float
    brokers: tuple[BrokerNode, ...]
    user: str  # the names of environment variables; "": brokers ask for no login
    password: str
    proxy: Proxy | None
    own: Own
    source: str  # the TOML text
    tls: Tls | None = None  # None: clients connect without it
    virtual_host: str = ROOT  # of families that have virtual hosts
    balancer: BrokerNode | None = None  # the one address that clients know; None: they know all
    name_servers: tuple[BrokerNode, ...] = ()  # of families that have them: they hold no queue

    def place(self, key: str) -> str:
        """Return where a key of the file is, for the place of a problem."""
        return f"{self.name}.toml, {key}"

    @property
    def client_capabilities(self) -> tuple[str, ...]:
        """Return what every client must be able to do here, whatever the workload."""
        wanted = {"tls": self.tls is not None, "virtual host": self.virtual_host != ROOT}
        return tuple(capability for capability, needed in wanted.items() if needed)

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(name for name in (self.user, self.password) if name)

    @property
    def nodes(self) -> tuple[BrokerNode, ...]:
        """Return everything that answers clients at an address of the file."""
        return (*self.brokers, *self.name_servers)

    @property
    def commands(self) -> HostCommands:
        return {
            (broker.host, kind): command
            for broker in self.nodes
            for kind, command in broker.commands.items()
        }

    @property
    def entrances(self) -> tuple[BrokerNode, ...]:
        """Return where clients enter."""
        return (self.balancer,) if self.balancer is not None else self.nodes

    def node(self, host: str) -> BrokerNode:
        return next(node for node in self.nodes if node.host == host)

    def forbids(self, kind: Kind, host: str) -> str:
        """Return why a fault of that kind is not allowed on the host; "" if it is.

        For kinds that no topology can allow, faults.kinds has the reason.
        """
        if kind.verify_commanded is not None and kind.name not in self.node(host).commands:
            return f"no command for {kind} of {host}"
        if kind.applies_to == CLIENT_LINK and self.balancer is not None:
            return f"a {kind} means clients' links to a host, and theirs lead to a balancer"
        if kind.applies_to == CLIENT_LINK and self.proxy is None:
            return f"no proxy for {kind}"
        if kind.applies_to == CLIENT_LINK and self.node(host) in self.name_servers:
            return f"to verify a {kind}, mqproof would leave values in the name server {host}"
        if kind.silences_peers and not self.node(host).reached:
            return f"{host} has no address of its own in the file: its silence cannot be seen"
        if Sight.PEER_LINKS in kind.hides and self.own.without_api:
            return (
                f"each side of a {kind} must report its leader, and the file names no API of "
                f"{', '.join(self.own.without_api)}"
            )
        if kind.counts_bytes and self.tls is not None:
            return f"{kind} is verified by counting bytes, and TLS adds bytes of its own"
        return ""

    def allowed(self, kinds: Iterable[Kind]) -> str:
        """Return which of these kinds are allowed, with their hosts if not on all."""
        parts = []
        for kind in kinds:
            hosts = [one.host for one in self.nodes if not self.forbids(kind, one.host)]
            if len(hosts) == len(self.nodes):
                parts.append(kind.name)
            elif hosts == [one.host for one in self.brokers]:
                parts.append(f"{kind} of brokers")
            elif hosts:
                parts.append(f"{kind} of {' and '.join(hosts)}")
        return ", ".join(parts) or "nothing"


def bracketed(address: str) -> str:
    """As it stands before a port: an IPv6 address in brackets."""
    return f"[{address}]" if ":" in address else address


def unbracketed(address: str) -> str:
    """As it is dialled."""
    return address.removeprefix("[").removesuffix("]")
