"""Messages of the management processes of nodes to each other and to connections."""

import msgspec

from reference_impl.pid import Pid


class Described(msgspec.Struct, frozen=True, array_like=True):
    """A client's connection. `name` is the broker's ("client:port -> server:port"),
    `user_provided_name` the client property `connection_name`, empty where there is none."""

    pid: Pid
    name: str
    user_provided_name: str


class ListConnections(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """To the API process of a node."""

    asker: Pid
    request: int


class Connections(msgspec.Struct, frozen=True, array_like=True, tag=True):
    request: int
    connections: tuple[Described, ...]


class CloseConnection(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """To a connection process: connection.close 320 with this reason to its client."""

    reason: str
