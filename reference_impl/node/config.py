"""A node's configuration: one JSON file, written by the operator of the cluster."""

from ipaddress import ip_address
from typing import Final, Literal, get_args

import msgspec

from reference_impl.misbehave.kinds import Misbehaviour
from reference_impl.node.wire import GREETING_OCTETS_MAX
from reference_impl.protocol.handshake import COOKIE_OCTETS_MIN, NAME_OCTETS_MAX

Handling = Literal["ignore", "pause_minority", "pause_if_all_down", "autoheal"]  # of partitions
HANDLINGS: tuple[Handling, ...] = get_args(Handling)
PAUSE_MINORITY: Final = "pause_minority"
PAUSE_IF_ALL_DOWN: Final = "pause_if_all_down"
AUTOHEAL: Final = "autoheal"


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Addresses, timers and switches of one node."""

    name: str
    bind: str  # the address that every listener binds
    data: str  # a folder of its own
    cookie: str  # the secret of the cluster's nodes; a node that knows it is one of them
    peers: dict[str, tuple[str, int]] = {}  # name -> where to dial it (a proxy may stand there)
    founders: tuple[str, ...] = ()  # with whom it begins where it has no tables; none: all of them
    amqp_port: int = 5672
    api_port: int = 15672
    peer_port: int = 25672
    peer_octets_max: int = 1 << 29  # of a packet: a message, or all that a mirror is behind
    net_ticktime_s: float = 60.0
    partition_handling: Handling = "ignore"
    preferred: tuple[str, ...] = ()  # pause_if_all_down: who sees none of these pauses
    recover: Literal["ignore", "autoheal"] = "ignore"  # pause_if_all_down: what the others do
    table_wait_s: float = 30.0  # mnesia_table_loading_retry_timeout
    table_tries: int = 10  # mnesia_table_loading_retry_limit
    memory_high_octets: int | None = None  # alarm above; 0: none; None: as RabbitMQ, 0.4 of all
    disk_low_octets: int = 0  # alarm below; 0: none
    log: str | None = None
    misbehave: Misbehaviour | None = None

    def __repr__(self) -> str:
        """Without the cookie: it is in no text that somebody may log."""
        return f"Config of {self.name}"


def parsed(octets: bytes) -> Config:
    """Raises ValueError with the place of a mistake."""
    config = msgspec.json.decode(octets, type=Config)
    if not _of_its_own(config.bind):
        raise ValueError(
            f"{config.bind!r} is neither on loopback nor an address of a private network - at "
            "`$.bind`"
        )
    if not 0 < len(config.name.encode()) <= NAME_OCTETS_MAX:
        raise ValueError(f"it must have 1 to {NAME_OCTETS_MAX} octets - at `$.name`")
    if len(config.cookie.encode()) < COOKIE_OCTETS_MIN:
        raise ValueError(f"it must have at least {COOKIE_OCTETS_MIN} octets - at `$.cookie`")
    if config.peer_octets_max < GREETING_OCTETS_MAX:
        raise ValueError(f"it must be at least {GREETING_OCTETS_MAX} - at `$.peer_octets_max`")
    _check_preferred(config)
    _check_founders(config)
    return config


def _check_preferred(config: Config) -> None:
    if (config.partition_handling == PAUSE_IF_ALL_DOWN) != bool(config.preferred):
        raise ValueError(f"{PAUSE_IF_ALL_DOWN} needs them, and nothing else - at `$.preferred`")
    nodes = {config.name, *config.peers}
    if unknown := sorted({*config.preferred} - nodes):
        known = ", ".join(sorted(nodes))
        raise ValueError(f"no node is named {unknown[0]!r}, but {known} - at `$.preferred`")


def _check_founders(config: Config) -> None:
    if config.founders and config.name not in config.founders:
        raise ValueError(f"{config.name} must be one of them - at `$.founders`")
    if unknown := sorted({*config.founders} - {config.name, *config.peers}):
        raise ValueError(f"no address to dial {unknown[0]!r} - at `$.founders`")


def _of_its_own(bind: str) -> bool:
    """Return whether only its own machine or network can dial it; a wildcard is of every one."""
    try:
        address = ip_address(bind)
    except ValueError:
        return False
    return address.is_private and not address.is_unspecified
