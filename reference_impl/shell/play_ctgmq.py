"""A group of CTGMQ and its name servers on 127.0.0.1 to play with.

Ports are those of play_rocketmq.py. A name server's port for elections is 100 above its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reference_impl.shell import sendable
from reference_impl.shell.play_rocketmq import (
    BROKER_OFFSET,
    BROKER_STEP,
    READY_LIMIT_S,
    SLAVES_AFTER,
    play_files,
    settings_text,
)
from reference_impl.shell.playground import HOST

GROUP = "broker-a"
_VOTES_AFTER = 100


@dataclass(frozen=True, slots=True)
class SwitchedGroup:
    """The options of a playground. `without`: rules that are switched off (ctgmq/rules.py)."""

    port: int
    name_servers: int = 3
    replicas: int = 2
    truncation: str = "epochs"
    without: Sequence[str] = ()
    compression: float = 1.0

    @property
    def name_server_ports(self) -> list[int]:
        return [self.port + number for number in range(self.name_servers)]

    @property
    def broker_ports(self) -> list[int]:
        first = self.port + BROKER_OFFSET
        return [first + number * BROKER_STEP for number in range(self.replicas)]


def switched_configurations(group: SwitchedGroup, folder: Path) -> dict[str, tuple[str, str]]:
    """By name: the word that starts it, and its configuration file."""
    shared = {"bindAddress": HOST, "compression": f"{group.compression:g}"}
    rules, ports, files = ",".join(group.without), group.name_server_ports, {}
    peers = ";".join(f"s{port}-{HOST}:{port + _VOTES_AFTER}" for port in ports)
    for number, port in enumerate(ports, 1):
        name = f"name-server-{number}"
        own = {
            "listenPort": port,
            "controlPeers": peers,
            "controlSelfId": f"s{port}",
            "controlWithout": rules,
            "storePathRootDir": folder / name,
        }
        files[name] = ("name-server", settings_text({**shared, **own}))
    for number, port in enumerate(group.broker_ports, 1):
        name = f"{GROUP}-{number}"
        own = {
            "brokerName": GROUP,
            "brokerId": number,
            "brokerIP1": HOST,
            "listenPort": port,
            "namesrvAddr": ";".join(f"{HOST}:{one}" for one in ports),
            "registerNameServerPeriod": 5_000,
            "storePathRootDir": folder / name,
            "enableCtgmq": "true",
            "replicaTruncation": group.truncation,
            "replicaWithout": rules,
        }
        files[name] = ("broker", settings_text({**shared, **own}))
    return files


def play_switched(group: SwitchedGroup) -> int:
    """Until Ctrl-C or SIGTERM, or until the last server has ended; the exit status."""
    name_servers, brokers = group.name_server_ports, group.broker_ports
    ports = [*name_servers, *brokers, *(port + SLAVES_AFTER for port in brokers)]
    ports += [port + _VOTES_AFTER for port in name_servers]
    configured = partial(switched_configurations, group)
    return play_files(configured, ports, lambda: _obstacle(group), len(name_servers))


def _obstacle(group: SwitchedGroup) -> str:
    name_servers = [(HOST, port) for port in group.name_server_ports]
    brokers = [(HOST, port) for port in group.broker_ports]
    return sendable.obstacle(name_servers, {GROUP: brokers}, READY_LIMIT_S)
