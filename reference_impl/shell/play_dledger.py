"""A DLedger group of brokers and two name servers on 127.0.0.1 to play with.

Ports are those of play_rocketmq.py. A member's port for elections is five above its broker's.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from reference_impl.shell import sendable
from reference_impl.shell.play_rocketmq import (
    BROKER_OFFSET,
    BROKER_STEP,
    READY_LIMIT_S,
    play_files,
    settings_text,
)
from reference_impl.shell.playground import HOST

GROUP = "broker-a"
_VOTES_AFTER = 5


@dataclass(frozen=True, slots=True)
class PlayingGroup:
    """The options of a playground. `compression`: by how much timers are shorter than the real
    ones."""

    port: int
    members: int
    compression: float

    @property
    def broker_ports(self) -> list[int]:
        first = self.port + BROKER_OFFSET
        return [first + number * BROKER_STEP for number in range(self.members)]


def group_configurations(playing: PlayingGroup, folder: Path) -> dict[str, tuple[str, str]]:
    """By name: the word that starts it, and its configuration file."""
    shared = {"bindAddress": HOST, "compression": f"{playing.compression:g}"}
    ports = [playing.port, playing.port + 1]
    files = {
        f"name-server-{number}": ("name-server", settings_text({**shared, "listenPort": port}))
        for number, port in enumerate(ports, 1)
    }
    peers = ";".join(
        f"n{number}-{HOST}:{port + _VOTES_AFTER}"
        for number, port in enumerate(playing.broker_ports)
    )
    for number, port in enumerate(playing.broker_ports):
        own = {
            "brokerName": GROUP,
            "brokerIP1": HOST,
            "listenPort": port,
            "namesrvAddr": ";".join(f"{HOST}:{one}" for one in ports),
            "storePathRootDir": folder / f"{GROUP}-{number}",
            "enableDLegerCommitLog": "true",
            "dLegerGroup": GROUP,
            "dLegerPeers": peers,
            "dLegerSelfId": f"n{number}",
        }
        files[f"{GROUP}-{number}"] = ("broker", settings_text({**shared, **own}))
    return files


def play_group(playing: PlayingGroup) -> int:
    """Until Ctrl-C or SIGTERM, or until the last server has ended; the exit status."""
    name_servers, brokers = [playing.port, playing.port + 1], playing.broker_ports
    ports = [*name_servers, *brokers, *(port + _VOTES_AFTER for port in brokers)]
    return play_files(partial(group_configurations, playing), ports, lambda: _obstacle(playing))


def _obstacle(playing: PlayingGroup) -> str:
    name_servers = [(HOST, playing.port), (HOST, playing.port + 1)]
    brokers = [(HOST, port) for port in playing.broker_ports]
    return sendable.obstacle(name_servers, {GROUP: brokers}, READY_LIMIT_S)
